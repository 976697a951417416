import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  conditionOf,
  type EditedGroup,
  editedGroup,
  isComplete,
  newGroup,
  newLeaf,
  withMovedChild,
  withoutChild,
} from '../../functions/console/condition/condition-tree.ts'
import { GROUP_OPERATORS, OPERATORS, type WireGroup } from '../../shared/domain/criteria/condition.ts'

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean())
const PLAIN = { noNullPrototype: true }
const leaf = fc
  .record(
    {
      id: fc.string(),
      field: fc.string(),
      operator: fc.constantFrom(...OPERATORS),
      value: fc.oneof(scalar, fc.array(scalar)),
    },
    PLAIN,
  )
  .map(({ value, ...rest }) => (rest.operator === 'IsNull' ? rest : { ...rest, value }))
const { group } = fc.letrec<{ group: WireGroup; node: WireGroup['conditions'][number] }>((tie) => ({
  group: fc.record(
    {
      groupOperator: fc.constantFrom(...GROUP_OPERATORS),
      conditions: fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
    },
    PLAIN,
  ),
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('group')),
}))

describe('The tree of the condition builder', () => {
  it('saves an opened condition unchanged', () => {
    fc.assert(fc.property(group, (wire) => assert.deepEqual(conditionOf(editedGroup(wire)), wire)))
  })

  it('moves a child within its group, and leaves the first and the last one in place', () => {
    const [first, second] = [newLeaf(), newLeaf()]
    const tree: EditedGroup = { ...newGroup(), children: [first, second] }
    assert.deepEqual(withMovedChild(tree, 0, 1).children, [second, first])
    assert.equal(withMovedChild(tree, 0, -1), tree)
    assert.equal(withMovedChild(tree, 1, 1), tree)
    assert.deepEqual(withoutChild(tree, 0).children, [second])
  })

  it('is complete when each leaf has an attribute and a value', () => {
    const withLeaf = (change: object): EditedGroup => ({ ...newGroup(), children: [{ ...newLeaf(), ...change }] })
    assert.equal(isComplete(newGroup()), false)
    assert.equal(isComplete(withLeaf({ id: 'a' })), false)
    assert.equal(isComplete(withLeaf({ id: 'a', value: '' })), true)
    assert.equal(isComplete(withLeaf({ id: 'a', operator: 'IsNull', value: '' })), true)
    assert.equal(isComplete(withLeaf({ id: 'a', operator: 'IsNull', value: { attribute: '' } })), true)
    assert.equal(isComplete(withLeaf({ id: 'a', value: { attribute: '' } })), false)
    assert.equal(isComplete(withLeaf({ id: 'a', value: false })), true)
    assert.equal(isComplete({ ...newGroup(), children: [] }), false)
  })
})
