import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import {
  type CachedCondition,
  type LiveDependencies,
  liveContext,
} from '../../../shared/domain/collections/live-members.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'

const TENANT = '11111111-0000-4000-8000-000000000001'
const ID = '22222222-0000-4000-8000-000000000001'
const ADA = '33333333-0000-4000-8000-000000000001'

function people(definitionVersion: number, value: string): Collection {
  const leaf = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value }
  const definition = { groupOperator: 'AND', conditions: [leaf] }
  const stored = { id: ID, tenantId: TENANT, kind: 'criteria', objectType: 'Identity', refersTo: [] } as const
  return { ...stored, definitionVersion, definition } as unknown as Collection
}

describe('The conditions that are kept for members evaluated now', () => {
  it('are one for each collection: that of a new version takes the place of the former one', async () => {
    const rows = new RowSnapshot()
    const attributes = { displayName: 'Ada' }
    rows.apply([{ id: ADA, objectType: 'identity', externalId: '1', attributes, deleted: false }])
    const scheduler = new CooperativeScheduler(() => performance.now())
    const kept = new Map<string, CachedCondition>()
    const membersOf = async (collection: Collection) => {
      const deps = {
        collections: { existing: async () => [collection] },
        joined: { of: async () => new Map() },
        snapshots: { reading: (_rows: RowSnapshot, task: Parameters<typeof scheduler.run>[0]) => scheduler.run(task) },
        scheduler,
        nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
      } as unknown as LiveDependencies
      const members = (await liveContext(TENANT, [ID], rows, deps, kept)).membersOf(ID)
      return members?.kind === 'joinable' ? undefined : [...(members?.ids ?? [])]
    }
    assert.deepEqual(await membersOf(people(1, 'Ada')), [ADA])
    const [first] = kept.values()
    assert.deepEqual(await membersOf(people(1, 'Ada')), [ADA])
    assert.equal([...kept.values()][0]?.condition, first?.condition)
    assert.deepEqual(await membersOf(people(2, 'Bo')), [])
    assert.deepEqual([kept.size, [...kept.values()][0]?.definitionVersion], [1, 2])
  })
})
