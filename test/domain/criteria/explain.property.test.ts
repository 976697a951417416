import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import type { WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import type { EvaluationContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import { type ExplainedGroup, type ExplainedLeaf, explainTask } from '../../../shared/domain/criteria/explain.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import {
  COLLECTIONS,
  checked,
  collections,
  condition,
  SETTINGS,
  snapshotObject,
  TODAY_MS,
} from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'

const PAIR_COUNT = 5000
/** Leaves turned in each tree. Which ones differs from tree to tree. */
const LEAVES_PER_TREE_COUNT = 2

type Explained = ExplainedGroup | ExplainedLeaf

/** The condition with the leaf at an index turned round, by a group around it that tests that it does not hold. */
function withTurnedLeaf(node: WireGroup | WireLeaf, turned: { index: number }): object {
  if ('conditions' in node)
    return { ...node, conditions: node.conditions.map((child) => withTurnedLeaf(child, turned)) }
  turned.index -= 1
  return turned.index === -1 ? { groupOperator: 'NOT', conditions: [node] } : node
}

const leavesOf = (node: Explained): ExplainedLeaf[] =>
  'conditions' in node ? node.conditions.flatMap(leavesOf) : [node]

/** The nodes as stored. */
function asWritten(node: Explained): object {
  const { holds: _holds, shownOn: _shownOn, ...rest } = node as ExplainedGroup
  if ('conditions' in rest) return { ...rest, conditions: rest.conditions.map(asWritten) }
  const { actual: _actual, compared: _compared, decides: _decides, ...leaf } = rest as unknown as ExplainedLeaf
  return leaf
}

describe('The explanation of a condition', () => {
  it(`agrees with the evaluator on ${PAIR_COUNT} random trees and people, and names the leaves that decide`, () => {
    let pairCount = 0
    let decidingCount = 0
    const objects = fc.array(snapshotObject, { minLength: 4, maxLength: 22 })
    const property = fc.property(condition, objects, collections, (input, arrivals, members) => {
      const condition = checked(input)
      const snapshot = new RowSnapshot(undefined, SETTINGS)
      snapshot.apply(arrivals)
      const context: EvaluationContext = { todayMs: TODAY_MS, membersOf: (id) => members[COLLECTIONS.indexOf(id)] }
      const relationships = snapshot.tables.relationship.ids.idsIn(snapshot.tables.relationship.liveSlots())
      const identities = runToCompletion(snapshot.tables.identity.ids.idsIn(snapshot.tables.identity.liveSlots()))
      const verdicts = (tree: unknown, ids: readonly string[], type: 'Identity' | 'Relationship') =>
        evaluateObjects(compile(checked(tree)), snapshot, type, ids, context)
      const explain = (rows: readonly (readonly [number, number, number])[]) =>
        runToCompletion(
          explainTask(
            condition,
            snapshot,
            rows.map((row) => ({ row, showsSensitive: true })),
            context,
            { showsCondition: true },
          ),
        )
      const isIn = verdicts(input, identities, 'Identity')
      for (const id of identities) {
        const explained = explain(snapshot.rowsOf('identity', id))
        assert.equal(
          explained.some(({ holds }) => holds),
          isIn.get(id),
        )
        for (const each of explained) assert.deepEqual(asWritten(each), condition.wire)
        pairCount += 1
      }
      const positions = runToCompletion(relationships)
      const before = verdicts(input, positions, 'Relationship')
      const explained = positions.map((id) => explain(snapshot.rowsOf('relationship', id))[0] as ExplainedGroup)
      const leafCount = explained[0] === undefined ? 0 : leavesOf(explained[0]).length
      for (let count = 0; count < Math.min(leafCount, LEAVES_PER_TREE_COUNT); count += 1) {
        const index = (pairCount + count) % leafCount
        const turned = verdicts(withTurnedLeaf(condition.wire, { index }), positions, 'Relationship')
        for (const [place, id] of positions.entries()) {
          const leaf = leavesOf(explained[place] as ExplainedGroup)[index]
          assert.equal(turned.get(id) !== before.get(id), leaf?.decides, `leaf ${index} of ${id}`)
          decidingCount += Number(leaf?.decides)
        }
      }
    })
    while (pairCount < PAIR_COUNT) fc.assert(property, { numRuns: 500 })
    assert.ok(decidingCount > 1000, String(decidingCount))
  })
})
