import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import {
  accountChangesInRows,
  accountsChangedAtMs,
  joinableAccountsChanged,
  type MembersBeforeAndAfter,
  notifyLinks,
  storedAccountChanges,
} from '../../../shared/domain/evaluation/notify-links.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { Message } from '../../../shared/kernel/messages.ts'

const TENANT = 'tenant'
const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
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
      remembersSince: () => true,
      includedWrites: () => undefined,
      count: async () => people.length,
      async *since() {
        const objects = batches.shift() ?? []
        yield { objects, mark: {} } as never
      },
    },
    { maxBytes: 1_000_000 },
  )
  await snapshots.fresh(TENANT)
  snapshots.takeChanges(TENANT)
  await snapshots.fresh(TENANT)
  return snapshots.takeChanges(TENANT)
}

const collection = (objectType: string, before: string[] | undefined, after: string[]): MembersBeforeAndAfter => {
  return { collection: { id: 'collection', objectType } as Collection, before, after }
}

const changedBy = async (...written: SnapshotObject[]) => accountChangesInRows(await changesOf(...written), NOW_MS)

describe('Accounts of members that stay', () => {
  for (const [claim, written, objectType, members] of [
    ['gained', identity(BO, { directoryObjectId: id(902) }), 'Identity', [ADA, BO]],
    ['changed', identity(ADA, { directoryObjectId: id(903) }), 'Identity', [ADA]],
    ['lost', identity(ADA), 'Identity', [ADA]],
    ['gained by the holder of a position', identity(BO, { directoryObjectId: id(902) }), 'Relationship', [POST_OF_BO]],
    ['changed with the holder of a position', relationship(POST_OF_ADA, BO), 'Relationship', [POST_OF_ADA]],
  ] as const) {
    it(`have changed when one is ${claim}`, async () => {
      const overTime = collection(objectType, [...members], [...members])
      assert.equal(accountsChangedAtMs(overTime, await changedBy(written)), NOW_MS)
    })
  }

  it('have not changed when it is that of another identity', async () => {
    const changed = await changedBy(identity(BO, { directoryObjectId: id(902) }))
    assert.equal(accountsChangedAtMs(collection('Identity', [ADA], [ADA]), changed), undefined)
  })

  it('have not changed when another attribute of a member changes', async () => {
    const changed = await changedBy(identity(ADA, { directoryObjectId: id(901), displayName: 'Ada' }))
    assert.equal(accountsChangedAtMs(collection('Identity', [ADA], [ADA]), changed), undefined)
  })

  it('have not changed for members that are added or removed at the same time', async () => {
    const changed = await changedBy(identity(BO, { directoryObjectId: id(902) }))
    assert.equal(accountsChangedAtMs(collection('Identity', [ADA], [ADA, BO]), changed), undefined)
    assert.equal(accountsChangedAtMs(collection('Identity', [ADA, BO], [ADA]), changed), undefined)
  })

  it('are found among the members of joinable collections as well', async () => {
    const joined = {
      of: async () =>
        new Map([
          ['with Bo', { memberships: [{ identityId: BO, relationshipId: null }], membershipVersion: 1 }],
          ['with Ada', { memberships: [{ identityId: ADA, relationshipId: POST_OF_ADA }], membershipVersion: 1 }],
        ]),
    } as never
    const changed = await changedBy(identity(BO, { directoryObjectId: id(902) }))
    assert.deepEqual(
      await joinableAccountsChanged(TENANT, ['with Bo', 'with Ada'], changed, joined),
      new Map([['with Bo', NOW_MS]]),
    )
  })
})

describe('A change of members', () => {
  const calls: string[] = []
  const deps = {
    links: {
      linksOf: async () => [],
      linkedCollections: async () => {
        calls.push('linkedCollections')
        return new Map([['linked', 1]])
      },
      accountsChanged: async () => new Set<string>(),
    },
    joined: { versions: async () => new Map() },
    messageQueue: { enqueue: async ({ message }: Message) => void calls.push(JSON.stringify(message)) },
    newId: () => 'id',
    nowMs: () => NOW_MS,
  } as unknown as Parameters<typeof notifyLinks>[2]
  const notified = async (changedId: string, written: SnapshotObject) => {
    calls.length = 0
    const criteria = [
      {
        ...collection('Identity', [], [ADA]),
        collection: { id: changedId, objectType: 'Identity' } as Collection,
        isChanged: true,
        membershipVersion: 2,
      },
    ]
    const evaluated = { criteria, rows: new RowSnapshot(), changes: await changesOf(written), followedUntilMs: NOW_MS }
    await notifyLinks(TENANT, { ...evaluated, knownLinked: new Set(['linked']) }, deps)
    return calls
  }
  const renamed = identity(ADA, { directoryObjectId: id(901), displayName: 'Ada' })
  const message = JSON.stringify({ tenantId: TENANT, collectionId: 'linked' })

  it('is enqueued without the links for a collection that had one', async () => {
    assert.deepEqual(await notified('linked', renamed), [message])
  })

  it('is enqueued only if there is a link for a collection that had none', async () => {
    assert.deepEqual(await notified('unlinked', renamed), ['linkedCollections'])
  })

  it('is enqueued after the links were read if accounts may have changed as well', async () => {
    const moved = identity(ADA, { directoryObjectId: id(903) })
    assert.deepEqual(await notified('linked', moved), ['linkedCollections', message])
  })
})

describe('Account changes as stored', () => {
  const rows = new RowSnapshot()
  rows.apply([identity(ADA), identity(BO), relationship(POST_OF_ADA, ADA), relationship(POST_OF_BO, BO)])
  const accountChanges = (...all: [string, 'identity' | 'relationship', number][]) =>
    storedAccountChanges(
      all.map(([of, objectType, changedAtMs]) => ({ id: of, objectType, changedAtMs })),
      rows,
    )

  for (const [claim, stored, objectType, after, expected] of [
    [
      'are the last of several members’',
      accountChanges([ADA, 'identity', 5], [BO, 'identity', 7]),
      'Identity',
      [ADA, BO],
      7,
    ],
    [
      'are looked for among members only',
      accountChanges([ADA, 'identity', 5], [BO, 'identity', 7]),
      'Identity',
      [ADA],
      5,
    ],
    [
      'are those of the positions that a person holds',
      accountChanges([ADA, 'identity', 5]),
      'Relationship',
      [POST_OF_ADA],
      5,
    ],
    [
      'are not those of others’ positions',
      accountChanges([ADA, 'identity', 5]),
      'Relationship',
      [POST_OF_BO],
      undefined,
    ],
    [
      'are the holder’s where that is later',
      accountChanges([ADA, 'identity', 5], [POST_OF_ADA, 'relationship', 3]),
      'Relationship',
      [POST_OF_ADA],
      5,
    ],
    [
      'are of the position where another holds it since',
      accountChanges([ADA, 'identity', 5], [POST_OF_ADA, 'relationship', 9]),
      'Relationship',
      [POST_OF_ADA],
      9,
    ],
  ] as const) {
    it(claim, () => {
      assert.equal(accountsChangedAtMs(collection(objectType, undefined, [...after]), stored), expected)
    })
  }
})
