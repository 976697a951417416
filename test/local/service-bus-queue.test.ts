import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MessageQueue } from '../../infra/local/service-bus/queue.ts'
import type { QueueSettings, Settlement } from '../../infra/local/service-bus/queued-message.ts'
import { type ModelMessage, QueueModel, RecordingJournal } from '../support/local/service-bus-queue-model.ts'

const SETTINGS: QueueSettings = {
  name: 'jobs',
  lockDurationMs: 30,
  maxDeliveryCount: 3,
  timeToLiveMs: Number.POSITIVE_INFINITY,
  deadLettersExpired: false,
}
const DEAD: QueueSettings = { ...SETTINGS, name: 'dead', maxDeliveryCount: Number.POSITIVE_INFINITY }
const START_MS = 1_000

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send'),
      timeToLiveMs: fc.constantFrom(15, 50, Infinity),
      delayMs: fc.constantFrom(0, 0, 20, 60),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('lock', 'lock', 'take', 'restart') }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('complete', 'abandon', 'dead-letter', 'renew'),
      which: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), durationMs: fc.nat(40) }) },
) as fc.Arbitrary<Step>

type Step = { do: string; timeToLiveMs?: number; delayMs?: number; which?: number; durationMs?: number }

/** Applies each step to queue and model, and compares them. */
class Pair {
  readonly model: QueueModel
  readonly #settings: QueueSettings
  readonly #journal = new RecordingJournal()
  #queue: MessageQueue
  #dead: MessageQueue
  #nowMs = START_MS
  #sentCount = 0
  #tokens: { token: string; message: ModelMessage; endsAtMs: number }[] = []

  constructor(settings: QueueSettings) {
    this.#settings = settings
    this.model = new QueueModel(settings)
    this.#dead = new MessageQueue(DEAD, this.#journal)
    this.#queue = new MessageQueue(settings, this.#journal, this.#dead)
  }

  run(step: Step): void {
    this.model.advanceTo(this.#nowMs)
    if (step.do === 'send') this.#send(step.timeToLiveMs ?? Infinity, step.delayMs ?? 0)
    else if (step.do === 'lock') this.#lock()
    else if (step.do === 'take') this.#take()
    else if (step.do === 'restart') this.#restart()
    else if (step.do === 'wait') this.#nowMs += step.durationMs ?? 0
    else if (step.do === 'cancel') this.#cancel(step.which ?? 0)
    else this.#settle(step.do, step.which ?? 0)
    this.#compare()
  }

  #send(timeToLiveMs: number, delayMs: number): void {
    this.#sentCount += 1
    const [messageId, dueAtMs] = [`m${this.#sentCount}`, this.#nowMs + delayMs]
    this.#queue.send({ bytes: Buffer.alloc(0), messageId, timeToLiveMs, dueAtMs }, this.#nowMs)
    this.model.send(messageId, timeToLiveMs, dueAtMs, this.#nowMs)
  }

  #lock(): void {
    this.#noteLock(this.#queue.lock(this.#nowMs), this.model.firstReady())
  }

  #noteLock(message: ReturnType<MessageQueue['lock']>, expected: ModelMessage | undefined): void {
    assert.equal(message?.messageId, expected?.id)
    if (message?.lock === undefined || expected === undefined) return
    expected.lockedUntilMs = this.#nowMs + this.#settings.lockDurationMs
    assert.equal(message.lock.untilMs, expected.lockedUntilMs)
    this.#tokens.push({ token: message.lock.token, message: expected, endsAtMs: expected.lockedUntilMs })
  }

  #take(): void {
    const expected = this.model.firstReady()
    assert.equal(this.#queue.take(this.#nowMs)?.messageId, expected?.id)
    if (expected !== undefined) this.model.leave(expected)
  }

  #settle(action: string, which: number): void {
    if (this.#tokens.length === 0) return
    const position = which % this.#tokens.length
    const held = this.#tokens[position]
    if (held === undefined) return
    const isHeld = held.endsAtMs > this.#nowMs && held.message.lockedUntilMs === held.endsAtMs
    if (action === 'renew') {
      assert.equal(
        this.#queue.renew(held.token, this.#nowMs),
        isHeld ? this.#nowMs + SETTINGS.lockDurationMs : undefined,
      )
      if (!isHeld) return
      held.message.lockedUntilMs = this.#nowMs + SETTINGS.lockDurationMs
      held.endsAtMs = held.message.lockedUntilMs
      return
    }
    const settlement = { outcome: action as Settlement['outcome'], properties: {} }
    assert.equal(this.#queue.settle(held.token, settlement, this.#nowMs), isHeld)
    this.#tokens.splice(position, 1)
    if (isHeld) this.#settleModel(action, held.message)
  }

  #settleModel(action: string, message: ModelMessage): void {
    message.lockedUntilMs = undefined
    if (action === 'complete') this.model.leave(message)
    if (action === 'abandon') this.model.abandon(message)
    if (action === 'dead-letter') this.model.deadLetter(message)
  }

  #cancel(which: number): void {
    const wanted = this.model.messages[which % Math.max(this.model.messages.length, 1)]
    if (wanted === undefined) return
    const isScheduled = wanted.state === 'scheduled'
    assert.equal(this.#queue.cancelScheduled([wanted.number], this.#nowMs), isScheduled)
    if (isScheduled) this.model.leave(wanted)
  }

  #restart(): void {
    this.#queue.advanceTo(this.#nowMs)
    const [dead, queue] = [this.#journal.kept('dead', 0), this.#journal.kept('jobs', this.model.lastNumber)]
    this.#dead = new MessageQueue(DEAD, this.#journal)
    this.#queue = new MessageQueue(this.#settings, this.#journal, this.#dead)
    this.#dead.restore(dead, this.#nowMs)
    this.#queue.restore(queue, this.#nowMs)
    this.#tokens = []
    const held = this.model.messages.filter(({ lockedUntilMs }) => lockedUntilMs !== undefined)
    for (const message of held.sort((left, right) => left.number - right.number)) this.model.abandon(message)
  }

  #compare(): void {
    this.model.advanceTo(this.#nowMs)
    const view = [...this.#queue.peek(0, this.#nowMs)].map((message) => ({
      id: message.messageId,
      number: message.sequenceNumber,
      state: message.state,
      deliveries: message.deliveryCount,
      isLocked: message.lock !== undefined,
    }))
    const dead = [...this.#dead.peek(0, this.#nowMs)].map(({ messageId }) => messageId)
    assert.deepEqual(view, this.model.view())
    assert.deepEqual(dead, this.model.deadLetters)
    const everywhere = [...view.map(({ id }) => id), ...dead, ...this.model.gone]
    assert.deepEqual(everywhere.sort(), Array.from({ length: this.#sentCount }, (_, n) => `m${n + 1}`).sort())
    assert.ok((this.#queue.nextInstantMs() ?? Infinity) > this.#nowMs, 'something due was left undone')
  }
}

describe('a queue', () => {
  for (const deadLettersExpired of [false, true]) {
    it(`neither loses nor duplicates messages if expired messages are ${deadLettersExpired ? 'dead-lettered' : 'dropped'}`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
          const pair = new Pair({ ...SETTINGS, deadLettersExpired })
          for (const step of steps) pair.run(step)
        }),
        { numRuns: 400 },
      )
    })
  }

  it('advances the time of scheduled messages, locks, and lifetimes, and keeps their order', () => {
    const queue = new MessageQueue(SETTINGS, new RecordingJournal())
    const draft = { bytes: Buffer.alloc(0), timeToLiveMs: Number.POSITIVE_INFINITY, dueAtMs: undefined }
    queue.send({ ...draft, messageId: 'late', dueAtMs: 1_200 }, 1_000)
    queue.send({ ...draft, messageId: 'sooner', dueAtMs: 1_100 }, 1_000)
    queue.send({ ...draft, messageId: 'brief', timeToLiveMs: 50 }, 1_000)
    assert.deepEqual(queue.counts(1_000), { active: 1, scheduled: 2, locked: 0 })
    assert.equal(queue.nextInstantMs(), 1_050)
    queue.letPass(100)
    assert.deepEqual(queue.counts(1_000), { active: 1, scheduled: 1, locked: 0 })
    assert.equal(queue.lock(1_000)?.messageId, 'sooner')
    queue.letPass(100)
    assert.equal(queue.lock(1_000)?.deliveryCount, 1)
    assert.equal(queue.lock(1_000)?.messageId, 'late')
    assert.equal(queue.lock(1_000), undefined)
  })

  it('cancels all of several scheduled messages, and none when one of them does not exist', () => {
    const queue = new MessageQueue(SETTINGS, new RecordingJournal())
    const draft = { bytes: Buffer.alloc(0), timeToLiveMs: Number.POSITIVE_INFINITY, dueAtMs: 2_000 }
    for (const messageId of ['one', 'two', 'three']) queue.send({ ...draft, messageId }, 1_000)
    const [one = 0, two = 0, three = 0] = [...queue.peek(0, 1_000)].map(({ sequenceNumber }) => sequenceNumber)
    assert.equal(queue.cancelScheduled([one, three + 1], 1_000), false)
    assert.equal(queue.counts(1_000).scheduled, 3)
    assert.equal(queue.cancelScheduled([one, two], 1_000), true)
    assert.equal(queue.counts(1_000).scheduled, 1)
  })

  it('delivers messages with the same due time in the order of scheduling', () => {
    const queue = new MessageQueue(SETTINGS, new RecordingJournal())
    const ids = Array.from({ length: 50 }, (_, n) => `m${n}`)
    const draft = { bytes: Buffer.alloc(0), timeToLiveMs: Number.POSITIVE_INFINITY, dueAtMs: 2_000 }
    for (const messageId of ids) queue.send({ ...draft, messageId }, 1_000)
    assert.deepEqual(
      ids.map(() => queue.take(2_000)?.messageId),
      ids,
    )
  })
})
