import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { explainTask } from '../../../shared/domain/criteria/explain.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { evaluate } from '../../support/domain/criteria/evaluate-at-once.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const DAY_MS = 24 * 60 * 60 * 1000
const TODAY_MS = Date.parse('2030-03-01T00:00:00Z')
const contextOn = (todayMs: number) => ({ todayMs, membersOf: () => undefined })

const guid = (kind: string, index: number) => `${kind.repeat(8)}-0000-4000-8000-${String(index).padStart(12, '0')}`
const [ROOT, NORTH, SOUTH, TEAM] = [guid('b', 0), guid('b', 1), guid('b', 2), guid('b', 3)] as const
const [KARI, OLA] = [guid('a', 0), guid('a', 1)] as const
const to = (objectId: string) => ({ objectId })
const object = (
  objectType: SnapshotObject['objectType'],
  id: string,
  attributes: SnapshotObject['attributes'] = {},
): SnapshotObject => ({ id, objectType, externalId: id, attributes, deleted: false })
const leaf = (id: string, operator: string, value?: unknown) => ({ id, field: id, operator, value })

/** The root has two parts; the team is in the north. Kari leads the north and is deputy in the south. */
function company(): RowSnapshot {
  const rows = new RowSnapshot()
  rows.apply([
    object('orgUnit', ROOT),
    object('orgUnit', NORTH, { parent: to(ROOT), manager: to(KARI) }),
    object('orgUnit', SOUTH, { parent: to(ROOT), deputies: [to(KARI)] }),
    object('orgUnit', TEAM, { parent: to(NORTH) }),
    object('identity', KARI, { primaryRelationship: to('kari-now') }),
    object('identity', OLA),
    object('relationship', 'kari-now', { identity: to(KARI), orgUnit: to(NORTH) }),
    object('relationship', 'kari-past', { identity: to(KARI), orgUnit: to(SOUTH), endDate: '2030-02-28' }),
    object('relationship', 'ola', { identity: to(OLA), orgUnit: to(TEAM), endDate: '2030-03-01' }),
  ])
  return rows
}

const checked = (node: object) => {
  const check = checkCondition({ groupOperator: 'AND', conditions: [node] }, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition
}
const membersOf = (
  rows: RowSnapshot,
  node: object,
  type: 'Identity' | 'Relationship' | 'OrgUnit',
  todayMs = TODAY_MS,
) => evaluate(compile(checked(node)), rows, type, contextOn(todayMs))

describe('An attribute that follows from others', () => {
  for (const [claim, node, type, expected] of [
    [
      'this unit and all below it',
      leaf('orgUnitWithAncestors', 'Contains', NORTH),
      'Relationship',
      ['kari-now', 'ola'],
    ],
    ['the units themselves', leaf('orgUnitWithAncestors', 'Contains', NORTH), 'OrgUnit', [NORTH, TEAM]],
    ['outside of a unit', leaf('orgUnitWithAncestors', 'NotContains', NORTH), 'Relationship', ['kari-past']],
    ['active positions', leaf('relationshipIsActive', 'Equals', true), 'Relationship', ['kari-now', 'ola']],
    ['ended positions', leaf('relationshipIsActive', 'Equals', false), 'Relationship', ['kari-past']],
    ['main positions', leaf('relationshipIsPrimary', 'Equals', true), 'Relationship', ['kari-now']],
    ['other positions', leaf('relationshipIsPrimary', 'NotEquals', true), 'Relationship', ['kari-past', 'ola']],
    ['the manager of a unit', leaf('identityManagedOrgUnits', 'Contains', NORTH), 'Identity', [KARI]],
    [
      'all managers',
      { groupOperator: 'NOT', conditions: [leaf('identityManagedOrgUnits', 'IsNull')] },
      'Identity',
      [KARI],
    ],
    ['a deputy', leaf('identityDeputyOfOrgUnits', 'Contains', SOUTH), 'Identity', [KARI]],
    [
      'the manager of the own unit',
      leaf('identityManagedOrgUnits', 'Contains', { attribute: 'relationshipOrgUnit' }),
      'Relationship',
      ['kari-now'],
    ],
  ] as const) {
    it(`finds ${claim}`, () => assert.deepEqual(membersOf(company(), node, type), expected))
  }

  it('depends on the day where it is about active positions', () => {
    assert.deepEqual(
      membersOf(company(), leaf('relationshipIsActive', 'Equals', true), 'Relationship', TODAY_MS + DAY_MS),
      ['kari-now'],
    )
  })

  it('follows a unit that moves, with all that is below it, and names only these and the positions of their leaders as changed', () => {
    const rows = company()
    const { changed, attributes } = rows.apply([object('orgUnit', NORTH, { parent: to(SOUTH), manager: to(KARI) })])
    assert.deepEqual([...changed.relationship].sort(), ['kari-now', 'kari-past', 'ola'])
    assert.deepEqual([...changed.orgUnit].sort(), [NORTH, SOUTH, TEAM])
    assert.ok(attributes.has('orgUnitParent'))
    assert.deepEqual(membersOf(rows, leaf('orgUnitWithAncestors', 'Contains', SOUTH), 'OrgUnit'), [NORTH, SOUTH, TEAM])
    rows.apply([{ ...object('orgUnit', NORTH), deleted: true }])
    assert.deepEqual(membersOf(rows, leaf('orgUnitWithAncestors', 'Contains', SOUTH), 'OrgUnit'), [SOUTH])
  })

  it('names the former and the new manager of a unit as changed', () => {
    const rows = company()
    const { changed } = rows.apply([object('orgUnit', NORTH, { parent: to(ROOT), manager: to(OLA) })])
    assert.deepEqual([...changed.identity].sort(), [KARI, OLA])
  })

  it('moves 10,000 people in many small steps', () => {
    const rows = company()
    const people = Array.from({ length: 10_000 }, (_, index) =>
      object('relationship', `p${index}`, { orgUnit: to(guid('f', index % 100)) }),
    )
    const units = Array.from({ length: 100 }, (_, index) => object('orgUnit', guid('f', index), { parent: to(TEAM) }))
    rows.apply([...units, ...people])
    let stepCount = 0
    const task = rows.applyTask([object('orgUnit', TEAM, { parent: to(SOUTH) })])
    let step = task.next()
    for (; step.done !== true; step = task.next()) stepCount += 1
    assert.ok(stepCount > 100)
    // Those that are moved, that of the team, and both of the manager above.
    assert.equal(step.value.changed.relationship.size, 10_003)
  })

  it('is explained by its value', () => {
    const rows = company()
    const [row] = rows.rowsOf('relationship', 'ola').map((row) => ({ row: row, showsSensitive: true }))
    const explained = (node: object) =>
      runToCompletion(
        explainTask(checked(node), rows, row ? [row] : [], contextOn(TODAY_MS), { showsCondition: true }),
      )[0]?.conditions[0]
    const inNorth = leaf('orgUnitWithAncestors', 'Contains', SOUTH)
    assert.deepEqual(explained(inNorth), { ...inNorth, holds: false, actual: [ROOT, NORTH, TEAM], decides: true })
    const active = leaf('relationshipIsActive', 'Equals', true)
    assert.deepEqual(explained(active), { ...active, holds: true, actual: true, decides: true })
  })
})
