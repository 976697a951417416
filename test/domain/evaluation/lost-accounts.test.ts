import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { DeletedCoreObject } from '../../../shared/domain/core/core-object-store.ts'
import { type AccountDependencies, accountsLost } from '../../../shared/domain/evaluation/member-accounts.ts'
import type { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

const collection = { tenantId: 't', kind: 'criteria', objectType: 'Identity' } as const
const rows = { has: () => false, accountOf: () => undefined } as unknown as RowSnapshot

/** The accounts of Ada and Bo, who were deleted. */
function lostBy(...known: readonly string[]) {
  const deleted = known.map((id) => ({ id, attributes: { directoryObjectId: `account of ${id}` } }))
  const deps = {
    accountChanges: { amongSince: async () => [] },
    deletedObjects: { ofIds: async () => deleted as unknown as DeletedCoreObject[] },
  } as unknown as AccountDependencies
  return accountsLost(['ada', 'bo'], { collection, rows, followedUntilMs: 0 }, deps)
}

it('The accounts of deleted members are those that they had, and unknown when one was deleted for good', async () => {
  assert.deepEqual(await lostBy('ada', 'bo'), new Set(['account of ada', 'account of bo']))
  assert.equal(await lostBy('ada'), undefined)
})

it('The account of a former position is unknown when the position itself has changed hands', async () => {
  const held = { holderOf: () => 'ada', has: () => true, accountOf: () => 'account of ada' } as unknown as RowSnapshot
  const lostAfter = (...changedIds: readonly string[]) => {
    const amongSince = async (_tenantId: string, ids: readonly string[]) => changedIds.filter((id) => ids.includes(id))
    const deps = { accountChanges: { amongSince }, deletedObjects: { ofIds: async () => [] } }
    const left = { collection: { ...collection, objectType: 'Relationship' }, rows: held, followedUntilMs: 0 } as const
    return accountsLost(['job'], left, deps as unknown as AccountDependencies)
  }
  assert.deepEqual(await lostAfter(), new Set(['account of ada']))
  assert.equal(await lostAfter('job'), undefined)
  assert.equal(await lostAfter('ada'), undefined)
})
