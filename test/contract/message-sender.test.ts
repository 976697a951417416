import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServiceBus } from '../../infra/local/service-bus/broker.ts'
import { messageSender, openBus } from '../../shared/messaging/message-sender.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { failureCountOf } from '../../shared/messaging/redelivery.ts'

const EVALUATION = { queue: 'evaluations', message: { tenantId: 'dddddddd-0000-4000-8000-000000000001' } } as const

async function openSender() {
  const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
  const messageQueue = messageSender(bus, Date.now)
  await messageQueue.enqueue(EVALUATION, { id: 'first' })
  return { bus, messageQueue }
}

/** Seconds, rounded up, that something takes to end, either way. */
async function secondsOf(
  work: Promise<void>,
): Promise<{ outcome: PromiseSettledResult<void>['status']; took: number }> {
  const startMs = performance.now()
  const [{ status }] = await Promise.allSettled([work])
  return { outcome: status, took: Math.ceil((performance.now() - startMs) / 1000) }
}

describe('A message', { concurrency: true }, () => {
  it('is sent over a new connection when the old one has closed, within nine seconds', async () => {
    const { bus, messageQueue } = await openSender()
    bus.faults.dropConnections()
    const { outcome, took } = await secondsOf(messageQueue.enqueue(EVALUATION, { id: 'second' }))
    assert.equal(outcome, 'fulfilled')
    assert.ok(took <= 9, `took ${took} s`)
    assert.equal(bus.counts('evaluations').active, 2)
    await bus.close()
  })

  it('is delivered after its delay, a short one as well', async (test) => {
    const { bus, messageQueue } = await openSender()
    test.after(() => bus.close())
    await messageQueue.enqueue(EVALUATION, { id: 'second', delayMs: 15_000 })
    const { active, scheduled } = bus.counts('evaluations')
    assert.deepEqual([active, scheduled], [1, 1])
  })

  it('tells its receiver how often its handling has failed', async (test) => {
    const { bus, messageQueue } = await openSender()
    const client = await openBus(bus)
    test.after(async () => {
      await client.close()
      await bus.close()
    })
    await messageQueue.enqueue(EVALUATION, { id: 'first:again:3', failureCount: 3 })
    const received = await client.createReceiver('evaluations').peekMessages(2)
    const failures = received.map((message) => [message.messageId, failureCountOf(message.applicationProperties)])
    assert.deepEqual(failures, [
      ['first', 0],
      ['first:again:3', 3],
    ])
  })

  it('fails within half a minute when the queue is unavailable', async () => {
    const { bus, messageQueue } = await openSender()
    await bus.close()
    const { outcome, took } = await secondsOf(messageQueue.enqueue(EVALUATION, { id: 'second' }))
    assert.equal(outcome, 'rejected')
    assert.ok(took <= 25, `took ${took} s`)
  })
})
