import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, MessageQueue } from '../../shared/kernel/messages.ts'
import { handleWithRedelivery, redeliveryDelayMs } from '../../shared/messaging/redelivery.ts'

const message: Message = { queue: 'evaluations', message: { tenantId: 'dddddddd-0000-4000-8000-000000000001' } }

/** Delivers a message repeatedly to a handler that fails during an outage. */
async function outage(lastsMs: number) {
  let nowMs = 0
  const sent: { id: string; delayMs: number; failureCount: number }[] = []
  const messageQueue: MessageQueue = {
    enqueue: async (_message, { id, delayMs = 0, failureCount = 0 }) => void sent.push({ id, delayMs, failureCount }),
  }
  const handle = async () => {
    if (nowMs < lastsMs) throw new Error('The database is away')
  }
  for (let failureCount = 0; ; failureCount = sent.at(-1)?.failureCount ?? 0) {
    assert.ok(sent.length < 100, 'It is enqueued again forever')
    const delivery = { message, id: 'message', failureCount }
    const outcome = await handleWithRedelivery(delivery, handle, { messageQueue, random: () => 0.5 }).catch(
      () => 'dead',
    )
    if (outcome === 'dead' || outcome === undefined) return { isHandled: outcome === undefined, sent, tookMs: nowMs }
    nowMs += sent.at(-1)?.delayMs ?? 0
  }
}

describe('A message whose handling fails', () => {
  it('is delivered again soon', async () => {
    const { isHandled, tookMs } = await outage(1_000)
    assert.deepEqual([isHandled, tookMs], [true, 5_000])
  })

  for (const minutes of [5, 30, 60]) {
    it(`is handled after an outage of ${minutes} minutes, with few attempts`, async () => {
      const { isHandled, sent, tookMs } = await outage(minutes * 60_000)
      assert.ok(isHandled)
      assert.ok(tookMs <= minutes * 60_000 + 300_000)
      assert.ok(sent.length <= 7 + minutes / 5, `${sent.length} times`)
      assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length)
    })
  }

  it('finally becomes a dead letter', async () => {
    const { isHandled, tookMs } = await outage(Number.POSITIVE_INFINITY)
    assert.equal(isHandled, false)
    assert.ok(tookMs > 80 * 60_000 && tookMs < 120 * 60_000)
  })

  it('is redelivered by the queue when it cannot be enqueued again', async () => {
    const fault = new Error('The database is away')
    const messageQueue = { enqueue: () => Promise.reject(new Error('The queue is away')) }
    const delivery = { message, id: 'message', failureCount: 0 }
    const handled = handleWithRedelivery(delivery, () => Promise.reject(fault), { messageQueue, random: () => 0.5 })
    await assert.rejects(handled, fault)
  })

  it('is delivered at a different time than others', () => {
    assert.deepEqual([redeliveryDelayMs(1, 0), redeliveryDelayMs(1, 1)], [4_000, 6_000])
    assert.equal(redeliveryDelayMs(1_000, 0.5), undefined)
  })
})
