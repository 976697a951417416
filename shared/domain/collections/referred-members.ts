import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CachedEvaluation } from './members-now.ts'

/** Each collection after those that it refers to. */
export function inOrder(criteria: readonly Collection[]): Collection[] {
  const byId = new Map(criteria.map((collection) => [collection.id, collection]))
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  return order.flatMap((id) => byId.get(id) ?? [])
}

/** Those that are not criteria collections among what conditions name: joinable ones. */
export function joinablesReferredTo(criteria: readonly Collection[]): string[] {
  const own = new Set(criteria.map(({ id }) => id))
  return [...new Set(criteria.flatMap(({ refersTo }) => refersTo))].filter((id) => !own.has(id))
}

/** The members of other collections, as this round has them: in dependency order they are there when asked for. */
export function memberContext(
  todayMs: number,
  criteria: readonly Collection[],
  known: ReadonlyMap<string, CachedEvaluation>,
  joined: ReadonlyMap<string, CollectionMembers>,
): EvaluationContext {
  const objectTypes = new Map(criteria.map(({ id, objectType }) => [id, objectType as CriteriaObjectType]))
  const sets = new WeakMap<readonly string[], CollectionMembers>()
  return {
    todayMs,
    membersOf: (id) => {
      const ids = known.get(id)?.ids
      const objectType = objectTypes.get(id)
      if (ids === undefined || objectType === undefined) return joined.get(id)
      const members = sets.get(ids) ?? { kind: 'criteria', objectType, ids: new Set(ids) }
      sets.set(ids, members)
      return members
    },
  }
}
