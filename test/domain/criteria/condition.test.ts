import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import {
  attributesRead,
  type CheckedCondition,
  collectionsReferredTo,
  dependsOnDay,
} from '../../../shared/domain/criteria/condition.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const [ONE, TWO] = ['11111111-1111-4111-8111-111111111111', 'AAAAAAAA-1111-4111-8111-111111111111']
const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })

function checked(...conditions: unknown[]): CheckedCondition {
  const check = checkCondition({ groupOperator: 'OR', conditions: [{ groupOperator: 'NOT', conditions }] }, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition
}

describe('What a condition depends on', () => {
  it('collections, by all the ids it names', () => {
    const condition = checked(
      leaf('memberOfCollection', 'In', [ONE, TWO]),
      leaf('memberOfCollection', 'NotEquals', ONE),
    )
    assert.deepEqual([...collectionsReferredTo(condition)], [ONE, TWO?.toLowerCase()])
    assert.equal(collectionsReferredTo(checked(leaf('identityId', 'Equals', ONE))).size, 0)
  })

  it('the day, in a value or as the field', () => {
    assert.equal(dependsOnDay(checked(leaf('relationshipEndDate', 'LessThan', 'AddDays(Today(),-30)'))), true)
    assert.equal(dependsOnDay(checked(leaf('relationshipEndDate', 'LessThan', '2024-01-01', 'Today()'))), true)
    assert.equal(dependsOnDay(checked(leaf('relationshipEndDate', 'LessThan', '2024-01-01'))), false)
    const ended = leaf('relationshipEndDate', 'LessThan', { attribute: 'relationshipStartDate' }, 'Today()')
    assert.equal(dependsOnDay(checked(ended)), true)
  })

  it('the attribute that is the value', () => {
    const condition = checked(leaf('identityEmail', 'Equals', { attribute: 'identityDisplayName' }))
    assert.deepEqual([...attributesRead(condition)].sort(), ['identityDisplayName', 'identityEmail'])
  })

  it('attributes, without the one that Today() stands in for', () => {
    const condition = checked(
      leaf('identityEmail', 'IsNull', undefined, 'ToUpper(identityEmail)'),
      leaf('assignedLicenses', 'Contains', ONE),
      leaf('relationshipEndDate', 'LessThan', '2024-01-01', 'Today()'),
      leaf('memberOfCollection', 'Equals', ONE),
    )
    assert.deepEqual([...attributesRead(condition)].sort(), ['assignedLicenses', 'identityEmail', 'memberOfCollection'])
  })
})
