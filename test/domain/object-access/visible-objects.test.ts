import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Attributes, ObjectType } from '../../../shared/domain/core/core-object.ts'
import { ObjectAccessResolver } from '../../../shared/domain/object-access/object-access.ts'
import type { CoreObjectReferences } from '../../../shared/domain/object-access/visible-by-references.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { user } from '../../support/api/core-data-service.ts'

/** Enough for trees of some depth, and few enough that the same one is often named twice. */
const OBJECTS_PER_TYPE_COUNT = 7
const TYPES = ['identity', 'orgUnit', 'relationship'] as const
const TENANT_ID = randomUUID()

const idOf = (type: ObjectType, index: number): string =>
  `${TYPES.indexOf(type)}0000000-0000-4000-8000-00000000000${index}`
const accountOf = (index: number): string => `a0000000-0000-4000-8000-00000000000${index}`
const anyIndex = fc.nat({ max: OBJECTS_PER_TYPE_COUNT - 1 })
const anyReference = (type: ObjectType) => anyIndex.map((index) => ({ objectId: idOf(type, index) }))
const now = () => Date.parse('2030-06-01T08:00:00Z')
const anyDate = fc.constantFrom('2020-01-01', '2030-05-31', '2030-06-01', '2040-01-01')

/** Any parents: circles and units that are their own parent among them. */
const anyAttributes: Record<ObjectType, fc.Arbitrary<Attributes>> = {
  identity: fc.record({ directoryObjectId: anyIndex.map(accountOf), displayName: fc.string() }, { requiredKeys: [] }),
  orgUnit: fc.record(
    {
      parent: anyReference('orgUnit'),
      manager: anyReference('identity'),
      deputies: fc.array(anyReference('identity'), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
  relationship: fc.record(
    {
      identity: anyReference('identity'),
      orgUnit: anyReference('orgUnit'),
      manager: anyReference('identity'),
      startDate: anyDate,
      endDate: anyDate,
    },
    { requiredKeys: [] },
  ),
}

const anyObject: fc.Arbitrary<SnapshotObject> = fc
  .tuple(fc.constantFrom(...TYPES), anyIndex, fc.nat({ max: 5 }))
  .chain(([objectType, index, chance]) =>
    anyAttributes[objectType].map((attributes) => {
      const id = idOf(objectType, index)
      return { id, objectType, externalId: id, attributes, deleted: chance === 0 }
    }),
  )
const anyWrites = fc.array(fc.array(anyObject, { maxLength: 12 }), { minLength: 1, maxLength: 5 })

type Reference = { readonly objectId: string } | undefined
const refersTo = (object: SnapshotObject, attribute: string): string | undefined =>
  (object.attributes[attribute] as Reference)?.objectId

/** What a `User` can see, step by step, over a list of objects. */
function naivelyVisible(account: string, objects: readonly SnapshotObject[]): string[] {
  const live = objects.filter(({ deleted }) => !deleted)
  const [units, positions] = ['orgUnit', 'relationship'].map((type) => live.filter((each) => each.objectType === type))
  const mine = live.filter(({ attributes }) => attributes.directoryObjectId === account).map(({ id }) => id)
  const [self] = mine.sort()
  if (self === undefined || units === undefined || positions === undefined) return []
  const isLed = (unit: SnapshotObject): boolean =>
    refersTo(unit, 'manager') === self ||
    ((unit.attributes.deputies ?? []) as { objectId: string }[]).some(({ objectId }) => objectId === self)
  const delegated = new Set(units.filter(isLed).map(({ id }) => id))
  for (const _ of units)
    for (const unit of units) if (delegated.has(refersTo(unit, 'parent') ?? '')) delegated.add(unit.id)
  const own = positions.filter((position) => refersTo(position, 'identity') === self)
  const held = positions.filter((position) => delegated.has(refersTo(position, 'orgUnit') ?? ''))
  const isActive = ({ attributes: { endDate } }: SnapshotObject) =>
    endDate === undefined || String(endDate) >= '2030-06-01'
  const reports = positions.filter((position) => refersTo(position, 'manager') === self && isActive(position))
  const visible = new Set([self, ...delegated])
  for (const position of own) visible.add(position.id).add(refersTo(position, 'orgUnit') ?? '')
  for (const position of [...held, ...reports]) visible.add(position.id).add(refersTo(position, 'identity') ?? '')
  return live
    .map(({ id }) => id)
    .filter((id) => visible.has(id))
    .sort()
}

/** Rows that are written to group by group, each group in place or in a fork, with everything that was written. */
function* written(groups: readonly (readonly SnapshotObject[])[]) {
  let rows = new RowSnapshot()
  const objects = new Map<string, SnapshotObject>()
  for (const [index, group] of groups.entries()) {
    if (index % 2 === 1) rows = rows.forked()
    rows.apply(group)
    for (const object of group) objects.set(object.id, object)
    yield { rows, objects: [...objects.values()] }
  }
}

describe('the object access of a user', () => {
  it('follows the rule after each change, with cycles of parents of any length', async () => {
    await fc.assert(
      fc.asyncProperty(anyWrites, async (groups) => {
        let current = new RowSnapshot()
        const objectAccess = new ObjectAccessResolver(async () => current, now)
        for (const { rows, objects } of written(groups)) {
          current = rows
          for (let index = 0; index < OBJECTS_PER_TYPE_COUNT; index += 1) {
            const expected = naivelyVisible(accountOf(index), objects)
            // Twice: worked out, and looked up.
            for (let time = 0; time < 2; time += 1) {
              const access = await objectAccess.of(user(TENANT_ID, accountOf(index), 'User'))
              assert.ok(access !== 'all')
              const listed = TYPES.flatMap((type) => access.idsAfter(type, undefined, 100))
              assert.deepEqual(listed, expected)
              assert.deepEqual(
                objects
                  .filter((object) => access.has(object))
                  .map(({ id }) => id)
                  .sort(),
                expected,
              )
              assert.equal(
                TYPES.reduce((sum, type) => sum + access.count(type), 0),
                expected.length,
              )
            }
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('ends with the day of a position, without a write', async () => {
    const rows = new RowSnapshot()
    const [boss, report, position] = [idOf('identity', 0), idOf('identity', 1), idOf('relationship', 0)]
    const relation = { manager: { objectId: boss }, identity: { objectId: report }, endDate: '2030-06-01' }
    const live = { externalId: '', deleted: false }
    rows.apply([
      { ...live, id: boss, objectType: 'identity', attributes: { directoryObjectId: accountOf(0) } },
      { ...live, id: report, objectType: 'identity', attributes: {} },
      { ...live, id: position, objectType: 'relationship', attributes: relation },
    ])
    let nowMs = Date.parse('2030-06-01T23:59:59Z')
    const objectAccess = new ObjectAccessResolver(
      async () => rows,
      () => nowMs,
    )
    const identities = async () => {
      const access = await objectAccess.of(user(TENANT_ID, accountOf(0), 'User'))
      return access === 'all' ? access : access.idsAfter('identity', undefined, 10)
    }
    assert.deepEqual(await identities(), [boss, report])
    nowMs = Date.parse('2030-06-02T00:00:00Z')
    assert.deepEqual(await identities(), [boss])
  })

  it('is paged with each id once, from any start', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 40 }),
        fc.uuid(),
        fc.integer({ min: 1, max: 9 }),
        async (ids, stranger, size) => {
          const rows = new RowSnapshot()
          const boss = {
            id: randomUUID(),
            objectType: 'identity',
            externalId: 'boss',
            attributes: { directoryObjectId: accountOf(1) },
            deleted: false,
          } as const
          const unit = (id: string, manager: string) =>
            ({
              id,
              objectType: 'orgUnit',
              externalId: id,
              attributes: { manager: { objectId: manager } },
              deleted: false,
            }) as const
          // In two groups: what comes later has its place in the order all the same.
          rows.apply([boss, ...ids.slice(0, 20).map((id) => unit(id, boss.id)), unit(randomUUID(), randomUUID())])
          const early = await new ObjectAccessResolver(async () => rows, now).of(user(TENANT_ID, accountOf(1), 'User'))
          assert.ok(early !== 'all')
          assert.deepEqual(early.idsAfter('orgUnit', undefined, 100), ids.slice(0, 20).sort())
          rows.apply(ids.slice(20).map((id) => unit(id, boss.id)))
          const access = await new ObjectAccessResolver(async () => rows, now).of(user(TENANT_ID, accountOf(1), 'User'))
          assert.ok(access !== 'all')
          const sorted = [...ids].sort()
          const read: string[] = []
          for (
            let page = access.idsAfter('orgUnit', undefined, size);
            page.length > 0;
            page = access.idsAfter('orgUnit', page.at(-1), size)
          )
            read.push(...page)
          assert.deepEqual(read, sorted)
          assert.deepEqual(
            access.idsAfter('orgUnit', stranger, 100),
            sorted.filter((id) => id > stranger),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('is computed again only after a change', async () => {
    const rows = new RowSnapshot()
    const unit = {
      id: idOf('orgUnit', 1),
      objectType: 'orgUnit',
      externalId: 'u',
      attributes: { displayName: 'Unit' },
      deleted: false,
    } as const
    rows.apply([unit])
    let current = rows
    const objectAccess = new ObjectAccessResolver(async () => current, now)
    const caller = user(TENANT_ID, accountOf(1), 'User')
    const first = await objectAccess.of(caller)
    rows.apply([unit])
    assert.equal(await objectAccess.of(caller), first)
    current = rows.forked()
    assert.equal(await objectAccess.of(caller), first)
    current.apply([{ ...unit, attributes: { displayName: 'Other' } }])
    assert.notEqual(await objectAccess.of(caller), first)
  })

  it('comes from the database while no rows are in memory, and the hundredth call starts loading them', async () => {
    const rows = new RowSnapshot()
    let isHeld = false
    const loaded: string[] = []
    const objectAccess = new ObjectAccessResolver(
      async () => {
        assert.ok(isHeld, 'the call waited for the rows')
        return rows
      },
      now,
      {
        holds: () => isHeld,
        load: (tenantId) => void loaded.push(tenantId),
        references: { identitiesOfAccount: async () => [] } as unknown as CoreObjectReferences,
        settings: { of: async () => DEFAULT_ROW_SETTINGS },
      },
    )
    const callers = [user(TENANT_ID, accountOf(1), 'User'), user(randomUUID(), accountOf(1), 'User')] as const
    for (let call = 1; call <= 99; call += 1) for (const caller of callers) await objectAccess.of(caller)
    assert.deepEqual(loaded, [])
    await objectAccess.of(callers[0])
    assert.deepEqual(loaded, [TENANT_ID])
    isHeld = true
    for (let call = 1; call <= 200; call += 1) await objectAccess.of(callers[0])
    assert.deepEqual(loaded, [TENANT_ID])
  })

  it('is cached for the last hundred callers', async () => {
    const rows = new RowSnapshot()
    const objectAccess = new ObjectAccessResolver(async () => rows, now)
    const of = (account: number) => objectAccess.of(user(TENANT_ID, String(account), 'User'))
    const first = await of(0)
    for (let account = 1; account < 100; account += 1) await of(account)
    assert.equal(await of(0), first)
    const second = await of(1)
    for (let account = 100; account < 199; account += 1) await of(account)
    assert.equal(await of(1), second)
    assert.notEqual(await of(0), first)
  })
})
