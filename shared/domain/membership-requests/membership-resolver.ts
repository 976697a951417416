import { dayOf } from '../../kernel/timestamp.ts'
import type { Collection } from '../collections/collection.ts'
import {
  compiledCondition,
  contextOver,
  type LiveDependencies,
  liveContext,
  objectTypeOf,
  withReferences,
} from '../collections/live-members.ts'
import { CORE_TYPE, type CollectionMembers, isRowOf } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import { evaluateObjects } from '../criteria/evaluate.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'

/** Who is in a collection at this moment, of either kind. A person is when one of their rows is: decisions, section 10. */
export interface MembershipResolver {
  /** Those of the collections that the identity is in. Few looks at the store, however many collections there are. */
  collectionsOf(
    tenantId: string,
    identityId: string,
    collectionIds: readonly string[],
    orgChart: OrgChart,
  ): Promise<ReadonlySet<string>>
  /** The identities in each of the collections. */
  identitiesIn(
    tenantId: string,
    collectionIds: readonly string[],
    orgChart: OrgChart,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>>
}

/** Conditions kept ready for the next time. */
const CONDITIONS_KEPT_COUNT = 2000

/**
 * Criteria are evaluated here and now, for the one person or as a whole: the materialised members are seconds behind,
 * and reading them would cost a look for each collection.
 */
export function liveMembershipResolver(deps: LiveDependencies): MembershipResolver {
  const conditions = new Map<string, CompiledCondition>()
  const conditionOf = (collection: Collection): CompiledCondition => {
    const key = `${collection.tenantId}:${collection.id}:${collection.definitionVersion}`
    const known = conditions.get(key)
    if (known !== undefined) return known
    if (conditions.size >= CONDITIONS_KEPT_COUNT) conditions.clear()
    const compiled = compiledCondition(collection)
    conditions.set(key, compiled)
    return compiled
  }

  return {
    async collectionsOf(tenantId, identityId, collectionIds, orgChart) {
      if (collectionIds.length === 0) return new Set()
      const [collections, own] = await Promise.all([
        withReferences(tenantId, collectionIds, deps),
        deps.joined.ofIdentity(tenantId, identityId),
      ])
      const nested = await deps.joined.of(tenantId, joinablesWithinConditions(collections))
      const memberships = (id: string) => nested.get(id)?.memberships ?? own.get(id) ?? []
      const context = contextOver(collections, dayOf(deps.nowMs()), memberships, (collection, within) => {
        const isMember = (id: string) =>
          evaluateObjects(conditionOf(collection), orgChart.rows, objectTypeOf(collection), [id], within).get(id) ===
          true
        return new LazySet(isMember)
      })
      const rows = orgChart.rowsOf(identityId)
      const isIn = (id: string) => {
        const members = context.membersOf(id)
        return members !== undefined && rows.some((row) => isRowOf(members, row, orgChart.rows))
      }
      return new Set(collectionIds.filter(isIn))
    },
    async identitiesIn(tenantId, collectionIds, orgChart) {
      const context = await liveContext(tenantId, collectionIds, orgChart.rows, deps, conditionOf)
      return new Map(collectionIds.map((id) => [id, new Set(identitiesBehind(context.membersOf(id), orgChart))]))
    },
  }
}

function joinablesWithinConditions(collections: ReadonlyMap<string, Collection>): string[] {
  const named = [...collections.values()].flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
  return [...new Set(named)].filter((id) => collections.get(id)?.kind === 'joinable')
}

function identitiesBehind(members: CollectionMembers | undefined, orgChart: OrgChart): string[] {
  if (members === undefined) return []
  if (members.kind === 'joinable') {
    return members.memberships.map(({ identityId }) => identityId).filter((id) => orgChart.has('identity', id))
  }
  switch (CORE_TYPE[members.objectType]) {
    case 'identity':
      return [...members.ids]
    case 'relationship':
      return [...members.ids].flatMap((id) => orgChart.holderOf(id) ?? [])
    case 'orgUnit':
      return [...members.ids].flatMap((id) => orgChart.holdersIn(id))
  }
}

/** A set that finds out about an id when it is asked, and remembers. For looking one object up, not for walking through. */
class LazySet extends Set<string> {
  readonly #answers = new Map<string, boolean>()
  readonly #ask: (id: string) => boolean

  constructor(ask: (id: string) => boolean) {
    super()
    this.#ask = ask
  }

  override has(id: string): boolean {
    const known = this.#answers.get(id)
    if (known !== undefined) return known
    const answer = this.#ask(id)
    this.#answers.set(id, answer)
    return answer
  }
}
