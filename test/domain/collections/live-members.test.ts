import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import {
  type CachedCondition,
  type ConditionCache,
  type LiveDependencies,
  liveContext,
} from '../../../shared/domain/collections/live-members.ts'
import type { Attributes } from '../../../shared/domain/core/core-object.ts'
import { type CustomTypes, NO_CUSTOM_TYPES } from '../../../shared/domain/core/custom-types.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'

const TENANT = '11111111-0000-4000-8000-000000000001'
const ID = '22222222-0000-4000-8000-000000000001'
const ADA = '33333333-0000-4000-8000-000000000001'

const GRADE = 'identityCustom/grade'

function people(
  definitionVersion: number,
  value: string,
  name = 'identityDisplayName',
  operator = 'Equals',
): Collection {
  const leaf = { id: name, field: name, operator, value }
  const definition = { groupOperator: 'AND', conditions: [leaf] }
  const stored = { id: ID, tenantId: TENANT, kind: 'criteria', objectType: 'Identity', refersTo: [] } as const
  return { ...stored, definitionVersion, definition } as unknown as Collection
}

const SCHEDULER = new CooperativeScheduler(() => performance.now())

function rowsWith(attributes: Attributes, types: CustomTypes = NO_CUSTOM_TYPES): RowSnapshot {
  const rows = new RowSnapshot(undefined, { ...DEFAULT_ROW_SETTINGS, types })
  rows.apply([{ id: ADA, objectType: 'identity', externalId: '1', attributes, deleted: false }])
  return rows
}

async function membersOf(collection: Collection, rows: RowSnapshot, kept: ConditionCache) {
  const deps = {
    collections: { existing: async () => [collection] },
    joined: { of: async () => new Map() },
    snapshots: { reading: (_rows: RowSnapshot, task: Parameters<typeof SCHEDULER.run>[0]) => SCHEDULER.run(task) },
    scheduler: SCHEDULER,
    nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
  } as unknown as LiveDependencies
  const members = (await liveContext(TENANT, [ID], rows, deps, kept)).membersOf(ID)
  return members?.kind === 'joinable' ? undefined : [...(members?.ids ?? [])]
}

describe('The conditions that are kept for members evaluated now', () => {
  it('are one for each collection: that of a new version takes the place of the former one', async () => {
    const rows = rowsWith({ displayName: 'Ada' })
    const kept = new Map<string, CachedCondition>()
    assert.deepEqual(await membersOf(people(1, 'Ada'), rows, kept), [ADA])
    const [first] = kept.values()
    assert.deepEqual(await membersOf(people(1, 'Ada'), rows, kept), [ADA])
    assert.equal([...kept.values()][0]?.condition, first?.condition)
    assert.deepEqual(await membersOf(people(2, 'Bo'), rows, kept), [])
    assert.deepEqual([kept.size, [...kept.values()][0]?.definitionVersion], [1, 2])
  })

  it('are compiled again when the types of custom attributes have changed', async () => {
    const kept = new Map<string, CachedCondition>()
    const graded = people(1, '9', GRADE, 'GreaterThanOrEqual')
    const attributes = { 'custom/grade': '10' }
    assert.deepEqual(await membersOf(graded, rowsWith(attributes), kept), [])
    assert.deepEqual(await membersOf(graded, rowsWith(attributes, new Map([[GRADE, 'Integer']])), kept), [ADA])
    assert.deepEqual(await membersOf(graded, rowsWith(attributes), kept), [])
  })
})
