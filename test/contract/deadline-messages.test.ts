import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosRequestStore } from '../../shared/cosmos/requests/request-store.ts'
import { deadlineSchedule, withDeadlineMessages } from '../../shared/domain/membership-requests/deadline-messages.ts'
import { localDatabase } from '../support/contract/local-database.ts'
import { requestIn } from '../support/domain/membership-requests/requests.ts'

const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
const tenantId = randomUUID()
const container = await localDatabase()
const stored = cosmosRequestStore(container('requests'), { historyDays: 400, nowMs: () => NOW_MS })

/** A membership of a person of its own. */
const membership = (endsAt: string | undefined) => {
  const id = randomUUID()
  const ends = endsAt === undefined ? {} : { endsAt }
  return requestIn('Joined', { id, tenantId, slot: `collection:${id}:none`, requesterId: id, ...ends })
}

/** The store with messages, and the times at which those that it enqueues are delivered. */
function announcing(requests = stored, enqueue?: () => Promise<void>) {
  const deliveries: string[] = []
  const messageQueue = {
    async enqueue(_message: unknown, { delayMs = 0 }: { delayMs?: number }) {
      await enqueue?.()
      deliveries.push(new Date(NOW_MS + delayMs).toISOString())
    },
  }
  const deps = { messageQueue, nowMs: () => NOW_MS }
  return { deliveries, store: withDeadlineMessages(requests, deps), schedule: deadlineSchedule(requests, deps) }
}

describe('the messages of ends', () => {
  it('are enqueued before the save, each time once, and for the next day only', async () => {
    const { store, deliveries } = announcing()
    for (const endsAt of ['2030-01-02T05:00:07Z', '2030-01-02T05:00:19Z', '2030-01-09T00:00:00Z', undefined]) {
      await store.save([{ after: membership(endsAt) }])
    }
    assert.deepEqual(deliveries, ['2030-01-02T05:00:20.000Z'])
  })

  it('come some seconds later for an end that is past or about to come', async () => {
    const { store, deliveries } = announcing()
    await store.save([{ after: membership('2030-01-02T00:00:01Z') }])
    assert.deepEqual(deliveries, ['2030-01-02T00:00:20.000Z'])
  })

  it('are not sent again for a change that leaves the end as it is', async () => {
    const { store, deliveries } = announcing()
    const after = membership('2030-01-02T07:00:00Z')
    const [before] = await store.save([{ after }])
    if (before === undefined) throw new Error('The request was not returned')
    const other = announcing(stored)
    await other.store.save([{ before, after: { ...after, notes: 'changed' } }])
    assert.deepEqual([deliveries.length, other.deliveries.length], [1, 0])
  })

  it('keep the save from being made when they cannot be enqueued', async () => {
    const { store } = announcing(stored, () => Promise.reject(new Error('The queue is down')))
    const after = membership('2030-01-02T08:00:00Z')
    await assert.rejects(store.save([{ after }]), /The queue is down/)
    assert.equal(await stored.find(tenantId, after.id), undefined)
  })

  it('are enqueued when a save is repeated that they have kept from being made', async () => {
    let isDown = true
    const { store, deliveries } = announcing(stored, async () => {
      if (isDown) throw new Error('The queue is down')
    })
    const after = membership('2030-01-02T09:00:00Z')
    await assert.rejects(store.save([{ after }]), /The queue is down/)
    isDown = false
    await store.save([{ after }])
    assert.deepEqual(deliveries, ['2030-01-02T09:00:00.000Z'])
  })

  it('are enqueued by the daily look for what ends within a day and for what was missed', async () => {
    const { schedule, deliveries } = announcing()
    await stored.save([{ after: membership('2030-01-01T12:00:00Z') }])
    await schedule.enqueue(tenantId)
    assert.ok(deliveries.includes('2030-01-02T00:00:20.000Z'))
    assert.ok(deliveries.includes('2030-01-02T07:00:00.000Z'))
    assert.ok(!deliveries.some((at) => at > '2030-01-03T02:00:00.000Z'))
    assert.equal(new Set(deliveries).size, deliveries.length)
  })

  it('are enqueued for what ends until the next look, which can come an hour late', async () => {
    const { schedule, store, deliveries } = announcing()
    await stored.save([{ after: membership('2030-01-03T01:00:00Z') }])
    await schedule.enqueue(tenantId)
    await store.save([{ after: membership('2030-01-03T01:00:20Z') }])
    assert.ok(deliveries.includes('2030-01-03T01:00:00.000Z'))
    assert.ok(deliveries.includes('2030-01-03T01:00:20.000Z'))
  })

  it('are looked for once a day', () => {
    const { schedule } = announcing()
    const looks = [undefined, NOW_MS - 24 * 3_600_000, NOW_MS - 23 * 3_600_000].map((atMs) => schedule.isDue(atMs))
    assert.deepEqual(looks, [true, true, false])
  })
})
