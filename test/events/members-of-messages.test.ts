import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventMessages } from '../../functions/app/event-wiring.ts'
import type { EventDependencies } from '../../shared/domain/events/event-stores.ts'

const TENANT = '11111111-0000-4000-8000-000000000001'
const [FIRST, SECOND] = ['22222222-0000-4000-8000-000000000001', '22222222-0000-4000-8000-000000000002']

it('A message of changed members publishes its collections, and none of an earlier message', async () => {
  const published: (readonly string[] | undefined)[] = []
  const deps = {
    subscriptions: { read: async () => ({ value: [{ state: 'Enabled', types: ['*'] }] }) },
    collections: {
      summaries: async (_tenantId: string, ids?: readonly string[]) => {
        published.push(ids)
        return []
      },
    },
    published: { find: async () => new Map() },
    nowMs: () => 0,
  } as unknown as EventDependencies
  const { events } = eventMessages(deps)
  for (const id of [FIRST, SECOND]) await events.handle({ tenantId: TENANT, collectionIds: [id] })
  assert.deepEqual(published, [[FIRST], [SECOND]])
})
