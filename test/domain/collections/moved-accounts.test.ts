import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import {
  joinableWithMovedAccounts,
  type MembersOverTime,
  withMovedAccounts,
} from '../../../shared/domain/collections/moved-accounts.ts'
import { TenantSnapshots } from '../../../shared/domain/collections/tenant-snapshots.ts'
import type { SnapshotObject } from '../../../shared/domain/criteria/row-snapshot.ts'

const TENANT = 'tenant'
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const [ADA, BO] = [id(1), id(2)]
const [POST_OF_ADA, POST_OF_BO] = [id(11), id(12)]

const identity = (of: string, attributes: SnapshotObject['attributes'] = {}): SnapshotObject => {
  return { id: of, objectType: 'identity', externalId: of, attributes, deleted: false }
}
const relationship = (of: string, holder: string): SnapshotObject => {
  return { ...identity(of, { identity: { objectId: holder } }), objectType: 'relationship' }
}

/** The changes of rows that a write brings, of a tenant with Ada, who has an account, and Bo, who has none. */
async function changesOf(...written: SnapshotObject[]) {
  const people = [
    identity(ADA, { directoryObjectId: id(901) }),
    identity(BO),
    relationship(POST_OF_ADA, ADA),
    relationship(POST_OF_BO, BO),
  ]
  const batches = [people, written]
  const snapshots = new TenantSnapshots(
    {
      async *since() {
        const objects = batches.shift() ?? []
        yield { objects, mark: {} } as never
      },
    },
    1_000,
  )
  await snapshots.fresh(TENANT)
  snapshots.takeChanges(TENANT)
  await snapshots.fresh(TENANT)
  return snapshots.takeChanges(TENANT)
}

const collection = (objectType: string, before: string[], after: string[]): MembersOverTime => {
  return { collection: { id: 'collection', objectType } as Collection, before, after }
}

describe('Accounts behind members who stay', () => {
  for (const [claim, written, objectType, members] of [
    ['gained', identity(BO, { directoryObjectId: id(902) }), 'Identity', [ADA, BO]],
    ['changed', identity(ADA, { directoryObjectId: id(903) }), 'Identity', [ADA]],
    ['lost', identity(ADA), 'Identity', [ADA]],
    ['gained by the holder of a position', identity(BO, { directoryObjectId: id(902) }), 'Relationship', [POST_OF_BO]],
    ['changed with the holder of a position', relationship(POST_OF_ADA, BO), 'Relationship', [POST_OF_ADA]],
  ] as const) {
    it(`have moved when one is ${claim}`, async () => {
      const overTime = collection(objectType, [...members], [...members])
      assert.deepEqual(withMovedAccounts([overTime], await changesOf(written)), ['collection'])
    })
  }

  it('have not when it is someone else’s', async () => {
    const changes = await changesOf(identity(BO, { directoryObjectId: id(902) }))
    assert.deepEqual(withMovedAccounts([collection('Identity', [ADA], [ADA])], changes), [])
  })

  it('have not when something else of a member changes', async () => {
    const changes = await changesOf(identity(ADA, { directoryObjectId: id(901), displayName: 'Ada' }))
    assert.deepEqual(withMovedAccounts([collection('Identity', [ADA], [ADA])], changes), [])
  })

  it('have not for those who come or go with it, which the change of members tells', async () => {
    const changes = await changesOf(identity(BO, { directoryObjectId: id(902) }))
    const overTime = [collection('Identity', [ADA], [ADA, BO]), collection('Identity', [ADA, BO], [ADA])]
    assert.deepEqual(withMovedAccounts(overTime, changes), [])
  })

  it('are looked for among the members of joinable collections too', async () => {
    const joined = {
      of: async () =>
        new Map([
          ['with Bo', { memberships: [{ identityId: BO, relationshipId: null }], membershipVersion: 1 }],
          ['with Ada', { memberships: [{ identityId: ADA, relationshipId: POST_OF_ADA }], membershipVersion: 1 }],
        ]),
    } as never
    const changes = await changesOf(identity(BO, { directoryObjectId: id(902) }))
    assert.deepEqual(await joinableWithMovedAccounts(TENANT, ['with Bo', 'with Ada'], changes, joined), ['with Bo'])
  })
})
