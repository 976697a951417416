import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { type ExplainedGroup, explainTask } from '../../../shared/domain/criteria/explain.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate, evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const CONTEXT = { todayMs: TODAY_MS, membersOf: () => undefined }

const object = (
  objectType: SnapshotObject['objectType'],
  id: string,
  attributes: SnapshotObject['attributes'] = {},
): SnapshotObject => ({ id, objectType, externalId: id, attributes, deleted: false })
const position = (id: string, identity: string, type: string, orgUnit = 'north') =>
  object('relationship', id, { type, identity: { objectId: identity }, orgUnit: { objectId: orgUnit } })

/** Kari is employed and a student, Ola a student, Per has no position. Kari leads the north. */
const ROWS = new RowSnapshot()
ROWS.apply([
  object('identity', 'kari', { displayName: 'Kari', email: 'Kari' }),
  object('identity', 'ola', { displayName: 'Ola', email: 'x' }),
  object('identity', 'per', { displayName: 'Per' }),
  object('orgUnit', 'north', { manager: { objectId: 'kari' }, deputies: [{ objectId: 'ola' }] }),
  object('orgUnit', 'south'),
  position('kari-employee', 'kari', 'employee'),
  position('kari-student', 'kari', 'student', 'south'),
  position('ola-student', 'ola', 'student'),
])

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: object[]) => ({ groupOperator, conditions })
const anyPosition = (...conditions: object[]) => ({ ...group('AND', ...conditions), over: 'AnyPosition' })
const EMPLOYEE = leaf('relationshipType', 'Equals', 'employee')

function checked(input: object) {
  const check = checkCondition(input, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition
}
const membersOf = (input: object, type: 'Identity' | 'Relationship' | 'OrgUnit') =>
  evaluate(compile(checked(input)), ROWS, type, CONTEXT)
const explained = (input: object, rows: readonly (readonly [number, number, number])[]): ExplainedGroup[] => {
  const asked = rows.map((row) => ({ row, showsSensitive: true }))
  return runToCompletion(explainTask(checked(input), ROWS, asked, CONTEXT, { showsCondition: true }))
}

describe('A group over any position', () => {
  it('holds on all rows of a person of which one satisfies it', () => {
    assert.deepEqual(membersOf(anyPosition(EMPLOYEE), 'Relationship'), ['kari-employee', 'kari-student'])
    assert.deepEqual(membersOf(group('NOT', anyPosition(EMPLOYEE)), 'Identity'), ['ola', 'per'])
    assert.deepEqual(membersOf(group('NOT', EMPLOYEE), 'Identity'), ['kari', 'ola', 'per'])
  })

  it('holds on no row without a person', () => {
    const always = anyPosition(leaf('relationshipTitle', 'IsNull'))
    assert.deepEqual(membersOf(always, 'OrgUnit'), ['north', 'south'])
    const empty = new RowSnapshot()
    empty.apply([object('orgUnit', 'alone')])
    assert.deepEqual(evaluate(compile(checked(always)), empty, 'OrgUnit', CONTEXT), [])
  })

  it('speaks of one position at a time', () => {
    const both = anyPosition(EMPLOYEE, leaf('orgUnitId', 'Equals', '00000000-0000-4000-8000-000000000000'))
    assert.deepEqual(membersOf(both, 'Identity'), [])
  })

  it('is explained on the position that decides', () => {
    const rows = [...ROWS.rowsOf('relationship', 'kari-student'), ...ROWS.rowsOf('relationship', 'ola-student')]
    const [kari, ola] = explained(group('NOT', anyPosition(EMPLOYEE)), rows).map(
      ({ conditions }) => conditions[0] as ExplainedGroup,
    )
    assert.deepEqual([kari?.holds, kari?.shownOn], [true, 'kari-employee'])
    assert.deepEqual(kari?.conditions, [{ ...EMPLOYEE, holds: true, actual: 'employee', decides: false }])
    assert.deepEqual([ola?.holds, ola?.shownOn], [false, 'ola-student'])
    assert.deepEqual(ola?.conditions, [{ ...EMPLOYEE, holds: false, actual: 'student', decides: true }])
    const [per] = explained(anyPosition(EMPLOYEE), ROWS.rowsOf('identity', 'per'))
    assert.deepEqual([per?.holds, per?.shownOn], [false, null])
  })
})

describe('An attribute as a value', () => {
  const manages = leaf('orgUnitManager', 'Equals', { attribute: 'identityId' })

  for (const [claim, condition, type, expected] of [
    ['the manager of the own unit', group('AND', manages), 'Identity', ['kari']],
    [
      'a deputy of the own unit',
      group('AND', leaf('orgUnitDeputies', 'Contains', { attribute: 'identityId' })),
      'Identity',
      ['ola'],
    ],
    [
      'texts after functions',
      group(
        'AND',
        leaf('identityDisplayName', 'Equals', { attribute: 'identityEmail' }, 'Substring(identityDisplayName,0,9)'),
      ),
      'Identity',
      ['kari'],
    ],
    [
      'a missing attribute under NotEquals',
      group('AND', leaf('identityDisplayName', 'NotEquals', { attribute: 'identityEmail' })),
      'Identity',
      ['ola', 'per'],
    ],
  ] as const) {
    it(`compares ${claim}`, () => {
      assert.deepEqual(membersOf(condition, type), expected)
      const each = evaluateObjects(compile(checked(condition)), ROWS, type, ['kari', 'ola', 'per'], CONTEXT)
      assert.deepEqual(
        [...each].flatMap(([id, isMember]) => (isMember ? [id] : [])),
        expected,
      )
    })
  }

  it('is explained with both values', () => {
    const [row] = explained(group('AND', manages), ROWS.rowsOf('relationship', 'ola-student'))
    const shown = { holds: false, actual: 'kari', compared: 'ola', decides: true }
    assert.deepEqual(row?.conditions, [{ ...manages, ...shown }])
  })

  it('finds values that come later', () => {
    const rows = new RowSnapshot()
    rows.apply([object('identity', 'a', { displayName: 'Ann', email: 'other' })])
    const compiled = compile(
      checked(group('AND', leaf('identityDisplayName', 'Equals', { attribute: 'identityEmail' }))),
    )
    assert.deepEqual(evaluate(compiled, rows, 'Identity', CONTEXT), [])
    rows.apply([object('identity', 'a', { displayName: 'Ann', email: 'Ann' })])
    assert.deepEqual(evaluate(compiled, rows, 'Identity', CONTEXT), ['a'])
  })
})
