import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KnownLeaves } from '../../../shared/domain/criteria/arrange-condition.ts'
import type { CollectionMembers } from '../../../shared/domain/criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../../../shared/domain/criteria/compile.ts'
import { attributesRead, readsAnyPosition } from '../../../shared/domain/criteria/condition.ts'
import { memberSlotsTask } from '../../../shared/domain/criteria/evaluate.ts'
import type { NamedMembersContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import { newLeafResults, SharedResults } from '../../../shared/domain/criteria/shared-results.ts'
import { LEADERS_MOVED, type SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import {
  COLLECTIONS,
  checked,
  collections,
  condition,
  SCHEMA,
  SETTINGS,
  snapshotObject,
  TODAY_MS,
} from '../../support/domain/criteria/arbitrary-cases.ts'
import { evaluate, evaluateObjects } from '../../support/domain/criteria/evaluate-at-once.ts'
import { naiveMembers, naiveRows } from '../../support/domain/criteria/naive-evaluator.ts'

const ROW_TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const
const CORE = { Identity: 'identity', Relationship: 'relationship', OrgUnit: 'orgUnit' } as const

function contextOf(members: readonly (CollectionMembers | undefined)[]): NamedMembersContext {
  return { todayMs: TODAY_MS, membersOf: (id) => members[COLLECTIONS.indexOf(id)] }
}

/** The last word on each object, in the order of first mention. */
function finalState(objects: readonly SnapshotObject[]): SnapshotObject[] {
  return [...new Map(objects.map((object) => [`${object.objectType}:${object.id}`, object])).values()]
}

function loaded(objects: readonly SnapshotObject[]): RowSnapshot {
  const snapshot = new RowSnapshot(undefined, SETTINGS)
  snapshot.apply(objects)
  return snapshot
}

function membersByType(compiled: CompiledCondition, snapshot: RowSnapshot, context: NamedMembersContext) {
  return ROW_TYPES.map((type) => evaluate(compiled, snapshot, type, context))
}

/** Makes many objects, references and values of the few there are to draw from; one in five keeps the ids it has. */
function spread(object: SnapshotObject, index: number): SnapshotObject {
  const suffixed = (id: string, place: number): string =>
    place % 5 === 0 ? id : id.slice(0, -3) + (100 + (place % 90))
  const attributes = Object.entries(object.attributes).map(([name, value]) => {
    if (typeof value === 'string') return [name, name.endsWith('Date') || index % 2 === 0 ? value : value + index]
    if (typeof value !== 'object' || !('objectId' in value)) return [name, value]
    return [name, { objectId: suffixed(value.objectId, index * 7) }]
  })
  return { ...object, id: suffixed(object.id, index), attributes: Object.fromEntries(attributes) }
}

describe('The evaluator', () => {
  it('agrees with the naive one on 6,000 random trees and data, for all objects and one by one', () => {
    const objects = fc.array(snapshotObject, { maxLength: 22 })
    const property = fc.property(condition, objects, collections, (input, arrivals, members) => {
      const { wire, root } = checked(input)
      const state = finalState(arrivals)
      const snapshot = loaded(arrivals)
      const context = contextOf(members)
      const compiled = compile({ wire, root })
      for (const type of ROW_TYPES) {
        const expected = naiveMembers(wire, SCHEMA, state, type, context)
        const ids = state.filter(({ objectType }) => objectType === CORE[type]).map(({ id }) => id)
        const oneByOne = evaluateObjects(compiled, snapshot, type, [...ids, 'unknown'], context)
        assert.deepEqual(ids.filter((id) => oneByOne.get(id)).sort(), expected)
        assert.equal(oneByOne.get('unknown'), false)
        assert.deepEqual(evaluate(compiled, snapshot, type, context), expected)
      }
    })
    fc.assert(property, { numRuns: 6000 })
  })

  it('gives the same members with the results that other conditions, and other members, have left', () => {
    const objects = fc.array(snapshotObject, { minLength: 4, maxLength: 22 })
    const property = fc.property(condition, condition, objects, collections, (left, right, arrivals, members) => {
      const snapshot = loaded(arrivals)
      const leaves: KnownLeaves = new Map()
      const leafResults = newLeafResults()
      const both = { groupOperator: 'OR', conditions: [left, right] }
      for (const input of [left, right, both]) {
        const compiled = compile(checked(input), leaves)
        for (const type of ROW_TYPES) {
          const shared = new SharedResults(leafResults)
          for (const context of [contextOf(members), contextOf([])]) {
            const slots = runToCompletion(memberSlotsTask(compiled, snapshot, type, context, shared))
            const expected = runToCompletion(memberSlotsTask(compile(checked(input)), snapshot, type, context))
            assert.deepEqual(slots, expected)
          }
        }
      }
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('gives the same members after any series of changes as from a fresh snapshot, and names every object affected', () => {
    const series = fc.array(fc.array(snapshotObject, { maxLength: 6 }), { minLength: 1, maxLength: 6 })
    const property = fc.property(condition, series, collections, (input, batches, members) => {
      const checkedCondition = checked(input)
      const compiled = compile(checkedCondition)
      const context = contextOf(members)
      const snapshot = new RowSnapshot(undefined, SETTINGS)
      let before = membersByType(compiled, snapshot, context)
      for (const [index, batch] of batches.entries()) {
        const { changed, attributes } = snapshot.apply(batch)
        // Then the evaluator takes all objects as changed.
        const isWhole = attributes.has(LEADERS_MOVED) && attributesRead(checked(input)).has(LEADERS_MOVED)
        // A condition over all positions reads the other rows of a person too, and so does a membership for one position.
        const readsOthers =
          readsAnyPosition(checkedCondition.root) || members.some((collection) => collection?.kind === 'joinable')
        const held = readsOthers ? [...changed.identity].flatMap((id) => snapshot.heldBy(id)) : []
        const affected = {
          identity: changed.identity,
          relationship: changed.relationship.union(new Set(held)),
          orgUnit: changed.orgUnit.union(new Set(held.map((id) => snapshot.orgUnitOf(id)))),
        }
        const state = finalState(batches.slice(0, index + 1).flat())
        const after = membersByType(compiled, snapshot, context)
        assert.deepEqual(after, membersByType(compiled, loaded(state), context))
        assert.equal(snapshot.rowCount, naiveRows(state).length)
        assert.equal(snapshot.objectCount, state.filter(({ deleted }) => !deleted).length)
        ROW_TYPES.forEach((type, place) => {
          // A collection of org units cannot have such a condition.
          if (type === 'OrgUnit' && readsAnyPosition(checkedCondition.root)) return
          const turned = new Set(before[place]).symmetricDifference(new Set(after[place]))
          assert.deepEqual(
            [...turned].filter((id) => !isWhole && !affected[CORE[type]].has(id)),
            [],
          )
        })
        before = after
      }
    })
    fc.assert(property, { numRuns: 1500 })
  })

  it('gives of a snapshot that was forked what it gave before, and of the fork what it gives of a fresh one', () => {
    const series = fc.array(fc.array(snapshotObject, { maxLength: 6 }), { minLength: 2, maxLength: 5 })
    const property = fc.property(condition, series, collections, (input, batches, members) => {
      const compiled = compile(checked(input))
      const context = contextOf(members)
      let snapshot = new RowSnapshot(undefined, SETTINGS)
      const forked: { readonly origin: RowSnapshot; readonly before: string[][]; readonly rowCount: number }[] = []
      for (const [index, batch] of batches.entries()) {
        forked.push({
          origin: snapshot,
          before: membersByType(compiled, snapshot, context),
          rowCount: snapshot.rowCount,
        })
        snapshot = snapshot.forked()
        snapshot.apply(batch)
        const state = finalState(batches.slice(0, index + 1).flat())
        const fresh = loaded(state)
        assert.deepEqual(membersByType(compiled, snapshot, context), membersByType(compiled, fresh, context))
        assert.deepEqual([snapshot.rowCount, snapshot.objectCount], [fresh.rowCount, fresh.objectCount])
      }
      for (const { origin, before, rowCount } of forked) {
        assert.deepEqual(membersByType(compiled, origin, context), before)
        assert.deepEqual(membersByType(compile(checked(input)), origin, context), before)
        assert.equal(origin.rowCount, rowCount)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('agrees with the naive one where dictionaries and sets outgrow their small forms', () => {
    const property = fc.property(
      condition,
      fc.infiniteStream(snapshotObject),
      collections,
      (input, stream, members) => {
        const arrivals = [...stream.take(600)].map(spread)
        const { wire, root } = checked(input)
        const state = finalState(arrivals)
        const context = contextOf(members)
        const compiled = compile({ wire, root })
        const snapshot = loaded(arrivals)
        for (const type of ROW_TYPES) {
          assert.deepEqual(
            evaluate(compiled, snapshot, type, context),
            naiveMembers(wire, SCHEMA, state, type, context),
          )
        }
      },
    )
    fc.assert(property, { numRuns: 100 })
  })

  it('takes the same objects again without any change, and tells of those that are deleted', () => {
    fc.assert(
      fc.property(fc.array(snapshotObject, { maxLength: 20 }), (arrivals) => {
        const snapshot = loaded(arrivals)
        const again = finalState(arrivals)
        const change = snapshot.apply(again)
        assert.deepEqual([change.attributes.size, change.rowsMoved], [0, false])
        const deleted = again.filter((object) => object.deleted).map(({ id }) => id)
        assert.deepEqual(
          Object.values(change.changed)
            .flatMap((ids) => [...ids])
            .sort(),
          deleted.sort(),
        )
      }),
    )
  })

  it('reads its own stored form as the same condition', () => {
    fc.assert(
      fc.property(condition, (input) => {
        const { wire, root } = checked(input)
        assert.deepEqual(checked(JSON.parse(JSON.stringify(wire))), { wire, root })
      }),
    )
  })
})
