import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { proofsTask } from '../../../shared/domain/criteria/proofs/prove-condition.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { processorClock } from '../../support/timing/processor-clock.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const NAME = 'identityDisplayName'
const END = 'relationshipEndDate'
const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: unknown[]) => ({ groupOperator, conditions })
const anyPosition = (...conditions: unknown[]) => ({ ...group('AND', ...conditions), over: 'AnyPosition' })

function rootOf(input: unknown) {
  const check = checkCondition(input, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition.root
}
const proofs = (input: unknown): string[] =>
  runToCompletion(proofsTask(rootOf(input))).map(({ code, pointer }) => `${code} ${pointer}`)

const kari = leaf(NAME, 'Equals', 'Kari')
const ola = leaf(NAME, 'Equals', 'Ola')
const present = leaf('identityEmail', 'IsNull')

describe('What follows from a condition alone', () => {
  for (const [claim, input, expected] of [
    ['contradicting equalities', group('AND', kari, ola), ['NeverHolds ']],
    [
      'a range without values',
      group('AND', leaf(NAME, 'GreaterThan', 'b'), leaf(NAME, 'LessThan', 'a')),
      ['NeverHolds '],
    ],
    ['complements under OR', group('OR', kari, leaf(NAME, 'NotEquals', 'Kari')), ['AlwaysHolds ']],
    [
      'the days of a range, whatever today is',
      group('AND', leaf(END, 'LessThan', 'Today()'), leaf(END, 'GreaterThan', 'AddDays(Today(),1)')),
      ['NeverHolds '],
    ],
    [
      'a day that is not known',
      group('AND', leaf(END, 'LessThan', 'Today()'), leaf(END, 'GreaterThan', '2020-01-01')),
      [],
    ],
    ['today itself', group('OR', leaf(END, 'LessThan', 'AddDays(Today(),1)', 'Today()')), ['AlwaysHolds ']],
    [
      'the smallest group',
      group('AND', present, group('OR', group('AND', kari, ola))),
      ['NeverHolds /conditions/1/conditions/0'],
    ],
    ['both kinds', group('NOT', group('AND', kari, ola)), ['AlwaysHolds ', 'NeverHolds /conditions/0']],
    [
      'a leaf that another one implies',
      group('AND', kari, leaf(NAME, 'StartsWith', 'Ka')),
      ['Redundant /conditions/1'],
    ],
    ['a leaf that implies another one', group('OR', kari, leaf(NAME, 'Contains', 'ar')), ['Redundant /conditions/0']],
    ['a leaf that stands twice', group('AND', kari, present, kari), ['Redundant /conditions/2']],
    [
      'an attribute that may be missing',
      group('OR', leaf(NAME, 'LessThan', 'b'), leaf(NAME, 'GreaterThanOrEqual', 'b')),
      [],
    ],
    [
      'a function, which is a value of its own',
      group('AND', kari, leaf(NAME, 'Equals', 'OLA', `ToUpper(${NAME})`)),
      [],
    ],
    ['two positions', group('AND', anyPosition(kari), anyPosition(ola)), []],
    ['one position', group('AND', present, anyPosition(kari, ola)), ['NeverHolds /conditions/1']],
    [
      'any position, which nobody may have',
      anyPosition(leaf(NAME, 'NotEquals', 'x'), leaf(NAME, 'NotEquals', 'x')),
      ['Redundant /conditions/1'],
    ],
  ] as const) {
    it(`finds ${expected.length === 0 ? 'nothing of' : ''} ${claim}`, () => assert.deepEqual(proofs(input), expected))
  }

  it('is found in 50 ms for 500 leaves, whatever they test', () => {
    const times = <T>(count: number, make: (index: number) => T): T[] =>
      Array.from({ length: count }, (_, index) => make(index))
    const twelve = (operator: string, make: (index: number) => unknown) =>
      group('OR', ...times(41, (outer) => group(operator, ...times(12, (inner) => make(outer * 12 + inner)))))
    const shapes = [
      group('AND', ...times(500, (index) => leaf(NAME, 'NotEquals', `Kari ${index}`))),
      group('AND', ...times(500, (index) => leaf(NAME, 'Contains', `ari ${index} ari`))),
      twelve('AND', (index) => leaf(NAME, 'Contains', `abcab${index}`)),
      twelve('XOR', (index) => leaf(NAME, 'LessThan', `abcab${index}`)),
      twelve('AND', (index) =>
        leaf(END, 'LessThan', index % 2 ? `AddDays(Today(),${index})` : `20${10 + (index % 80)}-01-01`),
      ),
    ].map(rootOf)
    for (const root of shapes) runToCompletion(proofsTask(root))
    const usedMs = processorClock()
    for (const root of shapes) runToCompletion(proofsTask(root))
    assert.ok(usedMs() < 50 * shapes.length)
  })
})
