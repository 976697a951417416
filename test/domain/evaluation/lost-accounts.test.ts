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
