import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { changedPart } from '../../functions/console/condition/changed-part.ts'
import { completePart, pointerInTree } from '../../functions/console/condition/complete-part.ts'
import { conditionIn } from '../../functions/console/condition/condition-in-text.ts'
import { editedGroup, newLeaf } from '../../functions/console/condition/condition-tree.ts'
import { editDistance, nearestExample } from '../../functions/console/condition/nearest-example.ts'
import { valueAt } from '../../functions/console/condition/value-at.ts'
import { csvOf } from '../../functions/console/csv.ts'
import type { WireGroup, WireLeaf } from '../../shared/domain/criteria/condition.ts'

const title = (value: string): WireLeaf => ({
  id: 'relationshipTitle',
  field: 'relationshipTitle',
  operator: 'Equals',
  value,
})
const all = (...conditions: WireGroup['conditions']): WireGroup => ({ groupOperator: 'AND', conditions })
const isKnown = (name: string): boolean => name.startsWith('relationship')

describe('The complete part of a condition', () => {
  it('leaves out unfinished lines, unknown attributes and empty groups, and knows where the others are', () => {
    const unknown = { ...title('x'), id: 'colour', field: 'colour' }
    const tree = editedGroup(all(unknown, { groupOperator: 'OR', conditions: [unknown] }, all(unknown, title('Nurse'))))
    const part = completePart({ ...tree, children: [newLeaf(), ...tree.children] }, isKnown)
    assert.deepEqual(part.condition, all(all(title('Nurse'))))
    assert.equal(part.isWhole, false)
    assert.equal(pointerInTree('/conditions/0/conditions/0/value', part.pointers), '/conditions/3/conditions/1/value')
    assert.equal(pointerInTree('/conditions/0', part.pointers), '/conditions/3')
    assert.equal(pointerInTree('', part.pointers), '')
  })

  it('is the whole of a complete condition, and nothing of an unfinished one', () => {
    const condition = all(title('Nurse'), all(title('')))
    assert.deepEqual(completePart(editedGroup(condition), isKnown).condition, condition)
    assert.equal(completePart(editedGroup(condition), isKnown).isWhole, true)
    assert.equal(completePart(editedGroup(all(title('x'))), () => false).condition, undefined)
  })
})

describe('What a change of a condition has replaced', () => {
  it('is the one part that differs, or the whole where several do', () => {
    const before = all(title('Nurse'), all(title('A'), title('B')))
    assert.deepEqual(changedPart(before, all(title('Nurs'), all(title('A'), title('B')))), {
      before: title('Nurse'),
      after: title('Nurs'),
    })
    const both = all(title('Nurs'), all(title('A'), title('C')))
    assert.deepEqual(changedPart(before, both), { before, after: both })
    const fewer = all(title('Nurse'))
    assert.deepEqual(changedPart(before, fewer), { before, after: fewer })
  })
})

describe('The value that a warning points to', () => {
  it('is found in its leaf, alone or in a list, and nowhere else', () => {
    const several = { ...title(''), operator: 'In', value: ['Nurse', 'Nurs'] } as const
    const condition = all(title('Cook'), all(several))
    assert.deepEqual(valueAt(condition, '/conditions/0/value'), { id: 'relationshipTitle', value: 'Cook' })
    assert.deepEqual(valueAt(condition, '/conditions/1/conditions/0/value/1'), {
      id: 'relationshipTitle',
      value: 'Nurs',
    })
    for (const pointer of ['', '/conditions/0', '/conditions/1/value', '/conditions/7/value']) {
      assert.equal(valueAt(condition, pointer), undefined, pointer)
    }
  })
})

describe('The value that was probably meant', () => {
  const examples = ['Nurse', 'Head Nurse', 'Teacher', 'Assistant'].map((value) => ({ value, objectCount: 1 }))
  for (const [typed, expected] of [
    ['nurse', 'Nurse'],
    ['Nurs', 'Nurse'],
    ['Techer', 'Teacher'],
    ['assist', 'Assistant'],
    ['Plumber', undefined],
    ['', undefined],
  ] as const) {
    it(`of "${typed}" is ${expected ?? 'none'}`, () => assert.equal(nearestExample(typed, examples)?.value, expected))
  }

  it('is found by a distance that is symmetric, and zero for equal texts only', () => {
    const text = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(text, text, (left, right) => {
        const distance = editDistance(left, right, 100)
        assert.equal(distance, editDistance(right, left, 100))
        assert.equal(distance === 0, left === right)
        assert.ok(distance <= Math.max([...left].length, [...right].length))
      }),
    )
  })
})

describe('A condition as text', () => {
  it('is taken where it has the form of one', () => {
    const condition = all(title('Nurse'), { groupOperator: 'OR', over: 'AnyPosition', conditions: [title('A')] })
    assert.deepEqual(conditionIn(JSON.stringify(condition)), condition)
  })

  for (const text of ['', 'x', '{}', '[]', '{"groupOperator":"AND","conditions":[]}', JSON.stringify(title('A'))]) {
    it(`is not taken from ${text || 'nothing'}`, () => assert.equal(conditionIn(text), undefined))
  }
})

describe('A list as CSV', () => {
  it('quotes each cell, and holds no formula', () => {
    const rows = [
      ['Ann "the" Nurse', 'a,b'],
      ['=1+1', null],
    ]
    assert.equal(csvOf(rows), `\ufeff"Ann ""the"" Nurse","a,b"\r\n"'=1+1",""\r\n`)
  })
})
