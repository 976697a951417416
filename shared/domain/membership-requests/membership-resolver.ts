import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import {
  type CachedCondition,
  type LiveDependencies,
  lazyContext,
  liveContext,
  withReferences,
} from '../collections/live-members.ts'
import { CORE_TYPE, type CollectionMembers, type Row } from '../criteria/collection-members.ts'
import type { EvaluationContext } from '../criteria/evaluation-context.ts'
import { isRowOfTask } from '../criteria/row-test.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

/**
 * Resolves the current members of collections of either kind. An identity is a member when one of its rows
 * is.
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
  const conditions = new LRUCache<string, CachedCondition>(upToEntries(CONDITIONS_KEPT_COUNT))
  return {
    async collectionsOf(tenantId, identityId, collectionIds, orgChart) {
      if (collectionIds.length === 0) return new Set()
      const [collections, own] = await Promise.all([
        withReferences(tenantId, collectionIds, deps),
        deps.joined.ofIdentity(tenantId, identityId),
      ])
      const { rows } = orgChart
      const todayMs = dayOn(rows, deps.nowMs())
      const { context, running } = await lazyContext(tenantId, collections, rows, todayMs, deps, conditions, own)
      const task = collectionsOfTask(collectionIds, orgChart.rowsOf(identityId), rows, context)
      return deps.snapshots.reading(rows, running(task))
    },
    async identitiesIn(tenantId, collectionIds, orgChart) {
      const context = await liveContext(tenantId, collectionIds, orgChart.rows, deps, conditions)
      return new Map(collectionIds.map((id) => [id, new Set(identitiesBehind(context.membersOf(id), orgChart))]))
    },
  }
}

/** The collections that have one of the rows as a member. */
function* collectionsOfTask(
  collectionIds: readonly string[],
  rows: readonly Row[],
  snapshot: RowSnapshot,
  context: EvaluationContext,
): Task<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const id of collectionIds) {
    for (const row of rows) {
      yield
      if (!(yield* isRowOfTask(id, row, snapshot, context))) continue
      found.add(id)
      break
    }
  }
  return found
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
