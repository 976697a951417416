import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { neverHoldsTask, proofsTask } from '../../../shared/domain/criteria/proofs/prove-condition.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'

const SCHEMA = conditionSchema({ identity: [], orgUnit: [], relationship: [] })
const NAME = 'identityDisplayName'
const leaf = (id: string, operator: string, value?: unknown) => ({ id, field: id, operator, value })
const group = (groupOperator: string, ...conditions: unknown[]) => ({ groupOperator, conditions })
const named = (name: string) => leaf(NAME, 'Equals', name)
const notNamed = (name: string) => leaf(NAME, 'NotEquals', name)
const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Different leaves that may all hold, or none of them. */
const independent = (count: number) => numbered(count, (index) => leaf('identityEmail', 'Contains', `q${index}x`))
const never = (index = 0) => group('AND', named(`Kari ${index}`), named(`Ola ${index}`))
const always = (index = 0) => group('OR', named(`Kari ${index}`), notNamed(`Kari ${index}`))
/** A group with more different leaves than are looked at together. */
const large = (operator: string, ...more: unknown[]) => group(operator, ...independent(13), ...more)

function rootOf(input: unknown) {
  const check = checkCondition(input, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition.root
}

const proofs = (input: unknown): string[] =>
  runToCompletion(proofsTask(rootOf(input))).map(({ code, pointer }) => `${code} ${pointer}`)

const holdsNever = (input: unknown): boolean =>
  runToCompletion(neverHoldsTask(rootOf(input), { budget: { stepCount: 150_000 }, zone: UTC }))

describe('What follows from a group with many leaves', () => {
  for (const [claim, input, expected] of [
    ['never, with a part that never holds under AND', large('AND', never()), 'never'],
    ['always, with a part that always holds under OR', large('OR', always()), 'always'],
    ['never, with a part that always holds under NOT', large('NOT', always()), 'never'],
    ['never, with two parts that always hold under XOR', large('XOR', always(0), always(1)), 'never'],
    ['sometimes, with one part that always holds under XOR', large('XOR', always()), 'sometimes'],
    ['sometimes, with a part that always holds under AND', large('AND', always()), 'sometimes'],
    ['sometimes, with a part that never holds under OR', large('OR', never()), 'sometimes'],
    ['sometimes, with a part that never holds under NOT', large('NOT', never()), 'sometimes'],
    ['never, with parts that never hold under OR', group('OR', ...numbered(7, never)), 'never'],
    ['always, with parts that always hold under AND', group('AND', ...numbered(7, always)), 'always'],
    ['always, with parts that never hold under NOT', group('NOT', ...numbered(7, never)), 'always'],
    ['always, with one part that holds under XOR', group('XOR', always(9), ...numbered(7, never)), 'always'],
    ['never, by its own leaves under AND', large('AND', named('Kari'), named('Ola')), 'never'],
    ['always, by its own leaves under OR', large('OR', named('Kari'), notNamed('Kari')), 'always'],
    ['never, by its own leaves under NOT', large('NOT', named('Kari'), notNamed('Kari')), 'never'],
    ['sometimes, by its own leaves under XOR', large('XOR', named('Kari'), notNamed('Kari')), 'sometimes'],
    ['sometimes, with leaves that may hold together', large('AND', named('Kari')), 'sometimes'],
  ] as const)
    it(`is that it holds ${claim}`, () => {
      const verdicts = [holdsNever(group('NOT', input)), holdsNever(input)]
      assert.deepEqual(verdicts, [expected === 'always', expected === 'never'])
    })

  it('is all that follows from 12 different leaves, and less from 13', () => {
    const addresses = (count: number) => numbered(count, (index) => leaf('identityEmail', 'Equals', `q${index}`))
    const hidden = (count: number) =>
      group('AND', named('Kari'), group('OR', named('Ola')), group('OR', ...addresses(count)))
    assert.deepEqual([holdsNever(hidden(10)), holdsNever(hidden(11))], [true, false])
  })
})

describe('What follows from a group about any position', () => {
  const anyPosition = (operator: string, ...conditions: unknown[]) => {
    return { ...group(operator, ...conditions), over: 'AnyPosition' }
  }

  it('is that it never holds when no position can fulfil it', () => {
    const input = group('NOT', anyPosition('AND', named('Kari'), named('Ola')))
    assert.deepEqual(proofs(input), ['AlwaysHolds ', 'NeverHolds /conditions/0'])
  })

  it('is never that it always holds: a person may have no position', () => {
    const input = group('NOT', anyPosition('OR', named('Kari'), notNamed('Kari')))
    assert.deepEqual(proofs(input), [])
  })
})

describe('Of conditions that say the same', () => {
  it('the later leaf is redundant', () => {
    const same = [named('Kari'), leaf(NAME, 'In', ['Kari'])]
    assert.deepEqual(proofs(group('AND', ...same)), ['Redundant /conditions/1'])
    assert.deepEqual(proofs(group('OR', ...same)), ['Redundant /conditions/1'])
  })

  it('a repeated group is not reported', () => {
    const either = group('OR', named('Kari'), named('Ola'))
    assert.deepEqual(proofs(group('AND', leaf('identityEmail', 'IsNull'), either, either)), [])
  })
})

describe('A condition that never holds', () => {
  it('is told from one that always or sometimes does', () => {
    assert.deepEqual([holdsNever(never()), holdsNever(always()), holdsNever(large('AND'))], [true, false, false])
  })
})
