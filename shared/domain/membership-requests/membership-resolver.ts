import { LRUCache } from 'lru-cache'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { dayOf } from '../../kernel/timestamp.ts'
import { type LiveDependencies, lazyContext, liveContext, withReferences } from '../collections/live-members.ts'
import { CORE_TYPE, type CollectionMembers, isRowOf } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'

/**
 * Resolves the current members of collections of either kind. An identity is a member when one of its rows is: decisions,
 * section 10.
 */
export interface MembershipResolver {
  /** Returns the collections that the identity is a member of. The number of reads does not depend on their number. */
  collectionsOf(
    tenantId: string,
    identityId: string,
    collectionIds: readonly string[],
    orgChart: OrgChart,
  ): Promise<ReadonlySet<string>>
  /** Returns the identities in each of the collections. */
  identitiesIn(
    tenantId: string,
    collectionIds: readonly string[],
    orgChart: OrgChart,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>>
}

/** Compiled conditions kept in memory: as many as a tenant may have collections. */
const CONDITIONS_KEPT_COUNT = 5000

/**
 * Evaluates criteria collections on demand, for one identity or as a whole. Their materialised members are seconds old,
 * and reading them would take a read per collection.
 */
export function liveMembershipResolver(deps: LiveDependencies): MembershipResolver {
  const conditions = new LRUCache<string, CompiledCondition>({ max: CONDITIONS_KEPT_COUNT })
  return {
    async collectionsOf(tenantId, identityId, collectionIds, orgChart) {
      if (collectionIds.length === 0) return new Set()
      const [collections, own] = await Promise.all([
        withReferences(tenantId, collectionIds, deps),
        deps.joined.ofIdentity(tenantId, identityId),
      ])
      const context = await lazyContext(
        tenantId,
        collections,
        orgChart.rows,
        dayOf(deps.nowMs()),
        deps,
        conditions,
        own,
      )
      const rows = orgChart.rowsOf(identityId)
      const isIn = (id: string) => {
        const members = context.membersOf(id)
        return members !== undefined && rows.some((row) => isRowOf(members, row, orgChart.rows))
      }
      return deps.snapshots.reading(orgChart.rows, filterTask(collectionIds, isIn))
    },
    async identitiesIn(tenantId, collectionIds, orgChart) {
      const context = await liveContext(tenantId, collectionIds, orgChart.rows, deps, conditions)
      return new Map(collectionIds.map((id) => [id, new Set(identitiesBehind(context.membersOf(id), orgChart))]))
    },
  }
}

/** The ids that pass. One test in each step: it may evaluate a condition with all that it refers to. */
function* filterTask(ids: readonly string[], isIn: (id: string) => boolean): Task<ReadonlySet<string>> {
  const passed = new Set<string>()
  for (const id of ids) {
    yield
    if (isIn(id)) passed.add(id)
  }
  return passed
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
