import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CheckedLeaf } from '../../../shared/domain/criteria/condition.ts'
import { possibleResults } from '../../../shared/domain/criteria/proofs/possible-results.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'
import { COLLECTIONS, checked } from '../../support/domain/criteria/arbitrary-cases.ts'

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const DEPUTY = 'aaaaaaaa-0000-4000-8000-000000000001'
const [NUMBER, FLAG, END, LIST] = [
  'identityCustom/number',
  'identityCustom/flag',
  'relationshipEndDate',
  'identityCustom/list',
]
const isDeputy = (operator: string, id: string) => leaf('orgUnitDeputies', operator, id)
const today = (operator: string, value: string) => leaf('relationshipStartDate', operator, value, 'Today()')
const named = (operator: string) => leaf('identityDisplayName', operator, { attribute: 'identityEmail' })

/** The results of the leaves together, each as a text with a letter for each leaf that holds. */
function resultsOf(leaves: readonly object[], stepCount = 1000): string[] | undefined {
  const { root } = checked({ groupOperator: 'AND', conditions: leaves })
  const results = possibleResults(root.children as CheckedLeaf[], { budget: { stepCount }, zone: UTC })
  const textOf = (mask: number) => leaves.map((_leaf, index) => (mask & (1 << index) ? 'abc'[index] : '-')).join('')
  return results && [...results].map(textOf).sort()
}

describe('The results that leaves on one attribute can have together', () => {
  for (const [claim, leaves, expected] of [
    ['a number above one', [leaf(NUMBER, 'GreaterThan', 3)], ['-', 'a']],
    ['a number below one', [leaf(NUMBER, 'LessThan', 3)], ['-', 'a']],
    [
      'numbers between which there is one',
      [leaf(NUMBER, 'GreaterThan', 3), leaf(NUMBER, 'LessThan', 5)],
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'numbers between which there is none',
      [leaf(NUMBER, 'GreaterThan', 3), leaf(NUMBER, 'LessThan', 4)],
      ['--', '-b', 'a-'],
    ],
    ['a number that may be missing', [leaf(NUMBER, 'IsNull'), leaf(NUMBER, 'NotEquals', 3)], ['--', '-b', 'ab']],
    ['true and false', [leaf(FLAG, 'Equals', true), leaf(FLAG, 'Equals', false)], ['--', '-b', 'a-']],
    [
      'days in any order',
      [leaf(END, 'GreaterThan', '2024-06-01'), leaf(END, 'LessThan', '2024-01-01')],
      ['--', '-b', 'a-'],
    ],
    [
      'days that overlap',
      [leaf(END, 'LessThan', '2024-06-01'), leaf(END, 'GreaterThan', '2024-01-01')],
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'days from today',
      [leaf(END, 'LessThan', 'Today()'), leaf(END, 'GreaterThan', 'AddDays(Today(),-1)')],
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'a day and today, which may be any',
      [leaf(END, 'LessThan', 'Today()'), leaf(END, 'GreaterThan', '2024-01-01')],
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'today, which is never missing',
      [today('LessThan', '2024-01-01'), today('GreaterThanOrEqual', '2024-01-01')],
      ['-b', 'a-'],
    ],
    ['today and the day after', [today('LessThan', 'AddDays(Today(),1)'), today('LessThan', 'Today()')], ['a-']],
    [
      'collections, of which a row may be in several',
      COLLECTIONS.slice(0, 2).map((id) => leaf('memberOfCollection', 'Equals', id)),
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'a collection, which is never missing',
      [leaf('memberOfCollection', 'Equals', COLLECTIONS[0]), leaf('memberOfCollection', 'NotEquals', COLLECTIONS[0])],
      ['-b', 'a-'],
    ],
    ['one id in any case', [isDeputy('Contains', DEPUTY), isDeputy('Contains', DEPUTY.toUpperCase())], ['--', 'ab']],
    [
      'ids of a list',
      [isDeputy('Contains', DEPUTY), isDeputy('NotContains', `${DEPUTY.slice(0, -1)}2`)],
      ['--', '-b', 'a-', 'ab'],
    ],
    [
      'texts of a list, which differ by case',
      [leaf(LIST, 'Contains', 'a'), leaf(LIST, 'Contains', 'A')],
      ['--', '-b', 'a-', 'ab'],
    ],
    ['two attributes that are equal or not', [named('Equals'), named('NotEquals')], ['-b', 'a-']],
    ['two attributes, of which one contains the other or not', [named('Contains'), named('NotContains')], ['-b', 'a-']],
    ['two attributes, compared in two ways', [named('Equals'), named('StartsWith')], ['--', '-b', 'a-', 'ab']],
  ] as const) {
    it(`are those of ${claim}`, () => assert.deepEqual(resultsOf(leaves), expected))
  }

  it('are one without any leaf', () => {
    assert.deepEqual([...(possibleResults([], { budget: { stepCount: 1 }, zone: UTC }) ?? [])], [0])
  })

  it('are unknown when more instants are to be compared than steps are left', () => {
    // The day before, the day itself, and the day after.
    const one = [leaf(END, 'LessThan', '2024-01-01')]
    assert.deepEqual(resultsOf(one, 3), ['-', 'a'])
    assert.equal(resultsOf(one, 2), undefined)
    assert.deepEqual(resultsOf([leaf(END, 'IsNull')], 0), ['-', 'a'])
    assert.equal(resultsOf([leaf(END, 'IsNull')], -1), undefined)
  })

  it('take the steps that they use from the budget', () => {
    const { root } = checked({ groupOperator: 'AND', conditions: [leaf(END, 'LessThan', '2024-01-01')] })
    const budget = { stepCount: 8 }
    const again = () => possibleResults(root.children as CheckedLeaf[], { budget, zone: UTC })?.size
    assert.deepEqual([again(), again(), again()], [2, 2, undefined])
  })
})
