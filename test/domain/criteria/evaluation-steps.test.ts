import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { evaluationTask, memberSlotsTask, objectEvaluationTask } from '../../../shared/domain/criteria/evaluate.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion, type Task } from '../../../shared/kernel/cooperative-scheduler.ts'
import { COLLECTIONS, checked, TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate } from '../../support/domain/criteria/evaluate-at-once.ts'

const CONTEXT = { todayMs: TODAY_MS, membersOf: () => undefined }

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: object[]) => ({ groupOperator, conditions })

/** Positions of one person. Every 40th has the first title, and all start before they end. */
function positions(count: number): RowSnapshot {
  const rows = new RowSnapshot()
  const objects = Array.from({ length: count }, (_, index): SnapshotObject => {
    const attributes = {
      title: `Title ${index % 40}`,
      startDate: '2024-01-01',
      endDate: '2024-12-31',
      identity: { objectId: 'kari' },
    }
    return { id: `position-${index}`, objectType: 'relationship', externalId: `${index}`, attributes, deleted: false }
  })
  rows.apply([{ id: 'kari', objectType: 'identity', externalId: 'kari', attributes: {}, deleted: false }, ...objects])
  return rows
}

function stepCount(task: Task<unknown>): number {
  for (let count = 0; ; count += 1) if (task.next().done === true) return count
}

const LATER_THAN_END = leaf('relationshipStartDate', 'GreaterThan', { attribute: 'relationshipEndDate' })
const NEVER = leaf('relationshipTitle', 'StartsWith', 'x')
const FIRST_TITLE = leaf('relationshipTitle', 'Equals', 'Title 0')

describe('The steps in which the members of a condition are found', () => {
  // One for each node, and one for each 64 words of 32 rows; a relationship has a slot from 1 on.
  for (const [positionCount, expected] of [
    [63 * 32 - 1, 2],
    [64 * 32 - 1, 3],
    [127 * 32 - 1, 3],
    [128 * 32 - 1, 4],
  ] as const) {
    it(`are ${expected} for two attributes of ${positionCount} positions`, () => {
      const compiled = compile(checked(group('AND', LATER_THAN_END)))
      assert.equal(stepCount(memberSlotsTask(compiled, positions(positionCount), 'Relationship', CONTEXT)), expected)
    })
  }

  // One for each node, and one for each 1,024 leaves on single rows.
  for (const [positionCount, rowCount, expected] of [
    [1023 * 40, 1023, 3],
    [1024 * 40, 1024, 4],
  ] as const) {
    it(`are ${expected} for two attributes of ${rowCount} positions that are left of ${positionCount}`, () => {
      const compiled = compile(checked(group('AND', LATER_THAN_END, FIRST_TITLE)))
      assert.equal(stepCount(memberSlotsTask(compiled, positions(positionCount), 'Relationship', CONTEXT)), expected)
    })
  }

  // One for each node, and one for each collection.
  for (const [collectionCount, expected] of [
    [1, 3],
    [4, 6],
  ] as const) {
    it(`are ${expected} for the members of ${collectionCount} collections`, () => {
      const ofCollections = leaf('memberOfCollection', 'In', COLLECTIONS.slice(0, collectionCount))
      const compiled = compile(checked(group('AND', ofCollections)))
      assert.equal(stepCount(memberSlotsTask(compiled, positions(10), 'Relationship', CONTEXT)), expected)
    })
  }
})

describe('The members between whose steps a fork of the rows gets values', () => {
  const person = (index: number, attributes: SnapshotObject['attributes']): SnapshotObject => {
    return { id: `person-${index}`, objectType: 'identity', externalId: `${index}`, attributes, deleted: false }
  }
  // With fewer names than people, each name is looked up among the addresses once.
  const EMAIL = { attribute: 'identityEmail' }

  for (const [operator, expectedCount] of [
    ['Equals', 1800],
    ['NotEquals', 2200],
  ] as const) {
    it(`are the same for ${operator} of two attributes`, () => {
      const rows = new RowSnapshot()
      const names = Array.from({ length: 4000 }, (_, index) => {
        const email = index < 1800 ? { email: `Name ${index}` } : {}
        return person(index, { displayName: `Name ${Math.min(index, 3900)}`, ...email })
      })
      rows.apply(names)
      const compiled = compile(checked(group('AND', leaf('identityDisplayName', operator, EMAIL))))
      const quiet = evaluate(compiled, rows, 'Identity', CONTEXT)
      assert.equal(quiet.length, expectedCount)
      const stepsCount = stepCount(evaluationTask(compiled, rows, 'Identity', CONTEXT))
      for (let forkedAfter = 1; forkedAfter <= stepsCount; forkedAfter += 1) {
        const task = evaluationTask(compiled, rows, 'Identity', CONTEXT)
        for (let step = 1; step <= forkedAfter; step += 1) task.next()
        rows.forked().apply([person(4000 + forkedAfter, { email: `Another ${forkedAfter}` })])
        assert.deepEqual(runToCompletion(task), quiet, `forked after step ${forkedAfter} of ${stepsCount}`)
      }
    })
  }
})

describe('The steps in which one person with many positions is tested', () => {
  // One for each 1,024 leaves, those of the test before the first position included.
  for (const [positionCount, leafCount, expected] of [
    [1022, 1, 0],
    [1023, 1, 1],
    [2047, 1, 2],
    [340, 3, 0],
    [341, 3, 1],
  ] as const) {
    it(`are ${expected} for ${leafCount} leaves on ${positionCount} positions`, () => {
      const condition = leafCount === 1 ? group('AND', NEVER) : group('AND', NEVER, group('OR', NEVER, NEVER))
      const compiled = compile(checked(condition))
      const rows = positions(positionCount)
      assert.equal(stepCount(objectEvaluationTask(compiled, rows, 'Identity', ['kari'], CONTEXT)), expected)
    })
  }
})
