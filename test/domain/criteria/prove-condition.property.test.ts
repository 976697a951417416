import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { CheckedCondition, WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { proofsTask } from '../../../shared/domain/criteria/proofs/prove-condition.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
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

/** By hand: `PROVED_TREES=100000 npm test -- test/domain/criteria/prove-condition.property.test.ts`. */
const treeCount = (usual: number): number => Number(process.env.PROVED_TREES ?? usual)
const TREE_COUNT = treeCount(4000)
const TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const

const proofsOf = (given: CheckedCondition) => runToCompletion(proofsTask(given.root))

const stepsOf = (pointer: string): number[] =>
  pointer
    .split('/')
    .filter((step) => step !== '' && step !== 'conditions')
    .map(Number)

/** The nodes from the root down to a pointer. */
function pathTo(root: WireGroup, pointer: string): (WireGroup | WireLeaf)[] {
  const path: (WireGroup | WireLeaf)[] = [root]
  for (const step of stepsOf(pointer)) path.push((path.at(-1) as WireGroup).conditions[step] as WireGroup)
  return path
}

function finalState(objects: readonly SnapshotObject[]): SnapshotObject[] {
  return [...new Map(objects.map((object) => [`${object.objectType}:${object.id}`, object])).values()]
}

/** The shortest word for each combination of results that tests with these texts have. Some need six letters. */
function shortestWords(texts: readonly string[], maxLength = 7): string[] {
  const shortest = new Map<string, string>()
  let words = ['']
  for (let length = 0; length <= maxLength; length += 1) {
    for (const word of words) {
      const results = texts.map((text) => [
        word === text,
        word > text,
        word.includes(text),
        word.startsWith(text),
        word.endsWith(text),
      ])
      const key = results.flat().map(Number).join('')
      if (!shortest.has(key)) shortest.set(key, word)
    }
    words = words.flatMap((word) => [...'!abc'].map((letter) => word + letter))
  }
  return [...shortest.values()]
}

describe('A proof', () => {
  it(`is true of ${TREE_COUNT} random trees, whatever the data`, () => {
    const counts = { NeverHolds: 0, AlwaysHolds: 0, Redundant: 0 }
    const objects = fc.array(snapshotObject, { minLength: 4, maxLength: 14 })
    const trees = fc.oneof(condition, denseCondition)
    const property = fc.property(trees, objects, collections, (input, arrivals, members) => {
      const condition = checked(input)
      const state = finalState(arrivals)
      const context = { todayMs: TODAY_MS, membersOf: (id: string) => members[COLLECTIONS.indexOf(id)] }
      const membersOf = (group: WireGroup, type: (typeof TYPES)[number]) =>
        naiveMembers(group, SCHEMA, state, type, context)
      for (const { code, pointer } of proofsOf(condition)) {
        counts[code] += 1
        const path = pathTo(condition.wire, pointer)
        const node = path.at(-1) as WireGroup
        const parent = path.at(-2) as WireGroup
        const place = stepsOf(pointer).at(-1)
        for (const type of TYPES) {
          if (code === 'NeverHolds') assert.deepEqual(membersOf(node, type), [], pointer)
          else if (code === 'AlwaysHolds') {
            // A negated group has no member either way: every row satisfies the group.
            assert.deepEqual(membersOf({ groupOperator: 'NOT', conditions: [node] }, type), [], pointer)
          } else {
            const { over: _over, ...plain } = parent
            const conditions = plain.conditions.filter((_, index) => index !== place)
            const differing = { groupOperator: 'XOR' as const, conditions: [plain, { ...plain, conditions }] }
            assert.deepEqual(membersOf(differing, type), [], pointer)
          }
        }
      }
    })
    fc.assert(property, { numRuns: TREE_COUNT })
    assert.ok(counts.NeverHolds > 20 && counts.AlwaysHolds > 5 && counts.Redundant > 20, JSON.stringify(counts))
  })

  const NUMBERS = Array.from({ length: 9 }, (_, index) => String(index))
  const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
  const numbers = fc.constantFrom(
    'Equals',
    'NotEquals',
    'GreaterThan',
    'GreaterThanOrEqual',
    'LessThan',
    'LessThanOrEqual',
    'In',
    'IsNull',
  )
  const words = fc.constantFrom(
    'Equals',
    'NotEquals',
    'Contains',
    'NotContains',
    'StartsWith',
    'EndsWith',
    'GreaterThan',
    'LessThanOrEqual',
    'IsNull',
  )
  const ofNumbers = fc
    .tuple(numbers, fc.integer({ min: 2, max: 6 }))
    .map(([operator, value]) => leaf('identityCustom/number', operator, operator === 'In' ? [value, 4] : value))
  const TEXTS = ['a', 'b', 'ab', 'ba']
  const ofWords = fc
    .tuple(words, fc.constantFrom(...TEXTS))
    .map(([operator, value]) => leaf('identityEmail', operator, value))
  const WORDS = shortestWords(TEXTS)
  const person = (attributes: SnapshotObject['attributes'], index: number): SnapshotObject => ({
    id: `aaaaaaaa-0000-4000-8000-${String(index).padStart(12, '0')}`,
    objectType: 'identity',
    externalId: 'x',
    attributes,
    deleted: false,
  })
  for (const [claim, leaves, values, count, name, runCount] of [
    ['numbers', ofNumbers, [...NUMBERS, 'none'], 5, 'custom/number', treeCount(1500)],
    ['texts', ofWords, WORDS, 3, 'email', treeCount(600)],
  ] as const) {
    it(`is found for every constant tree of ${runCount} on one attribute of ${claim}`, () => {
      const people = [person({}, 9999), ...values.map((value, index) => person({ [name]: value }, index))]
      const context = { todayMs: TODAY_MS, membersOf: () => undefined }
      const operators = fc.constantFrom('AND', 'OR', 'NOT', 'XOR')
      const inner = fc.record({
        groupOperator: operators,
        conditions: fc.array(leaves, { minLength: 1, maxLength: count }),
      })
      const tree = fc.record({
        groupOperator: operators,
        conditions: fc.array(fc.oneof(inner, leaves), { minLength: 1, maxLength: 2 }),
      })
      let [treeCount, constantCount] = [0, 0]
      fc.assert(
        fc.property(tree, (input) => {
          treeCount += 1
          const condition = checked(input)
          const holding = naiveMembers(condition.wire, SCHEMA, people, 'Identity', context).length
          const code = holding === 0 ? 'NeverHolds' : holding === people.length ? 'AlwaysHolds' : undefined
          if (code === undefined) return
          constantCount += 1
          assert.ok(
            proofsOf(condition).some((proof) => proof.code === code),
            code,
          )
        }),
        { numRuns: runCount },
      )
      // About a tenth of the trees are constant. With few trees, chance alone can leave out almost all of these.
      assert.ok(constantCount >= Math.floor(treeCount / 50), `${constantCount} of ${treeCount}`)
    })
  }
})
