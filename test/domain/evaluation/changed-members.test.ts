import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Collection, CriteriaObjectType } from '../../../shared/domain/collections/collection.ts'
import type { CollectionMembers } from '../../../shared/domain/criteria/collection-members.ts'
import { compile } from '../../../shared/domain/criteria/compile.ts'
import { readsAnyPosition } from '../../../shared/domain/criteria/condition.ts'
import type { NamedMembersContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import { type CachedEvaluation, idsNow, newCachedEvaluation } from '../../../shared/domain/evaluation/members-now.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { CollectingChanges, type RowChanges } from '../../../shared/domain/tenant-index/rows/row-changes.ts'
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
import { evaluate } from '../../support/domain/criteria/evaluate-at-once.ts'

const KEY = '1'
const TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const
const contextOf = (members: readonly (CollectionMembers | undefined)[]): NamedMembersContext => {
  return { todayMs: TODAY_MS, membersOf: (id) => members[COLLECTIONS.indexOf(id)] }
}

/** A collection as an evaluator keeps it, and its members now. */
function evaluator(input: unknown, objectType: CriteriaObjectType, context: NamedMembersContext) {
  const collection = { id: 'a', objectType, refersTo: COLLECTIONS, definitionVersion: 1 } as unknown as Collection
  const head = { count: 0, membershipVersion: 1, definitionKey: KEY, evaluatedAtMs: TODAY_MS, epoch: 1 }
  const cached: CachedEvaluation = newCachedEvaluation(collection, checked(input), { value: head, version: '1' })
  return (rows: RowSnapshot, changes: RowChanges) => {
    const pass = { rows, changes, changedMembers: new Set<string>(), context }
    cached.ids = runToCompletion(idsNow(collection, cached, KEY, pass)) ?? cached.ids
    return cached.ids
  }
}

function applied(rows: RowSnapshot, objects: readonly SnapshotObject[]): CollectingChanges {
  const changes = new CollectingChanges()
  changes.add(rows.apply(objects))
  return changes
}

const memberOf = (id: string | undefined) => {
  return { id: 'memberOfCollection', field: 'memberOfCollection', operator: 'Equals', value: id }
}

const isJoinable = (members: CollectionMembers | undefined) => members?.kind === 'joinable'

describe('The members found for changed objects only', () => {
  it('are those found for all objects, whatever changes, for conditions on the members of a joinable collection', () => {
    const first = fc.array(snapshotObject, { minLength: 12, maxLength: 22 })
    const batches = fc.array(fc.array(snapshotObject, { minLength: 1, maxLength: 2 }), { minLength: 3, maxLength: 8 })
    const operator = fc.constantFrom('AND', 'OR', 'XOR', 'NOT')
    const others = fc.array(condition, { maxLength: 1 })
    const joined = collections.filter((members) => members.some(isJoinable))
    const property = fc.property(
      operator,
      others,
      first,
      batches,
      joined,
      (operator, others, arrivals, series, members) => {
        const joinable = memberOf(COLLECTIONS[members.findIndex(isJoinable)])
        const input = { groupOperator: operator, conditions: [joinable, ...others] }
        const context = contextOf(members)
        const { root } = checked(input)
        // A collection of org units cannot have such a condition.
        const types = TYPES.filter((type) => type !== 'OrgUnit' || !readsAnyPosition(root))
        const rows = new RowSnapshot(undefined, SETTINGS)
        rows.apply(arrivals)
        const evaluators = types.map((type) => ({ type, membersNow: evaluator(input, type, context) }))
        for (const { membersNow } of evaluators) membersNow(rows, 'everything')
        for (const batch of series) {
          const changes = applied(rows, batch)
          for (const { type, membersNow } of evaluators) {
            assert.deepEqual(membersNow(rows, changes), evaluate(compile(checked(input)), rows, type, context), type)
          }
        }
      },
    )
    fc.assert(property, { numRuns: 400 })
  })

  const [ANN, BO] = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002']
  const [NORTH, SOUTH] = ['bbbbbbbb-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002']
  const [JOB, SIDE] = ['cccccccc-0000-4000-8000-000000000001', 'cccccccc-0000-4000-8000-000000000002']
  const object = (objectType: SnapshotObject['objectType'], id: string, attributes: object = {}) =>
    ({ id, objectType, externalId: id, attributes, deleted: false }) as SnapshotObject
  const position = (id: string, holder: string | undefined, unit?: string) =>
    object('relationship', id, {
      ...(holder !== undefined && { identity: { objectId: holder } }),
      ...(unit !== undefined && { orgUnit: { objectId: unit } }),
    })

  for (const [claim, type, whileHeld, whileNot] of [
    ['other positions', 'Relationship', [JOB], [SIDE]],
    ['units of the other positions', 'OrgUnit', [], [SOUTH]],
  ] as const) {
    it(`are the ${claim} of a person while the position of the membership has no holder or another one`, () => {
      const memberships = [{ identityId: ANN, relationshipId: JOB }]
      const context = contextOf([{ kind: 'joinable', memberships }])
      const membersNow = evaluator({ groupOperator: 'AND', conditions: [memberOf(COLLECTIONS[0])] }, type, context)
      const rows = new RowSnapshot()
      const units = [object('orgUnit', NORTH), object('orgUnit', SOUTH)]
      rows.apply([object('identity', ANN), object('identity', BO), ...units])
      rows.apply([position(JOB, ANN), position(SIDE, ANN, SOUTH)])
      assert.deepEqual(membersNow(rows, 'everything'), whileHeld)
      for (const holder of [undefined, ANN, BO, ANN]) {
        const changes = applied(rows, [position(JOB, holder)])
        assert.deepEqual(membersNow(rows, changes), holder === ANN ? whileHeld : whileNot, `held by ${holder}`)
      }
    })
  }
})
