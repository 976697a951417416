import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CheckedLeaf } from '../../../shared/domain/criteria/condition.ts'
import { possibleTextResults } from '../../../shared/domain/criteria/proofs/text-results.ts'
import { checked } from '../../support/domain/criteria/arbitrary-cases.ts'

const NAME = 'identityDisplayName'
type Test = readonly [operator: string, value: string]

const leavesOf = (tests: readonly Test[]): CheckedLeaf[] => {
  const conditions = tests.map(([operator, value]) => ({ id: NAME, field: NAME, operator, value }))
  return checked({ groupOperator: 'AND', conditions }).root.children as CheckedLeaf[]
}

/** All words of up to seven of these letters. The first and the last stand for all below and above. */
const WORDS = ['']
for (let from = 0, length = 0; length < 7; length += 1) {
  const to = WORDS.length
  for (; from < to; from += 1) for (const letter of '!abc') WORDS.push(`${WORDS[from]}${letter}`)
}

const HOLDS: Readonly<Record<string, (word: string, value: string) => boolean>> = {
  Equals: (word, value) => word === value,
  Contains: (word, value) => word.includes(value),
  StartsWith: (word, value) => word.startsWith(value),
  EndsWith: (word, value) => word.endsWith(value),
  GreaterThan: (word, value) => word > value,
  GreaterThanOrEqual: (word, value) => word >= value,
  LessThan: (word, value) => word < value,
  LessThanOrEqual: (word, value) => word <= value,
}

const masksOf = (tests: readonly Test[]): Set<number> =>
  new Set(
    WORDS.map((word) =>
      tests.reduce((mask, [operator, value], index) => mask | (Number(HOLDS[operator]?.(word, value)) << index), 0),
    ),
  )

describe('The results that tests of one text can have together', () => {
  for (const tests of [
    [['Contains', 'aab']],
    [
      ['Contains', 'aab'],
      ['Contains', 'aba'],
    ],
    [
      ['Contains', 'abab'],
      ['EndsWith', 'ab'],
    ],
    [
      ['Contains', 'aaa'],
      ['EndsWith', 'aa'],
      ['StartsWith', 'aa'],
    ],
    [
      ['EndsWith', 'abaab'],
      ['Contains', 'baaba'],
    ],
    [
      ['EndsWith', 'aba'],
      ['EndsWith', 'ba'],
      ['StartsWith', 'ab'],
    ],
    [
      ['EndsWith', 'aabaa'],
      ['EndsWith', 'abaa'],
    ],
    [
      ['Contains', 'abcab'],
      ['EndsWith', 'cab'],
    ],
    [
      ['StartsWith', 'ab'],
      ['StartsWith', 'aba'],
      ['StartsWith', 'b'],
    ],
    [
      ['Equals', 'a'],
      ['Equals', 'ab'],
      ['StartsWith', 'a'],
    ],
    [
      ['Equals', 'ab'],
      ['Equals', 'b'],
      ['Equals', 'ba'],
    ],
    [
      ['GreaterThan', 'ab'],
      ['LessThan', 'b'],
    ],
    [
      ['GreaterThanOrEqual', 'ab'],
      ['LessThanOrEqual', 'ab'],
    ],
    [
      ['GreaterThan', 'ab'],
      ['GreaterThanOrEqual', 'ab'],
      ['LessThan', 'ab'],
      ['LessThanOrEqual', 'ab'],
    ],
    [
      ['LessThan', 'aba'],
      ['StartsWith', 'ab'],
      ['EndsWith', 'a'],
    ],
    [
      ['GreaterThanOrEqual', 'b'],
      ['LessThan', 'a'],
      ['Contains', 'ab'],
    ],
  ] as const satisfies readonly (readonly Test[])[]) {
    it(`are those of all words: ${tests.map((test) => test.join(' ')).join(', ')}`, () => {
      const found = possibleTextResults(leavesOf(tests), { stepCount: 100_000 })
      assert.deepEqual(found, new Set([...(found ?? [])].filter((mask) => masksOf(tests).has(mask))))
      assert.deepEqual(masksOf(tests).difference(found ?? new Set()), new Set())
    })
  }

  it('include those of texts with the first and the last character', () => {
    const last = String.fromCodePoint(0x10ffff)
    const results = (...tests: Test[]) =>
      [...(possibleTextResults(leavesOf(tests), { stepCount: 100_000 }) ?? [])].sort()
    assert.deepEqual(results(['StartsWith', last], ['GreaterThan', last]), [0, 1, 3])
    assert.deepEqual(results(['LessThan', '!'], ['GreaterThan', '!']), [0, 1, 2])
  })

  it('are unknown when the budget is used up, which the characters and the states take up', () => {
    const leaves = leavesOf([['Equals', 'ab']])
    // Two characters, then four states with four letters for one leaf: a, b, and one between each two.
    const budgetFor = (stepCount: number) => {
      const budget = { stepCount }
      return { results: possibleTextResults(leaves, budget)?.size, left: budget.stepCount }
    }
    const { left } = budgetFor(1000)
    const usedCount = 1000 - left
    assert.deepEqual(budgetFor(usedCount), { results: 2, left: 0 })
    assert.equal(budgetFor(usedCount - 1).results, undefined)
    assert.equal(budgetFor(1).results, undefined)
    assert.ok(budgetFor(1).left < 0)
    assert.equal(usedCount, 2 + 4 * 4)
  })

  it('are unknown for very long texts, whatever the budget', () => {
    const long = (length: number) => [
      { ...leavesOf([['Equals', 'a']])[0], values: ['a'.repeat(length)] } as CheckedLeaf,
    ]
    assert.equal(possibleTextResults(long(10_001), { stepCount: 1e9 }), undefined)
    assert.equal(possibleTextResults(long(10_000), { stepCount: 1e9 })?.size, 2)
  })
})
