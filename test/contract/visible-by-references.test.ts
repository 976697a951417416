import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core/core-object-references.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import type { Attributes, ObjectType } from '../../shared/domain/core/core-object.ts'
import { ownIdentity } from '../../shared/domain/object-access/object-access.ts'
import { visibleByReferences } from '../../shared/domain/object-access/visible-by-references.ts'
import { visibleObjects } from '../../shared/domain/object-access/visible-objects.ts'
import { DEFAULT_ROW_SETTINGS } from '../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const coreObjects = (await localDatabase())('coreObjects')
const store = cosmosCoreObjectStore(coreObjects)
const references = cosmosCoreObjectReferences(coreObjects)

const cold = { references, settings: { of: async () => DEFAULT_ROW_SETTINGS } }
const coldAccess = { holds: () => false, ...cold }
const loadNothing = () => Promise.reject(new Error('The rows were loaded'))

const NOW_MS = Date.parse('2030-06-01T08:00:00Z')

const TYPES = ['identity', 'orgUnit', 'relationship'] as const
const OBJECTS_PER_TYPE_COUNT = 6
const idOf = (type: ObjectType, index: number): string =>
  `${TYPES.indexOf(type)}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const accountOf = (index: number): string => `a0000000-0000-4000-8000-00000000000${index}`
const anyIndex = fc.nat({ max: OBJECTS_PER_TYPE_COUNT - 1 })
const to = (type: ObjectType) => (index: number) => ({ objectId: idOf(type, index) })
const anyReference = (type: ObjectType) => anyIndex.map(to(type))

/** Any parents: circles among them. An account of several, references to what is deleted or was never there. */
const anyAttributes: Record<ObjectType, fc.Arbitrary<Attributes>> = {
  identity: fc.record({ directoryObjectId: anyIndex.map(accountOf), displayName: fc.string() }, { requiredKeys: [] }),
  orgUnit: fc.record(
    {
      parent: anyReference('orgUnit'),
      manager: anyReference('identity'),
      deputies: fc.uniqueArray(anyIndex, { minLength: 1, maxLength: 3 }).map((all) => all.map(to('identity'))),
    },
    { requiredKeys: [] },
  ),
  relationship: fc.record(
    {
      identity: anyReference('identity'),
      orgUnit: anyReference('orgUnit'),
      manager: anyReference('identity'),
      endDate: fc.constantFrom('2020-01-01', '2030-05-31', '2030-06-01', '2040-01-01'),
    },
    { requiredKeys: [] },
  ),
}
const everyId = TYPES.flatMap((type) => Array.from({ length: OBJECTS_PER_TYPE_COUNT }, (_, index) => [type, index]))
const anyTenant: fc.Arbitrary<SnapshotObject[]> = fc
  .tuple(
    ...(everyId as [ObjectType, number][]).map(([objectType, index]) =>
      fc.tuple(anyAttributes[objectType], fc.nat({ max: 7 })).map(([attributes, chance]) => {
        const id = idOf(objectType, index)
        return chance === 0 ? [] : [{ id, objectType, externalId: id, attributes, deleted: chance === 1 }]
      }),
    ),
  )
  .map((objects) => objects.flat())

async function write(tenantId: string, objects: readonly SnapshotObject[]): Promise<void> {
  const writes = objects.map((object) => ({ object: { ...object, contributors: ['c'] }, version: undefined }))
  assert.equal((await store.write(tenantId, writes, 1)).size, 0)
}

describe('the identity and object access of a user, by references', () => {
  it('equals those by the rows in memory', async () => {
    let seenCount = 0
    const property = fc.asyncProperty(anyTenant, async (objects) => {
      const tenantId = randomUUID()
      await write(tenantId, objects)
      const rows = new RowSnapshot()
      rows.apply(objects)
      for (let index = 0; index < OBJECTS_PER_TYPE_COUNT; index += 1) {
        const account = accountOf(index)
        const expected = visibleObjects(rows.identityOfAccount(account), rows, NOW_MS)
        const own = await ownIdentity({ tenantId, objectId: account.toUpperCase() }, loadNothing, coldAccess)
        assert.equal(own, rows.identityOfAccount(account))
        const visible = await visibleByReferences(account.toUpperCase(), tenantId, cold, NOW_MS)
        for (const type of TYPES) {
          const ids = expected.idsAfter(type, undefined, 100)
          assert.deepEqual(visible?.idsAfter(type, undefined, 100), ids)
          assert.deepEqual(visible?.idsAfter(type, ids[0], 2), ids.slice(1, 3))
          assert.equal(visible?.count(type), expected.count(type))
          seenCount += ids.length
        }
        for (const object of objects) assert.equal(visible?.has(object), expected.has(object))
      }
    })
    await fc.assert(property, { numRuns: 80 })
    assert.ok(seenCount > 500, `only ${seenCount} were ever seen`)
  })

  it('contains nothing of another tenant', async () => {
    const attributes = { directoryObjectId: accountOf(1) }
    const self = { objectType: 'identity', externalId: 'x', attributes, deleted: false } as const
    await write(randomUUID(), [{ ...self, id: idOf('identity', 1) }])
    const visible = await visibleByReferences(accountOf(1), randomUUID(), cold, NOW_MS)
    assert.deepEqual(
      TYPES.map((type) => visible?.count(type)),
      [0, 0, 0],
    )
  })
})

describe('a user with access to so many objects that the rows are loaded', () => {
  const boss = {
    id: idOf('identity', 1),
    objectType: 'identity',
    externalId: 'boss',
    attributes: { directoryObjectId: accountOf(1) },
    deleted: false,
  } as const
  const unit = (index: number, attributes: Attributes): SnapshotObject => {
    const id = idOf('orgUnit', index)
    return { id, objectType: 'orgUnit', externalId: id, attributes, deleted: false }
  }
  const units = (count: number, attributesOf: (index: number) => Attributes) =>
    Array.from({ length: count }, (_, index) => unit(index, attributesOf(index)))
  const led = { manager: to('identity')(1) }
  const below = (index: number): Attributes => (index === 0 ? led : { parent: to('orgUnit')(index - 1) })
  const positions = Array.from({ length: 2000 }, (_, index): SnapshotObject => {
    const id = idOf('relationship', index)
    const attributes = { identity: to('identity')(1), orgUnit: to('orgUnit')(0) }
    return { id, objectType: 'relationship', externalId: id, attributes, deleted: false }
  })
  const ledByBoss = (position: SnapshotObject): SnapshotObject => ({ ...position, attributes: led })
  for (const [claim, objects, isReported] of [
    ['leads 1999 units', units(1999, () => led), true],
    ['leads 2000 units', units(2000, () => led), false],
    ['has 1999 units below one', units(2000, (index) => (index === 0 ? led : { parent: to('orgUnit')(0) })), false],
    ['has eleven levels of units below one', units(12, below), true],
    ['has twelve levels of units below one', units(13, below), false],
    ['has 2000 positions', positions, false],
    ['leads 2000 positions', positions.map(ledByBoss), false],
    ['leads 1999 positions', positions.slice(1).map(ledByBoss), true],
    ['has 1999 positions', positions.slice(1), true],
    ['leads a unit of 2000 positions', [unit(0, led), ...positions], false],
  ] as const) {
    it(`${isReported ? 'does not yet' : 'does'}: ${claim}`, async () => {
      const tenantId = randomUUID()
      await write(tenantId, [boss, ...objects])
      const visible = await visibleByReferences(accountOf(1), tenantId, cold, NOW_MS)
      assert.equal(visible !== undefined, isReported)
    })
  }
})
