import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EventDependencies } from '../../shared/domain/events/event-stores.ts'
import { publishOutbox } from '../../shared/domain/events/publish-events.ts'

describe('Events that cannot be told by mail', () => {
  it('stay in the outbox until they are', async () => {
    const stored = [{ events: [{ id: 'event' }] }]
    const told: unknown[] = []
    let isAway = true
    const deps = {
      outbox: { first: async () => [...stored], remove: async () => void stored.splice(0) },
      subscriptions: { read: async () => ({ value: [], version: '1' }) },
      tellByMail: async (_tenantId: string, events: readonly unknown[]) => {
        if (isAway) throw new Error('The database is away')
        told.push(...events)
      },
      nowMs: () => Date.parse('2030-01-02T08:00:00Z'),
    } as unknown as EventDependencies
    await assert.rejects(publishOutbox('t', 'requests', deps), /away/)
    isAway = false
    await publishOutbox('t', 'requests', deps)
    assert.deepEqual([told, stored], [[{ id: 'event' }], []])
  })
})
