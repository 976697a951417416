import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { lazyContextOver } from '../../../shared/domain/collections/live-members.ts'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { type CompiledCondition, compile } from '../../../shared/domain/criteria/compile.ts'
import { objectEvaluationTask } from '../../../shared/domain/criteria/evaluate.ts'
import { storedConditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import type { Task } from '../../../shared/kernel/cooperative-scheduler.ts'
import { personId } from '../../support/domain/criteria/hostile-conditions.ts'

/** A tenant may have 5,000 collections, which take a second to compile. The stack holds 300 nested tests. */
const CHAIN_COUNT = 2000
const PERSON = personId(1)

type Leaf = { readonly id: string; readonly operator: string; readonly value: string | readonly string[] }

const named = (value: string): Leaf => ({ id: 'identityDisplayName', operator: 'Equals', value })
const memberOf = (...value: string[]): Leaf => ({ id: 'memberOfCollection', operator: 'In', value })

/** Tests whether the person is in the first of these collections, which are given by their leaves and operator. */
function testing(
  definitions: ReadonlyMap<string, { groupOperator: string; leaves: readonly Leaf[] }>,
  positionCount = 0,
): Task<boolean> {
  const rows = new RowSnapshot()
  const attributes = { displayName: 'Ada' }
  rows.apply([{ id: PERSON, objectType: 'identity', externalId: '1', attributes, deleted: false }])
  rows.apply(
    Array.from({ length: positionCount }, (_, index): SnapshotObject => {
      const held = { identity: { objectId: PERSON } }
      return { id: `${index}`, objectType: 'relationship', externalId: `${index}`, attributes: held, deleted: false }
    }),
  )
  const collections = new Map<string, Collection>()
  const conditions = new Map<string, CompiledCondition>()
  for (const [id, { groupOperator, leaves }] of definitions) {
    const conditionsOfGroup = leaves.map((leaf) => ({ ...leaf, field: leaf.id }))
    const check = checkCondition({ groupOperator, conditions: conditionsOfGroup }, storedConditionSchema())
    assert.ok(check.ok)
    collections.set(id, { id, kind: 'criteria', objectType: 'Identity' } as Collection)
    conditions.set(id, compile(check.condition))
  }
  const conditionOf = ({ id }: Collection) => conditions.get(id) as CompiledCondition
  const { context, running } = lazyContextOver(collections, rows, 0, () => [], conditionOf)
  const [first = ''] = definitions.keys()
  const condition = conditionOf({ id: first } as Collection)
  return running(
    (function* () {
      return (yield* objectEvaluationTask(condition, rows, 'Identity', [PERSON], context)).get(PERSON) === true
    })(),
  )
}

function counted<T>(task: Task<T>): { value: T; stepCount: number } {
  for (let stepCount = 1; ; stepCount += 1) {
    const step = task.next()
    if (step.done === true) return { value: step.value, stepCount }
  }
}

describe('Members that are tested when a condition asks for them', () => {
  it('are found through a chain of thousands of collections, in a step for each at least', () => {
    const chain = Array.from({ length: CHAIN_COUNT }, (_, index) => {
      const leaf = index + 1 < CHAIN_COUNT ? memberOf(personId(index + 1)) : named('Ada')
      return [personId(index), { groupOperator: 'AND', leaves: [leaf] }] as const
    })
    const { value, stepCount } = counted(testing(new Map(chain)))
    assert.equal(value, true)
    assert.ok(stepCount >= CHAIN_COUNT, `${stepCount} steps`)
  })

  const [yes, no] = [named('Ada'), named('Kari')]
  for (const [groupOperator, leaves, expected] of [
    ['AND', [yes, memberOf(personId(8))], true],
    ['AND', [memberOf(personId(8)), memberOf(personId(9))], false],
    ['OR', [memberOf(personId(9)), memberOf(personId(8))], true],
    ['OR', [no, memberOf(personId(9))], false],
    ['OR', [memberOf(personId(9), personId(8))], true],
    ['NOT', [no, memberOf(personId(9))], true],
    ['NOT', [memberOf(personId(9)), memberOf(personId(8))], false],
    ['XOR', [memberOf(personId(8)), memberOf(personId(9)), no], true],
    ['XOR', [memberOf(personId(8)), yes], false],
  ] as const) {
    it(`decide a group of ${groupOperator}: ${leaves.map(({ value }) => value).join(' and ')}`, () => {
      const definitions = new Map([
        [personId(7), { groupOperator, leaves }],
        [personId(8), { groupOperator: 'AND', leaves: [yes] }],
        [personId(9), { groupOperator: 'AND', leaves: [no] }],
      ])
      for (const positionCount of [0, 1, 3]) assert.equal(counted(testing(definitions, positionCount)).value, expected)
    })
  }

  it('are not found for collections that refer to each other, which is a fault', () => {
    const definitions = new Map([
      [personId(7), { groupOperator: 'AND', leaves: [memberOf(personId(8))] }],
      [personId(8), { groupOperator: 'AND', leaves: [memberOf(personId(9))] }],
      [personId(9), { groupOperator: 'AND', leaves: [memberOf(personId(8))] }],
    ])
    assert.throws(() => counted(testing(definitions)), /refers to itself/)
  })
})
