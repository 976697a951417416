import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Attributes, ObjectType } from '../../../shared/domain/core/core-object.ts'
import { OrgChart } from '../../../shared/domain/tenant-index/rows/org-chart.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'

const NOW_MS = Date.parse('2030-06-15T13:00:00Z')
const ref = (objectId: string) => ({ objectId })

function orgChartOf(objects: readonly (readonly [ObjectType, string, Attributes?, 'deleted'?])[]): OrgChart {
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
    ['are active without dates', {}, true],
    ['are active on their last day', { endDate: '2030-06-15' }, true],
    ['have ended the day after', { endDate: '2030-06-14' }, false],
    ['are active before their start date', { startDate: '2031-01-01' }, true],
  ] as const) {
    it(claim, () => {
      const orgChart = orgChartOf([
        ['identity', 'p'],
        ['relationship', 'r', { identity: ref('p'), ...attributes }],
      ])
      assert.equal(orgChart.isActive('r'), expected)
      assert.deepEqual(orgChart.activePositionsOf('p'), expected ? ['r'] : [])
      assert.deepEqual(orgChart.positionsOf('p'), ['r'])
    })
  }

  it('include a main position: the primary if active, else the only active one, else none', () => {
    const held = { identity: ref('p') }
    const past = { ...held, endDate: '2030-01-01' }
    const mainOf = (primary: Attributes, second: Attributes) =>
      orgChartOf([
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

  it('belong to an identity found by account in any case: live, and of several the one with the lowest id', () => {
    const orgChart = orgChartOf([
      ['identity', 'b', { directoryObjectId: 'ABC' }],
      ['identity', 'a', { directoryObjectId: 'abc' }],
      ['identity', 'c', { directoryObjectId: 'def' }],
      ['identity', 'c', {}, 'deleted'],
    ])
    assert.equal(orgChart.identityOfAccount('Abc'), 'a')
    assert.equal(orgChart.identityOfAccount('def'), undefined)
    assert.equal(orgChart.identityOfAccount('none'), undefined)
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
    ["include the position's own", 'worker', { manager: ref('top'), orgUnit: ref('leaf') }, ['top']],
    ["include the unit's when the position has none", 'worker', { orgUnit: ref('leaf') }, ['head']],
    ['are found up the tree', 'worker', { orgUnit: ref('middle') }, ['top']],
    ['exclude deleted identities', 'worker', { manager: ref('gone'), orgUnit: ref('below') }, ['head']],
    ['of the manager of the unit are the next one up', 'head', { orgUnit: ref('leaf') }, ['top']],
    [
      'never include the holder, even when named at the position',
      'head',
      { manager: ref('head'), orgUnit: ref('leaf') },
      ['top'],
    ],
    ['are none at the top', 'top', { orgUnit: ref('root') }, []],
    ['are none without a unit', 'worker', {}, []],
    ['are none in a cycle of units', 'worker', { orgUnit: ref('island') }, []],
  ] as const) {
    it(claim, () => {
      const orgChart = orgChartOf([...tree, ['relationship', 'r', { identity: ref(holder), ...attributes }]])
      assert.deepEqual([...orgChart.managersOf(holder, 'r')], expected)
      assert.deepEqual([...orgChart.managersOf(holder, null)], expected)
      for (const manager of expected) {
        assert.ok(orgChart.isManagerOf(manager, holder))
        assert.ok(orgChart.reportsOf(manager).includes(holder))
      }
    })
  }

  it('are those of all active positions when there is no main position', () => {
    const orgChart = orgChartOf([
      ...tree,
      ['relationship', 'r1', { identity: ref('worker'), manager: ref('head') }],
      ['relationship', 'r2', { identity: ref('worker'), manager: ref('top') }],
      ['relationship', 'r3', { identity: ref('worker'), manager: ref('worker'), endDate: '2030-01-01' }],
    ])
    assert.deepEqual([...orgChart.managersOf('worker', null)].sort(), ['head', 'top'])
    assert.deepEqual([...orgChart.managersOf('worker', 'r1')], ['head'])
  })

  it('have a report list that includes everyone they may decide for', () => {
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
        const orgChart = orgChartOf([
          ...[0, 1, 2, 3, 4].map((index) => ['identity', `p${index}`] as const),
          ...someUnits.map((unit, index) => ['orgUnit', `u${index}`, references(unit)] as const),
          ...somePositions.map((position, index) => ['relationship', `r${index}`, references(position)] as const),
        ])
        for (const [index, { identity }] of somePositions.entries()) {
          for (const manager of orgChart.managersOf(identity, `r${index}`)) {
            assert.ok(orgChart.reportsOf(manager).includes(identity), `${manager} for ${identity}`)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})
