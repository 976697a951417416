import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Doorbell, Doorbells } from '../../shared/domain/doorbell.ts'
import { handledOrPostponed, redeliveryDelayMs } from '../../shared/messaging/redelivery.ts'

const doorbell: Doorbell = { queue: 'evaluations', message: { tenantId: 'dddddddd-0000-4000-8000-000000000001' } }

/** A queue that hands a message over and over to a handler that fails until its database is back. */
async function outage(lastsMs: number) {
  let nowMs = 0
  const sent: { id: string; delayMs: number; failureCount: number }[] = []
  const doorbells: Doorbells = {
    ring: async (_doorbell, { id, delayMs = 0, failureCount = 0 }) => void sent.push({ id, delayMs, failureCount }),
  }
  const handle = async () => {
    if (nowMs < lastsMs) throw new Error('The database is away')
  }
  for (let failureCount = 0; ; failureCount += 1) {
    const delivery = { doorbell, id: 'message', failureCount }
    const outcome = await handledOrPostponed(delivery, handle, { doorbells, random: () => 0.5 }).catch(() => 'dead')
    if (outcome === 'dead' || outcome === undefined) return { isHandled: outcome === undefined, sent, tookMs: nowMs }
    nowMs += sent.at(-1)?.delayMs ?? 0
  }
}

describe('A message that cannot be handled now', () => {
  it('comes again soon after a short trouble', async () => {
    const { isHandled, tookMs } = await outage(1_000)
    assert.deepEqual([isHandled, tookMs], [true, 5_000])
  })

  for (const minutes of [5, 30, 60]) {
    it(`is handled after an outage of ${minutes} minutes, and by then not tried more often than needed`, async () => {
      const { isHandled, sent, tookMs } = await outage(minutes * 60_000)
      assert.ok(isHandled)
      assert.ok(tookMs <= minutes * 60_000 + 300_000)
      assert.ok(sent.length <= 7 + minutes / 5, `${sent.length} times`)
      assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length)
    })
  }

  it('is given to the dead letters in the end', async () => {
    const { isHandled, tookMs } = await outage(Number.POSITIVE_INFINITY)
    assert.equal(isHandled, false)
    assert.ok(tookMs > 80 * 60_000 && tookMs < 120 * 60_000)
  })

  it('is left to the queue where it cannot be sent again', async () => {
    const fault = new Error('The database is away')
    const doorbells = { ring: () => Promise.reject(new Error('The queue is away')) }
    const delivery = { doorbell, id: 'message', failureCount: 0 }
    const handled = handledOrPostponed(delivery, () => Promise.reject(fault), { doorbells, random: () => 0.5 })
    await assert.rejects(handled, fault)
  })

  it('does not come back at the same moment as all others', () => {
    assert.deepEqual([redeliveryDelayMs(1, 0), redeliveryDelayMs(1, 1)], [4_000, 6_000])
    assert.equal(redeliveryDelayMs(1_000, 0.5), undefined)
  })
})
