import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { typeMisfits } from '../../../shared/domain/collections/attribute-type-checks.ts'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import type { CustomType, CustomTypes } from '../../../shared/domain/core/custom-types.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion, type Task } from '../../../shared/kernel/cooperative-scheduler.ts'

const TENANT = '11111111-0000-4000-8000-000000000001'
const ID = '22222222-0000-4000-8000-000000000001'
const GRADE = 'identityCustom/grade'

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const grade = (type: CustomType): CustomTypes => new Map([[GRADE, type]])

/** The codes of what keeps the type of the grade from changing, with a collection of these leaves. */
async function misfits(former: CustomType, next: CustomType, ...conditions: object[]): Promise<string[]> {
  const rows = new RowSnapshot(undefined, { ...DEFAULT_ROW_SETTINGS, types: grade(former) })
  const stored = { id: ID, tenantId: TENANT, kind: 'criteria', objectType: 'Identity', name: 'A', refersTo: [] }
  const collection = { ...stored, definition: { groupOperator: 'AND', conditions } } as unknown as Collection
  const deps = {
    collections: { list: async () => [collection] },
    snapshots: {
      fresh: async () => rows,
      reading: async <T>(_rows: RowSnapshot, task: Task<T>) => runToCompletion(task),
    },
  } as unknown as Parameters<typeof typeMisfits>[3]
  return (await typeMisfits(TENANT, grade(next), grade(next), deps)).map(({ code }) => code)
}

describe('A change of the type of an attribute', () => {
  it('is refused when a condition that can be evaluated could not be any more', async () => {
    assert.deepEqual(await misfits('Integer', 'StringList', leaf(GRADE, 'GreaterThan', 9)), ['ConditionsDoNotFit'])
  })

  it('is not kept back by a condition that cannot be evaluated anyway', async () => {
    const conditions = [leaf(GRADE, 'StartsWith', '9'), leaf(GRADE, 'GreaterThan', 9)]
    assert.deepEqual(await misfits('Integer', 'StringList', ...conditions), [])
  })

  it('is not kept back by a comparison that only new conditions may not have, when its attribute stays as it is', async () => {
    const conditions = [leaf('identityDisplayName', 'GreaterThan', 5), leaf(GRADE, 'Equals', '9')]
    assert.deepEqual(await misfits('String', 'Integer', ...conditions), [])
  })
})
