import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServiceBus } from '../../infra/local/service-bus/broker.ts'
import { UNTRACED } from '../../shared/domain/activity.ts'
import { messageSender, openBus } from '../../shared/messaging/message-sender.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { sessionTokensOf } from '../../shared/messaging/session-properties.ts'
import { trackedActivities } from '../../shared/runtime/activities.ts'

const EVALUATION = { queue: 'evaluations', message: { tenantId: 'dddddddd-0000-4000-8000-000000000001' } } as const

async function openSender() {
  const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
  const doorbells = messageSender(bus, trackedActivities(UNTRACED, Date.now), Date.now)
  await doorbells.ring(EVALUATION, { id: 'first' })
  return { bus, doorbells }
}

/** Seconds, rounded up, that something takes to end, either way. */
async function secondsOf(
  work: Promise<void>,
): Promise<{ outcome: PromiseSettledResult<void>['status']; took: number }> {
  const startMs = performance.now()
  const [{ status }] = await Promise.allSettled([work])
  return { outcome: status, took: Math.ceil((performance.now() - startMs) / 1000) }
}

describe('A doorbell', { concurrency: true }, () => {
  it('carries what its sender has seen of the database', async () => {
    const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
    const seen = { links: '0:-1#5', jobs: '0:-1#7,1:-1#3' }
    const doorbells = messageSender(bus, trackedActivities(UNTRACED, Date.now), Date.now, () => seen)
    await doorbells.ring(EVALUATION, { id: 'one' })
    const client = await openBus(bus)
    const [message] = await client.createReceiver('evaluations').receiveMessages(1)
    assert.deepEqual(sessionTokensOf(message?.applicationProperties), seen)
    await client.close()
    await bus.close()
  })

  it('from before, or from elsewhere, carries nothing', () => {
    for (const properties of [
      undefined,
      {},
      { session: 5 },
      { session: '{' },
      { session: 'null' },
      { session: '[5]' },
    ]) {
      assert.deepEqual(sessionTokensOf(properties), {})
    }
  })

  it('is rung over a new connection when the old one has gone, before anyone who waits for it gives up', async () => {
    const { bus, doorbells } = await openSender()
    bus.faults.dropConnections()
    const { outcome, took } = await secondsOf(doorbells.ring(EVALUATION, { id: 'second' }))
    assert.equal(outcome, 'fulfilled')
    assert.ok(took <= 9, `took ${took} s`)
    assert.equal(bus.counts('evaluations').active, 2)
    await bus.close()
  })

  it('is given up within half a minute when the queue is gone: its sender has an answer to give', async () => {
    const { bus, doorbells } = await openSender()
    await bus.close()
    const { outcome, took } = await secondsOf(doorbells.ring(EVALUATION, { id: 'second' }))
    assert.equal(outcome, 'rejected')
    assert.ok(took <= 25, `took ${took} s`)
  })
})
