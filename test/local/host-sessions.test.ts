import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceBusClient } from '@azure/service-bus'
import type { ServiceBusFunction } from '../../infra/local/host/app-functions.ts'
import { openServiceBus } from '../../infra/local/host/bus-client.ts'
import { type Pump, startPump } from '../../infra/local/host/service-bus-pump.ts'
import { type LocalServiceBus, startServiceBus } from '../../infra/local/service-bus/broker.ts'

const QUEUE = { name: 'sessions', lockDurationS: 3, maxDeliveryCount: 10, requiresSession: true }

type Handled = { readonly host: string; readonly sessionId: string; readonly body: string }

/** Hosts that receive from one queue. What they handle takes `handlingMs`. */
class Hosts {
  readonly handled: Handled[] = []
  readonly problems: string[] = []
  runningCount = 0
  highestRunningCount = 0
  handlingMs = 10
  idleMs = 300
  renewedForMs = 60_000
  /** Called before a message is handled. */
  onMessage: (body: string) => void = () => undefined
  readonly #pumps: Pump[] = []
  readonly bus: LocalServiceBus
  readonly #client: ServiceBusClient

  constructor(bus: LocalServiceBus) {
    this.bus = bus
    this.#client = new ServiceBusClient(bus.connectionString)
  }

  async start(host: string, { maxConcurrentSessions = 8, maxConcurrentCallsPerSession = 1 } = {}): Promise<Pump> {
    const connection = { connectionString: this.bus.connectionString }
    const registered = { name: host, triggerName: 'message', queueName: QUEUE.name, connectionName: 'bus', connection }
    const pump = await startPump({
      functions: [{ ...registered, takesSessions: true } as ServiceBusFunction],
      serviceBus: {
        maxConcurrentCalls: 1,
        maxConcurrentSessions,
        maxConcurrentCallsPerSession,
        sessionIdleTimeoutMs: this.idleMs,
        maxAutoLockRenewalDurationMs: this.renewedForMs,
        autoCompleteMessages: true,
      },
      openBus: openServiceBus,
      invoke: async (_, { inputData, triggerMetadata }) => {
        const body = String(inputData?.[0]?.data?.string)
        this.onMessage(body)
        this.runningCount += 1
        this.highestRunningCount = Math.max(this.highestRunningCount, this.runningCount)
        await sleep(this.handlingMs)
        this.runningCount -= 1
        this.handled.push({ host, sessionId: String(triggerMetadata?.SessionId?.string), body })
        return {}
      },
      log: ({ message }) => void this.problems.push(message),
    })
    this.#pumps.push(pump)
    return pump
  }

  async send(sessionId: string, ...bodies: string[]): Promise<void> {
    await this.#client
      .createSender(QUEUE.name)
      .sendMessages(bodies.map((body) => ({ body: Buffer.from(body), sessionId })))
  }

  async allHandled(): Promise<void> {
    for (;;) {
      const { active, locked, scheduled } = this.bus.counts(QUEUE.name)
      if (active + locked + scheduled === 0) return
      await sleep(20)
    }
  }

  hostsOf(session: string): string[] {
    const of = this.handled.filter(({ sessionId }) => sessionId === session).map(({ host }) => host)
    return [...new Set(of)]
  }

  async close(): Promise<void> {
    await Promise.all(this.#pumps.map((pump) => pump.close()))
    await this.#client.close()
    await this.bus.close()
  }
}

async function withHosts(test: (hosts: Hosts) => Promise<void>): Promise<void> {
  const hosts = new Hosts(await startServiceBus({ port: 0, file: ':memory:', queues: [QUEUE] }))
  try {
    await test(hosts)
  } finally {
    await hosts.close()
  }
}

describe('A function with sessions', () => {
  it('receives the messages of a tenant in one of three hosts as long as they come', async () => {
    await withHosts(async (hosts) => {
      hosts.idleMs = 3000
      await Promise.all(['one', 'two', 'three'].map((host) => hosts.start(host)))
      const tenants = ['a', 'b', 'c']
      for (let n = 0; n < 10; n += 1) {
        for (const tenant of tenants) await hosts.send(tenant, `${tenant}${n}`)
        await sleep(100)
      }
      await hosts.allHandled()
      assert.deepEqual(
        tenants.map((tenant) => hosts.hostsOf(tenant).length),
        [1, 1, 1],
      )
      const bodiesOfA = hosts.handled.filter(({ sessionId }) => sessionId === 'a').map(({ body }) => body)
      assert.deepEqual(
        bodiesOfA,
        Array.from({ length: 10 }, (_, n) => `a${n}`),
      )
      assert.deepEqual(hosts.problems, [])
    })
  })

  it('receives more sessions than it may hold, each after another one was idle', async () => {
    await withHosts(async (hosts) => {
      await hosts.start('one', { maxConcurrentSessions: 2 })
      const tenants = ['a', 'b', 'c', 'd', 'e']
      for (const tenant of tenants) await hosts.send(tenant, 'first', 'second')
      await hosts.allHandled()
      assert.deepEqual(
        tenants.map((tenant) => hosts.hostsOf(tenant)),
        tenants.map(() => ['one']),
      )
      assert.equal(hosts.highestRunningCount, 2)
      assert.deepEqual(hosts.problems, [])
    })
  })

  it('handles several messages of a session at a time, so that they can share an evaluation', async () => {
    await withHosts(async (hosts) => {
      hosts.handlingMs = 200
      await hosts.start('one', { maxConcurrentCallsPerSession: 4 })
      await hosts.send('a', '1', '2', '3', '4', '5', '6')
      await hosts.allHandled()
      assert.equal(hosts.highestRunningCount, 4)
    })
  })

  it('keeps its session while a message takes longer than the lock', async () => {
    await withHosts(async (hosts) => {
      hosts.handlingMs = 1.5 * QUEUE.lockDurationS * 1000
      await Promise.all(['one', 'two'].map((host) => hosts.start(host)))
      await hosts.send('a', 'long')
      await hosts.allHandled()
      assert.deepEqual(
        hosts.handled.map(({ body }) => body),
        ['long'],
      )
      assert.deepEqual(hosts.problems, [])
    })
  })

  it('loses its session, whose messages come again, after the longest time for which its lock is renewed', async () => {
    await withHosts(async (hosts) => {
      hosts.handlingMs = 1.5 * QUEUE.lockDurationS * 1000
      hosts.renewedForMs = 1
      await hosts.start('one')
      await hosts.send('a', 'long')
      while (hosts.problems.length === 0) await sleep(20)
      assert.equal(hosts.problems[0], 'Session a was lost')
      while (hosts.bus.counts(QUEUE.name).locked === 0) await sleep(20)
      assert.equal(hosts.handled.length, 0)
    })
  })

  it('receives a message again whose handling has failed', async () => {
    await withHosts(async (hosts) => {
      let failures = 0
      hosts.onMessage = () => {
        failures += 1
        if (failures <= 2) throw new Error('not yet')
      }
      await hosts.start('one')
      await hosts.send('a', '1')
      await hosts.allHandled()
      assert.deepEqual([hosts.handled.length, failures], [1, 3])
    })
  })

  it('gives its sessions to another host when it stops, and finishes what it has begun', async () => {
    await withHosts(async (hosts) => {
      hosts.handlingMs = 200
      const first = await hosts.start('one')
      await hosts.send('a', '1', '2')
      while (hosts.runningCount === 0) await sleep(10)
      await first.close()
      assert.deepEqual(
        hosts.handled.map(({ body }) => body),
        ['1'],
      )
      await hosts.start('two')
      await hosts.allHandled()
      assert.deepEqual(hosts.hostsOf('a'), ['one', 'two'])
      assert.deepEqual(hosts.problems, [])
    })
  })

  it('leaves the messages that come while it stops to another host', async () => {
    await withHosts(async (hosts) => {
      hosts.handlingMs = 500
      const first = await hosts.start('one', { maxConcurrentCallsPerSession: 2 })
      await hosts.send('a', '1')
      while (hosts.runningCount === 0) await sleep(10)
      const stopped = first.close()
      await hosts.send('a', '2', '3')
      await stopped
      assert.deepEqual(hosts.bus.counts(QUEUE.name), { active: 2, scheduled: 0, deadLettered: 0, locked: 0 })
      assert.deepEqual(hosts.problems, [])
      await hosts.start('two')
      await hosts.allHandled()
      assert.equal(hosts.handled.length, 3)
    })
  })

  it('goes on after its connection was lost, once the lock of its session has expired', async () => {
    await withHosts(async (hosts) => {
      await hosts.start('one')
      await hosts.send('a', '1')
      await hosts.allHandled()
      hosts.bus.faults.dropConnections()
      await sleep(100)
      await hosts.send('a', '2')
      await hosts.allHandled()
      assert.deepEqual(
        hosts.handled.map(({ body }) => body),
        ['1', '2'],
      )
    })
  })
})
