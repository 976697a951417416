import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Attributes, ObjectType } from '../../../shared/domain/core/core-object.ts'
import { OrgChart } from '../../../shared/domain/tenant-index/org-chart.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/row-snapshot.ts'

const NOW_MS = Date.parse('2030-06-15T13:00:00Z')
const ref = (objectId: string) => ({ objectId })

function peopleOf(objects: readonly (readonly [ObjectType, string, Attributes?, 'deleted'?])[]): OrgChart {
  const rows = new RowSnapshot()
  rows.apply(
    objects.map(([objectType, id, attributes = {}, deleted]) => ({
      id,
      objectType,
      externalId: id,
      attributes,
      deleted: deleted !== undefined,
    })),
  )
  return new OrgChart(rows, NOW_MS)
}

describe('positions', () => {
  for (const [claim, attributes, expected] of [
    ['is active without dates', {}, true],
    ['is active on its last day', { endDate: '2030-06-15' }, true],
    ['has ended the day after', { endDate: '2030-06-14' }, false],
    ['counts already before it begins', { startDate: '2031-01-01' }, true],
  ] as const) {
    it(claim, () => {
      const people = peopleOf([
        ['identity', 'p'],
        ['relationship', 'r', { identity: ref('p'), ...attributes }],
      ])
      assert.equal(people.isActive('r'), expected)
      assert.deepEqual(people.activePositionsOf('p'), expected ? ['r'] : [])
      assert.deepEqual(people.positionsOf('p'), ['r'])
    })
  }

  it('has the primary as the main one while it is active, else the only active one, else none', () => {
    const held = { identity: ref('p') }
    const past = { ...held, endDate: '2030-01-01' }
    const mainOf = (primary: Attributes, second: Attributes) =>
      peopleOf([
        ['identity', 'p', { primaryRelationship: ref('r1') }],
        ['relationship', 'r1', primary],
        ['relationship', 'r2', second],
        ['relationship', 'r3', past],
      ]).mainPositionOf('p')
    assert.equal(mainOf(held, held), 'r1')
    assert.equal(mainOf(past, held), 'r2')
    assert.equal(mainOf(past, past), undefined)
    assert.equal(mainOf({ identity: ref('someone else') }, held), 'r2')
  })

  it('finds an identity by its account, whatever the case; a deleted one not, of several the lowest id', () => {
    const people = peopleOf([
      ['identity', 'b', { directoryObjectId: 'ABC' }],
      ['identity', 'a', { directoryObjectId: 'abc' }],
      ['identity', 'c', { directoryObjectId: 'def' }],
      ['identity', 'c', {}, 'deleted'],
    ])
    assert.equal(people.identityOfAccount('Abc'), 'a')
    assert.equal(people.identityOfAccount('def'), undefined)
    assert.equal(people.identityOfAccount('none'), undefined)
  })
})

describe('managers', () => {
  const tree = [
    ['identity', 'top'],
    ['identity', 'head'],
    ['identity', 'worker'],
    ['identity', 'gone', {}, 'deleted'],
    ['orgUnit', 'root', { manager: ref('top') }],
    ['orgUnit', 'middle', { parent: ref('root') }],
    ['orgUnit', 'leaf', { parent: ref('middle'), manager: ref('head') }],
    ['orgUnit', 'below', { parent: ref('leaf'), manager: ref('gone') }],
    ['orgUnit', 'island', { parent: ref('peninsula') }],
    ['orgUnit', 'peninsula', { parent: ref('island') }],
  ] as const
  for (const [claim, holder, attributes, expected] of [
    ["is the position's own", 'worker', { manager: ref('top'), orgUnit: ref('leaf') }, ['top']],
    ["is the unit's where the position has none", 'worker', { orgUnit: ref('leaf') }, ['head']],
    ['is found up the tree', 'worker', { orgUnit: ref('middle') }, ['top']],
    ['is not a deleted one', 'worker', { manager: ref('gone'), orgUnit: ref('below') }, ['head']],
    ['is the next one up for the manager of the unit', 'head', { orgUnit: ref('leaf') }, ['top']],
    ['is never oneself, named at the position', 'head', { manager: ref('head'), orgUnit: ref('leaf') }, ['top']],
    ['is nobody at the very top', 'top', { orgUnit: ref('root') }, []],
    ['is nobody without a unit', 'worker', {}, []],
    ['is nobody in a circle of units', 'worker', { orgUnit: ref('island') }, []],
  ] as const) {
    it(claim, () => {
      const people = peopleOf([...tree, ['relationship', 'r', { identity: ref(holder), ...attributes }]])
      assert.deepEqual([...people.managersOf(holder, 'r')], expected)
      assert.deepEqual([...people.managersOf(holder, null)], expected)
      for (const manager of expected) {
        assert.ok(people.isManagerOf(manager, holder))
        assert.ok(people.reportsOf(manager).includes(holder))
      }
    })
  }

  it('are those of all active positions where there is no main one', () => {
    const people = peopleOf([
      ...tree,
      ['relationship', 'r1', { identity: ref('worker'), manager: ref('head') }],
      ['relationship', 'r2', { identity: ref('worker'), manager: ref('top') }],
      ['relationship', 'r3', { identity: ref('worker'), manager: ref('worker'), endDate: '2030-01-01' }],
    ])
    assert.deepEqual([...people.managersOf('worker', null)].sort(), ['head', 'top'])
    assert.deepEqual([...people.managersOf('worker', 'r1')], ['head'])
  })

  it('know all their reports: whoever they would decide for is among them', () => {
    const ids = (prefix: string, count: number) => fc.integer({ min: 0, max: count - 1 }).map((index) => prefix + index)
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
    const units = fc.array(fc.record({ parent: maybe(ids('u', 6)), manager: maybe(ids('p', 5)) }), { maxLength: 6 })
    const positions = fc.array(
      fc.record({ identity: ids('p', 5), orgUnit: maybe(ids('u', 6)), manager: maybe(ids('p', 5)) }),
      { maxLength: 8 },
    )
    const references = (record: Readonly<Record<string, string | undefined>>): Attributes =>
      Object.fromEntries(Object.entries(record).flatMap(([name, id]) => (id === undefined ? [] : [[name, ref(id)]])))
    fc.assert(
      fc.property(units, positions, (someUnits, somePositions) => {
        const people = peopleOf([
          ...[0, 1, 2, 3, 4].map((index) => ['identity', `p${index}`] as const),
          ...someUnits.map((unit, index) => ['orgUnit', `u${index}`, references(unit)] as const),
          ...somePositions.map((position, index) => ['relationship', `r${index}`, references(position)] as const),
        ])
        for (const [index, { identity }] of somePositions.entries()) {
          for (const manager of people.managersOf(identity, `r${index}`)) {
            assert.ok(people.reportsOf(manager).includes(identity), `${manager} for ${identity}`)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})
