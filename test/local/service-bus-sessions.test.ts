import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceBusClient, type ServiceBusReceiver } from '@azure/service-bus'
import fc from 'fast-check'
import { MessageQueue } from '../../infra/local/service-bus/queue.ts'
import type { QueueSettings } from '../../infra/local/service-bus/queued-message.ts'
import type { SessionLock } from '../../infra/local/service-bus/session-locks.ts'
import { type BusTest, withBus } from './service-bus-fixture.ts'
import { RecordingJournal } from './service-bus-queue-model.ts'

const QUEUES = [
  { name: 'sessions', lockDurationS: 60, maxDeliveryCount: 10, requiresSession: true },
  { name: 'jobs', lockDurationS: 60, maxDeliveryCount: 10 },
]
const ONE_TRY = { retryOptions: { maxRetries: 0, timeoutInMs: 2_000 } }
const NO_RENEWAL = { maxAutoLockRenewalDurationInMs: 0 }

const onBus = (test: BusTest) => withBus({ queues: QUEUES }, ONE_TRY, test)

async function takeAll(receiver: ServiceBusReceiver, count: number): Promise<unknown[]> {
  const bodies: unknown[] = []
  while (bodies.length < count) {
    const messages = await receiver.receiveMessages(count, { maxWaitTimeInMs: 2_000 })
    if (messages.length === 0) break
    for (const message of messages) await receiver.completeMessage(message)
    bodies.push(...messages.map(({ body }) => body))
  }
  return bodies
}

describe('A queue of the local broker with sessions', () => {
  it('refuses messages without a session and receivers without one, and other queues refuse sessions', async () => {
    await onBus(async (bus, client) => {
      await assert.rejects(client.createSender('sessions').sendMessages({ body: 1 }), /needs a session id/)
      await assert.rejects(client.createReceiver('sessions').receiveMessages(1), /session by session/)
      await assert.rejects(client.acceptNextSession('jobs'), /has no sessions/)
      assert.equal(bus.counts('sessions').active, 0)
    })
  })

  it('gives a session to one receiver at a time, with its messages in order', async () => {
    await onBus(async (_, client) => {
      const [a, b] = ['a', 'b']
      await client.createSender('sessions').sendMessages([
        { body: 'a1', sessionId: a },
        { body: 'b1', sessionId: b },
        { body: 'a2', sessionId: a },
      ])
      const first = await client.acceptNextSession('sessions')
      const second = await client.acceptNextSession('sessions')
      assert.deepEqual([first.sessionId, second.sessionId], [a, b])
      assert.deepEqual(await takeAll(first, 2), ['a1', 'a2'])
      await assert.rejects(client.acceptSession('sessions', a), { code: 'SessionCannotBeLocked' })
      await first.close()
      assert.equal((await client.acceptSession('sessions', a)).sessionId, a)
    })
  })

  it('lets receivers wait for a session until their time is over', async () => {
    await onBus(async (_, client) => {
      const waiting = Promise.all([client.acceptNextSession('sessions'), client.acceptNextSession('sessions')])
      const sender = client.createSender('sessions')
      await sender.sendMessages({ body: 1, sessionId: 'a' })
      await sender.sendMessages({ body: 2, sessionId: 'b' })
      assert.deepEqual((await waiting).map(({ sessionId }) => sessionId).sort(), ['a', 'b'])
      await assert.rejects(client.acceptNextSession('sessions'), { code: 'ServiceTimeout' })
    })
  })

  it('forgets a waiting receiver whose connection is lost', async () => {
    await onBus(async (bus, client) => {
      const lost = new ServiceBusClient(bus.connectionString, ONE_TRY)
      const waiting = assert.rejects(lost.acceptNextSession('sessions'))
      await sleep(500)
      bus.faults.dropConnections()
      await waiting
      await lost.close()
      await client.createSender('sessions').sendMessages({ body: 1, sessionId: 'a' })
      assert.equal((await client.acceptNextSession('sessions')).sessionId, 'a')
    })
  })

  it('keeps the session of a lost connection locked until the lock expires, then delivers its messages again', async () => {
    await onBus(async (bus, client) => {
      await client.createSender('sessions').sendMessages({ body: 1, sessionId: 'a' })
      const lost = new ServiceBusClient(bus.connectionString, ONE_TRY)
      const receiver = await lost.acceptNextSession('sessions', NO_RENEWAL)
      await receiver.receiveMessages(1)
      bus.faults.dropConnections()
      const other = new ServiceBusClient(bus.connectionString, ONE_TRY)
      await assert.rejects(other.acceptSession('sessions', 'a'), { code: 'SessionCannotBeLocked' })
      bus.advance(60_000)
      const [message] = await (await other.acceptNextSession('sessions')).receiveMessages(1)
      assert.deepEqual([message?.body, message?.deliveryCount], [1, 1])
      await Promise.all([lost.close(), other.close()])
    })
  })

  it('closes the receiver of an expired session, and refuses its settlements', async () => {
    await onBus(async (bus, client) => {
      await client.createSender('sessions').sendMessages({ body: 1, sessionId: 'a' })
      const receiver = await client.acceptNextSession('sessions', NO_RENEWAL)
      const [message] = await receiver.receiveMessages(1)
      assert.ok(message)
      bus.advance(59_000)
      await receiver.renewSessionLock()
      bus.advance(59_000)
      assert.equal(bus.counts('sessions').locked, 1)
      bus.advance(1_000)
      assert.equal(bus.counts('sessions').active, 1)
      while (!receiver.isClosed) await sleep(10)
      await assert.rejects(receiver.completeMessage(message), { code: 'SessionLockLost' })
      await assert.rejects(receiver.renewSessionLock(), { code: 'SessionLockLost' })
    })
  })

  it('dead-letters a message of any session into one queue without sessions', async () => {
    await onBus(async (_, client) => {
      await client.createSender('sessions').sendMessages({ body: 1, sessionId: 'a' })
      const receiver = await client.acceptNextSession('sessions')
      const [message] = await receiver.receiveMessages(1)
      assert.ok(message)
      await receiver.deadLetterMessage(message)
      const [dead] = await client.createReceiver('sessions', { subQueueType: 'deadLetter' }).receiveMessages(1)
      assert.deepEqual([dead?.body, dead?.sessionId], [1, 'a'])
    })
  })
})

const SETTINGS: QueueSettings = {
  name: 'sessions',
  lockDurationMs: 30,
  maxDeliveryCount: 1_000,
  timeToLiveMs: Number.POSITIVE_INFINITY,
  deadLettersExpired: false,
  duplicateWindowMs: 0,
  requiresSession: true,
}

const session = fc.constantFrom('a', 'b', 'c')
const step = fc.oneof(
  fc.record({ do: fc.constant('send' as const), session, delayMs: fc.constantFrom(0, 0, 0, 25) }),
  fc.record({ do: fc.constant('accept' as const), session: fc.option(session, { nil: undefined }) }),
  fc.record({
    do: fc.constantFrom(
      'receive' as const,
      'complete' as const,
      'abandon' as const,
      'renew' as const,
      'release' as const,
    ),
    which: fc.nat(),
  }),
  fc.record({ do: fc.constant('wait' as const), durationMs: fc.nat(40) }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

/** Receivers that check what the queue promises them. */
class Receivers {
  readonly #queue = new MessageQueue(SETTINGS, new RecordingJournal())
  #nowMs = 1_000
  #sentCount = 0
  #completed: string[] = []
  #holders: { readonly lock: SessionLock; untilMs: number; received: { token: string; id: string }[] }[] = []

  run(one: Step): void {
    if (one.do === 'send') this.#send(one.session, one.delayMs)
    else if (one.do === 'accept') this.#accept(one.session)
    else if (one.do === 'wait') this.#nowMs += one.durationMs
    else this.#act(one.do, one.which)
    this.#holders = this.#holders.filter(({ untilMs }) => untilMs > this.#nowMs)
    this.#check()
  }

  #send(sessionId: string, delayMs: number): void {
    this.#sentCount += 1
    const draft = { bytes: Buffer.alloc(0), messageId: `m${this.#sentCount}`, sessionId, timeToLiveMs: Infinity }
    this.#queue.send({ ...draft, dueAtMs: this.#nowMs + delayMs }, this.#nowMs)
  }

  #accept(wanted: string | undefined): void {
    const held = new Set(this.#holders.map(({ lock }) => lock.sessionId))
    const ready = this.#messages().filter(({ state, lock }) => state === 'active' && lock === undefined)
    const next = ready.find(({ sessionId }) => !held.has(sessionId as string))?.sessionId
    const expected = wanted === undefined ? next : held.has(wanted) ? undefined : wanted
    const lock = this.#queue.acceptSession(wanted, this.#nowMs)
    assert.equal(lock?.sessionId, expected)
    if (lock !== undefined) this.#holders.push({ lock, untilMs: this.#nowMs + SETTINGS.lockDurationMs, received: [] })
  }

  #act(action: 'receive' | 'complete' | 'abandon' | 'renew' | 'release', which: number): void {
    const holder = this.#holders[which % Math.max(this.#holders.length, 1)]
    if (holder === undefined) return
    const { lock } = holder
    if (action === 'renew') {
      holder.untilMs = this.#nowMs + SETTINGS.lockDurationMs
      assert.equal(this.#queue.renewSession(lock.sessionId, this.#nowMs), holder.untilMs)
    } else if (action === 'release') {
      this.#queue.releaseSession(lock, this.#nowMs)
      this.#holders = this.#holders.filter((other) => other !== holder)
    } else if (action === 'receive') {
      const [first] = this.#messages().filter(
        ({ sessionId, state, lock: held }) => sessionId === lock.sessionId && state === 'active' && held === undefined,
      )
      const message = this.#queue.lock(this.#nowMs, lock)
      assert.equal(message?.messageId, first?.messageId)
      assert.equal(message?.lock?.untilMs, message && holder.untilMs)
      if (message?.lock) holder.received.push({ token: message.lock.token, id: message.messageId })
    } else {
      const received = holder.received.shift()
      if (received === undefined) return
      assert.ok(this.#queue.settle(received.token, { outcome: action, properties: {} }, this.#nowMs))
      if (action === 'complete') this.#completed.push(received.id)
    }
  }

  #messages() {
    return [...this.#queue.peek(0, this.#nowMs)].sort((left, right) => left.sequenceNumber - right.sequenceNumber)
  }

  #check(): void {
    const messages = this.#messages()
    const locked = messages.filter(({ lock }) => lock !== undefined).map(({ messageId }) => messageId)
    const received = this.#holders.flatMap((holder) => holder.received.map(({ id }) => id))
    assert.deepEqual(locked.sort(), received.sort(), 'a message is locked exactly while its session is held')
    for (const { lock } of this.#holders) assert.ok(this.#queue.holdsSession(lock, this.#nowMs))
    const everywhere = [...messages.map(({ messageId }) => messageId), ...this.#completed]
    assert.deepEqual(everywhere.sort(), Array.from({ length: this.#sentCount }, (_, n) => `m${n + 1}`).sort())
    assert.ok(this.#queue.nextInstantMs() > this.#nowMs, 'something due was left undone')
  }
}

describe('Sessions', () => {
  it('are held by one receiver, keep their order and lose nothing, whatever expires or is released', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const receivers = new Receivers()
        for (const one of steps) receivers.run(one)
      }),
      { numRuns: 400 },
    )
  })
})
