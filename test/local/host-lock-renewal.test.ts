import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceBusClient } from '@azure/service-bus'
import type { ServiceBusFunction } from '../../infra/local/host/app-functions.ts'
import { whileLocked } from '../../infra/local/host/lock-renewal.ts'
import { openServiceBus, startPump } from '../../infra/local/host/service-bus-pump.ts'
import { startServiceBus } from '../../infra/local/service-bus/broker.ts'

const LOCK_MS = 60_000

describe('The lock of a message that is processed', () => {
  let renewedAtMs: number[] = []
  let failures: unknown[] = []
  let failsWith: Error | undefined
  let renewedLockMs = LOCK_MS

  beforeEach(() => {
    ;[renewedAtMs, failures, failsWith, renewedLockMs] = [[], [], undefined, LOCK_MS]
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 })
  })
  afterEach(() => mock.timers.reset())

  function processing(
    renewedForMs: number,
    message: { lockedUntilUtc?: Date } = { lockedUntilUtc: new Date(LOCK_MS) },
  ) {
    const work = Promise.withResolvers<string>()
    const renewal = {
      async renew() {
        renewedAtMs.push(Date.now())
        if (failsWith !== undefined) throw failsWith
        return new Date(Date.now() + renewedLockMs)
      },
      onFailure: (error: unknown) => void failures.push(error),
      renewedForMs,
    }
    return { ...work, done: whileLocked(message, renewal, () => work.promise) }
  }

  /** Time passes second by second, so that a renewal can schedule the next one. */
  async function pass(seconds: number) {
    for (let count = 0; count < seconds; count += 1) {
      mock.timers.tick(1000)
      await Promise.resolve().then(() => undefined)
      await Promise.resolve()
    }
  }

  it('is renewed ten seconds before its end, again and again, until the work ends', async () => {
    const { resolve, done } = processing(600_000)
    await pass(120)
    resolve('result')
    assert.equal(await done, 'result')
    await pass(120)
    assert.deepEqual(renewedAtMs, [50_000, 100_000])
  })

  it('is renewed at half of a short time', async () => {
    const { resolve, done } = processing(600_000, { lockedUntilUtc: new Date(8_000) })
    await pass(10)
    resolve('result')
    await done
    assert.deepEqual(renewedAtMs, [4_000])
  })

  it('is renewed each second while it has ended by the clock of the host', async () => {
    renewedLockMs = -LOCK_MS
    const { resolve, done } = processing(600_000, { lockedUntilUtc: new Date(-LOCK_MS) })
    await pass(3)
    resolve('result')
    await done
    assert.deepEqual(renewedAtMs, [1000, 2000, 3000])
  })

  it('is not renewed beyond the longest time', async () => {
    const { resolve, done } = processing(100_000)
    await pass(300)
    resolve('result')
    await done
    assert.deepEqual(renewedAtMs, [50_000])
  })

  it('is not renewed after a failure, which is reported', async () => {
    failsWith = new Error('The lock is lost')
    const { resolve, done } = processing(600_000)
    await pass(200)
    resolve('result')
    await done
    assert.deepEqual([renewedAtMs, failures], [[50_000], [failsWith]])
  })

  it('is not renewed once the work has failed, nor without a lock', async () => {
    const failed = processing(600_000)
    failed.reject(new Error('The work failed'))
    await assert.rejects(failed.done, { message: 'The work failed' })
    const unlocked = processing(600_000, {})
    await pass(100)
    unlocked.resolve('result')
    await unlocked.done
    assert.deepEqual(renewedAtMs, [])
  })
})

describe('The locks of the service', () => {
  it('are renewed for as long as a function may run', () => {
    const { functionTimeout, extensions } = JSON.parse(readFileSync('host.json', 'utf8'))
    const secondsOf = (text: string) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
    assert.ok(secondsOf(extensions.serviceBus.maxAutoLockRenewalDuration) >= secondsOf(functionTimeout))
  })
})

describe('A message whose function takes longer than the lock', () => {
  it('is delivered once', async () => {
    // Renewed at half of the time: a busy machine can be late by as much.
    const queues = [{ name: 'jobs', lockDurationS: 3, maxDeliveryCount: 10 }]
    const bus = await startServiceBus({ port: 0, file: ':memory:', queues })
    const client = new ServiceBusClient(bus.connectionString)
    let deliveryCount = 0
    const pump = await startPump({
      functions: [
        {
          name: 'run',
          triggerName: 'message',
          queueName: 'jobs',
          connectionString: bus.connectionString,
        } as ServiceBusFunction,
      ],
      serviceBus: { maxConcurrentCalls: 4, maxAutoLockRenewalDurationMs: 60_000 },
      openBus: openServiceBus,
      async invoke() {
        deliveryCount += 1
        await sleep(4000)
        return {}
      },
      log: () => undefined,
    })
    try {
      await client.createSender('jobs').sendMessages({ body: Buffer.from('{}') })
      while (bus.counts('jobs').active + bus.counts('jobs').locked > 0) await sleep(50)
      assert.equal(deliveryCount, 1)
    } finally {
      await pump.close()
      await client.close()
      await bus.close()
    }
  })
})
