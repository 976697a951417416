import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { CheckedCondition, WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { areEquivalentTask } from '../../../shared/domain/criteria/proofs/equivalent-conditions.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'
import {
  COLLECTIONS,
  checked,
  collections,
  condition,
  denseCondition,
  SCHEMA,
  snapshotObject,
  TODAY_MS,
} from '../../support/domain/criteria/arbitrary-cases.ts'
import { naiveMembers } from '../../support/domain/criteria/naive-evaluator.ts'

/** By hand: `PROVED_TREES=100000 npm test -- test/domain/criteria/equivalent-conditions.property.test.ts`. */
const PAIR_COUNT = Number(process.env.PROVED_TREES ?? 2000)
const TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const

const areEquivalent = (left: CheckedCondition, right: CheckedCondition) =>
  runToCompletion(areEquivalentTask(left.root, right.root, { budget: { stepCount: 1_000_000 }, zone: UTC }))

/** The same condition, written in another way: reversed, by De Morgan, with doubled negations and nested groups. */
function rewritten(node: WireGroup | WireLeaf, choose: () => number): WireGroup | WireLeaf {
  if (!('groupOperator' in node)) return node
  const { over, ...group } = node
  const conditions = group.conditions.map((child) => rewritten(child, choose)).reverse()
  const not = (...children: (WireGroup | WireLeaf)[]): WireGroup => ({ groupOperator: 'NOT', conditions: children })
  const forms: WireGroup[] = [{ ...group, conditions }]
  if (group.groupOperator === 'AND') forms.push(not(...conditions.map((child) => not(child))))
  if (group.groupOperator === 'OR') forms.push(not(not(...conditions)))
  if (group.groupOperator === 'NOT') forms.push(not({ groupOperator: 'OR', conditions }))
  const form = forms[choose() % forms.length] as WireGroup
  return over === undefined ? form : { ...form, over }
}

/** A condition with one operator changed. */
function altered(node: WireGroup, choose: () => number): WireGroup {
  const index = choose() % node.conditions.length
  const child = node.conditions[index] as WireGroup | WireLeaf
  if (choose() % 3 === 0 || !('groupOperator' in child)) {
    const others = (['AND', 'OR', 'NOT', 'XOR'] as const).filter((operator) => operator !== node.groupOperator)
    return { ...node, groupOperator: others[choose() % others.length] as WireGroup['groupOperator'] }
  }
  return { ...node, conditions: node.conditions.with(index, altered(child, choose)) }
}

describe('Two conditions', () => {
  it(`that are proved equivalent have the same members, in ${PAIR_COUNT} random pairs, whatever the data`, () => {
    let [pairCount, provedCount] = [0, 0]
    const trees = fc.oneof(condition, denseCondition)
    const objects = fc.array(snapshotObject, { minLength: 4, maxLength: 14 })
    const choices = fc.infiniteStream(fc.nat(1000))
    const property = fc.property(trees, objects, collections, choices, (input, arrivals, members, stream) => {
      pairCount += 1
      const choose = () => stream.next().value as number
      const one = checked(input)
      const other = checked(rewritten(altered(one.wire, choose), choose))
      if (!areEquivalent(one, other)) return
      provedCount += 1
      const state = [...new Map(arrivals.map((arrival) => [`${arrival.objectType}:${arrival.id}`, arrival])).values()]
      const context = { todayMs: TODAY_MS, membersOf: (id: string) => members[COLLECTIONS.indexOf(id)] }
      const membersOf = (group: WireGroup, type: (typeof TYPES)[number]) =>
        naiveMembers(group, SCHEMA, state as SnapshotObject[], type, context)
      for (const type of TYPES) assert.deepEqual(membersOf(one.wire, type), membersOf(other.wire, type))
    })
    fc.assert(property, { numRuns: PAIR_COUNT })
    assert.ok(provedCount >= Math.floor(pairCount / 50), `${provedCount} of ${pairCount}`)
  })

  it('that differ only in how they are written are proved equivalent if they have few leaves', () => {
    const leaves = (node: WireGroup | WireLeaf): number =>
      'groupOperator' in node ? node.conditions.reduce((sum, child) => sum + leaves(child), 0) : 1
    let [pairCount, smallCount] = [0, 0]
    const choices = fc.infiniteStream(fc.nat(1000))
    const property = fc.property(fc.oneof(condition, denseCondition), choices, (input, stream) => {
      pairCount += 1
      const one = checked(input)
      if (leaves(one.wire) > 6) return
      smallCount += 1
      const other = checked(rewritten(one.wire, () => stream.next().value as number))
      assert.ok(areEquivalent(one, other), JSON.stringify([one.wire, other.wire]))
    })
    fc.assert(property, { numRuns: PAIR_COUNT })
    assert.ok(smallCount >= Math.floor(pairCount / 20), `${smallCount} of ${pairCount}`)
  })
})
