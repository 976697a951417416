import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { proofsTask } from '../../../shared/domain/criteria/proofs/prove-condition.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { timeZoneOf } from '../../../shared/kernel/time-zone.ts'
import { SCHEMA, SETTINGS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate, evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'
import { naiveStart } from '../../support/domain/criteria/naive-days.ts'
import { naiveMembers } from '../../support/domain/criteria/naive-evaluator.ts'

/** Clocks change around these dates: at two o'clock, at midnight, twice at midnight, and by a whole day. */
const CHANGES = {
  'Europe/Oslo': ['2030-03-30', '2030-03-31', '2030-04-01', '2030-10-26', '2030-10-27', '2030-10-28'],
  'America/Santiago': ['2023-09-02', '2023-09-03', '2023-09-04', '2024-04-06', '2024-04-07'],
  'America/Havana': ['2023-11-04', '2023-11-05', '2023-11-06', '2024-03-10'],
  'Pacific/Apia': ['2011-12-29', '2011-12-31', '2012-01-01'],
  'Asia/Kathmandu': ['2030-01-01', '2030-01-02'],
} as const
type Zone = keyof typeof CHANGES

const NO_MEMBERS = () => undefined

const leafOf = (dates: readonly string[]) => {
  const date = fc.constantFrom(...dates)
  const days = fc.constantFrom(-2, -1, 0, 1, 2)
  const time = fc.constantFrom('T00:00:00Z', 'T01:30:00Z', 'T05:00:00+01:00', 'T23:15:00Z')
  const instant = fc.oneof(
    date,
    fc.tuple(date, time).map((parts) => parts.join('')),
  )
  const name = fc.constantFrom('relationshipStartDate', 'relationshipEndDate')
  const field = fc.tuple(name, days, fc.nat(5)).map(([id, count, form]) => {
    return { id, field: form === 0 ? 'Today()' : form < 3 ? `AddDays(${id},${count})` : id }
  })
  const operator = fc.constantFrom(
    'Equals',
    'NotEquals',
    'GreaterThan',
    'GreaterThanOrEqual',
    'LessThan',
    'LessThanOrEqual',
  )
  const relative = days.map((count) => `AddDays(Today(),${count})`)
  const other = name.map((attribute) => ({ attribute }))
  const value = fc.oneof(instant, relative, fc.constant('Today()'), other)
  const compared = fc.tuple(field, operator, value).map(([of, by, what]) => ({ ...of, operator: by, value: what }))
  const active = { id: 'relationshipIsActive', field: 'relationshipIsActive', operator: 'Equals', value: true }
  return { instant, leaf: fc.oneof({ weight: 6, arbitrary: compared }, { weight: 1, arbitrary: fc.constant(active) }) }
}

const caseOf = (zone: Zone) => {
  const { instant, leaf } = leafOf(CHANGES[zone])
  const operator = fc.constantFrom('AND', 'OR', 'NOT', 'XOR')
  const group = fc.record({ groupOperator: operator, conditions: fc.array(leaf, { minLength: 1, maxLength: 5 }) })
  return fc.record({
    zone: fc.constant(zone),
    condition: group,
    // No day of evaluation lies beside one that a zone has left out, which proofs rely on.
    today: fc.constantFrom(...(zone === 'Pacific/Apia' ? ['2012-01-04'] : CHANGES[zone])),
    positions: fc.array(fc.record({ startDate: instant, endDate: instant }, { requiredKeys: [] }), {
      minLength: 3,
      maxLength: 12,
    }),
  })
}
const anyCase = fc.constantFrom(...(Object.keys(CHANGES) as Zone[])).chain(caseOf)

const position = (attributes: SnapshotObject['attributes'], index: number): SnapshotObject => {
  const id = `aaaaaaaa-0000-4000-8000-${String(index).padStart(12, '0')}`
  return { id, objectType: 'relationship', externalId: 'x', attributes, deleted: false }
}

/** By hand: `TIME_ZONE_CASES=50000`. */
const CASE_COUNT = Number(process.env.TIME_ZONE_CASES ?? 1500)

describe('Days of a time zone, where clocks change', () => {
  it('are those of the naive evaluator, and what is proved of them is so', () => {
    let [caseCount, provedCount] = [0, 0]
    const property = fc.property(anyCase, ({ zone, condition, today, positions }) => {
      caseCount += 1
      const check = checkCondition(condition, SCHEMA)
      if (!check.ok) return assert.fail(JSON.stringify(check))
      const { wire, root } = check.condition
      const objects = positions.map(position)
      const rows = new RowSnapshot(undefined, { ...SETTINGS, zone: timeZoneOf(zone) })
      rows.apply(objects)
      const context = { todayMs: naiveStart(today, zone), membersOf: NO_MEMBERS }
      const expected = naiveMembers(wire, SCHEMA, objects, 'Relationship', { ...context, zone })
      const compiled = compile({ wire, root })
      assert.deepEqual(evaluate(compiled, rows, 'Relationship', context), expected)
      const ids = objects.map(({ id }) => id)
      const oneByOne = evaluateObjects(compiled, rows, 'Relationship', ids, context)
      assert.deepEqual(
        ids.filter((id) => oneByOne.get(id)),
        expected,
      )
      for (const { code, pointer } of runToCompletion(proofsTask(root, timeZoneOf(zone)))) {
        if (pointer !== '') continue
        provedCount += 1
        assert.equal(expected.length, code === 'NeverHolds' ? 0 : ids.length, code)
      }
    })
    fc.assert(property, { numRuns: CASE_COUNT })
    assert.ok(provedCount >= Math.floor(caseCount / 50), `only ${provedCount} proofs`)
  })
})
