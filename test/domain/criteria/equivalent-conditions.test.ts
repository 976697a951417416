import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { areEquivalentTask } from '../../../shared/domain/criteria/proofs/equivalent-conditions.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'
import { checked } from '../../support/domain/criteria/arbitrary-cases.ts'

const NAME = 'identityDisplayName'
const named = (operator: string, value: unknown) => ({ id: NAME, field: NAME, operator, value })
const group = (groupOperator: string, ...conditions: object[]) => ({ groupOperator, conditions })
const anyPosition = (...conditions: object[]) => ({ ...group('AND', ...conditions), over: 'AnyPosition' })
const [a, b, c] = ['a', 'b', 'c'].map((value) => named('Contains', value)) as [object, object, object]
/** More different leaves than are looked at together. */
const many = Array.from({ length: 13 }, (_, index) => named('EndsWith', `x${index}`))
const either = group('OR', a, b)
const notNeither = group('NOT', group('NOT', a, b))

/** @param stepCount Without any steps, nothing is proved: only what is written in the same way is found. */
const areEquivalent = (left: object, right: object, stepCount: number): boolean =>
  runToCompletion(areEquivalentTask(checked(left).root, checked(right).root, { budget: { stepCount }, zone: UTC }))

describe('Two conditions', () => {
  for (const [claim, left, right, expected] of [
    ['in another order', group('AND', a, b), group('AND', b, a), true],
    ['with another operator', group('AND', a, b), group('OR', a, b), false],
    ['with another leaf', group('AND', a, b), group('AND', a, c), false],
    ['nested in AND', group('AND', a, group('AND', b, c)), group('AND', c, b, a), true],
    ['nested in OR', group('OR', group('OR', a, b), c), group('OR', a, b, c), true],
    ['with an OR in a NOT', group('NOT', group('OR', a, b), c), group('NOT', a, b, c), true],
    ['with an AND in a NOT', group('NOT', group('AND', a, b), c), group('NOT', a, b, c), false],
    ['with an OR in an AND', group('AND', group('OR', a, b), c), group('AND', a, b, c), false],
    ['with an XOR in an XOR', group('XOR', a, group('XOR', b, c)), group('XOR', a, b, c), false],
    ['with a leaf twice', group('AND', a, b, a), group('AND', a, b), true],
    ['with a leaf twice in XOR, which counts', group('XOR', a, b, a), group('XOR', a, b), false],
    ['with a group of one', group('AND', group('OR', a), b), group('AND', a, b), true],
    ['of one leaf', group('OR', a), group('AND', a), true],
    ['with a NOT of one', group('AND', group('NOT', a), b), group('AND', a, b), false],
    ['with a list of one', group('AND', named('In', ['x']), a), group('AND', named('Equals', 'x'), a), true],
    [
      'with a list in another order',
      group('AND', named('In', ['y', 'x']), a),
      group('AND', named('In', ['x', 'y', 'x']), a),
      true,
    ],
    ['with another list', group('AND', named('In', ['y', 'x']), a), group('AND', named('In', ['x', 'z']), a), false],
    ['over any position in another order', anyPosition(a, b), anyPosition(b, a), true],
    ['over any position around a group of one', anyPosition(group('AND', a)), anyPosition(a), true],
    ['over any position and over one', anyPosition(a, b), group('AND', a, b), false],
    ['with a range in AND', group('AND', anyPosition(a, b), c), group('AND', a, b, c), false],
  ] as const) {
    it(`${claim} are ${expected ? '' : 'not '}the same as written`, () => {
      assert.equal(areEquivalent(left, right, -1), expected)
    })
  }

  for (const [claim, left, right, expected] of [
    ['with few leaves', either, notNeither, true],
    ['with few leaves that differ', either, group('NOT', a, b), false],
    ['with many leaves in common under AND', group('AND', ...many, either), group('AND', ...many, notNeither), true],
    [
      'with many leaves in common under OR',
      group('OR', ...many, group('AND', a, b)),
      group('OR', ...many, group('NOT', group('NOT', a), group('NOT', b))),
      true,
    ],
    ['that differ beside many leaves in common', group('AND', ...many, a), group('AND', ...many, b), false],
    ['of which one has more than many in common', group('AND', ...many), group('AND', ...many, a), false],
    ['of which the other one has more than many in common', group('AND', ...many, a), group('AND', ...many), false],
    ['with many leaves in common under other operators', group('AND', ...many, a), group('OR', ...many, a), false],
    [
      'with many leaves in common under XOR, which counts',
      group('XOR', ...many, either),
      group('XOR', ...many, notNeither),
      false,
    ],
    ['over any position', anyPosition(either), anyPosition(notNeither), true],
    ['over any position that differ', anyPosition(either), anyPosition(a), false],
    [
      'with equal ranges',
      group('AND', ...many, anyPosition(either)),
      group('AND', ...many, anyPosition(notNeither)),
      true,
    ],
    [
      'over any position with many leaves in common',
      anyPosition(...many, either),
      anyPosition(...many, notNeither),
      true,
    ],
    ['of which one is over any position', anyPosition(...many, a), group('AND', ...many, a), false],
  ] as const) {
    it(`${claim} are ${expected ? '' : 'not '}proved equivalent`, () => {
      assert.equal(areEquivalent(left, right, 1_000_000), expected)
    })
  }
})
