import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { missingValuesTask } from '../../../shared/domain/criteria/missing-values.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const TODAY_MS = Date.parse('2030-03-01T00:00:00Z')
const NAME = 'identityDisplayName'

const person = (displayName: string, deleted = false) => ({
  id: `id of ${displayName}`,
  objectType: 'identity' as const,
  externalId: displayName,
  attributes: { displayName },
  deleted,
})

function missingIn(rows: RowSnapshot): string[] {
  const conditions = [
    { id: NAME, field: NAME, operator: 'In', value: ['Ann', 'Bob', 'Cleo'] },
    { id: NAME, field: `ToUpper(${NAME})`, operator: 'Equals', value: 'BOB' },
  ]
  const check = checkCondition({ groupOperator: 'OR', conditions }, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  const task = missingValuesTask(check.condition, rows, TODAY_MS, () => true)
  return runToCompletion(task).map(({ value, pointer }) => `${value} ${pointer}`)
}

describe('The values of a condition that no object has', () => {
  it('are those that only deleted objects have as well', () => {
    const rows = new RowSnapshot()
    rows.apply([person('Ann'), person('Bob')])
    assert.deepEqual(missingIn(rows), ['Cleo /conditions/0/value/2'])
    rows.apply([person('Bob', true)])
    assert.deepEqual(missingIn(rows), [
      'Bob /conditions/0/value/1',
      'Cleo /conditions/0/value/2',
      'BOB /conditions/1/value',
    ])
  })
})
