import { forEachConcurrent } from '../../kernel/concurrency.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { isMembershipChange, isRequestConflict, readRequests } from './apply-transitions.ts'
import { isLive, type MembershipRequest } from './membership-request.ts'
import { type ObjectStatuses, readObjectStatuses } from './object-statuses.ts'
import { planReconciliation } from './plan-reconciliation.ts'
import {
  type AreTwoPeople,
  freshOrgChart,
  type JoinDependencies,
  type MemberNotifier,
  notifyMembershipChanges,
  type OrgChartSource,
  type RequestChange,
} from './request-dependencies.ts'

/** Collections whose requests are written at the same time. */
const COLLECTIONS_AT_ONCE_COUNT = 10

/** Attempts for requests that concurrent actions change at the same time. */
const MAX_ATTEMPTS = 5

/** What requests depend on: core objects and collections. */
type StateDependencies = OrgChartSource &
  Pick<JoinDependencies, 'collections' | 'deletedObjects' | 'requests' | 'toldApart'>

/** What a reconciliation outside an evaluation needs: it notifies of changed members itself. */
export type ReconciledDependencies = StateDependencies & MemberNotifier

/**
 * Brings requests in line with the core objects that they name and with their collections: ends, moves and restores
 * them. Memberships move from one identity to another in one transaction per collection. Repeating the call has no
 * further effect.
 * @param notify Called with the ids of the collections whose members change, also when a save fails: a repetition does
 * not find what was saved before.
 * @returns Whether any request changed.
 */
export async function reconcileRequests(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  deps: StateDependencies,
  notify: (collectionIds: ReadonlySet<string>) => Promise<void>,
): Promise<boolean> {
  const changedCollections = new Set<string>()
  try {
    return await saveReconciled(tenantId, requests, deps, changedCollections)
  } finally {
    await notify(changedCollections)
  }
}

/** @param changedCollections Receives the ids of the collections whose members change. */
async function saveReconciled(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  deps: StateDependencies,
  changedCollections: Set<string>,
): Promise<boolean> {
  let hasChanged = false
  let pending = requests
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    const conflicted: MembershipRequest[] = []
    const saved: MembershipRequest[] = []
    const failures: unknown[] = []
    await forEachConcurrent(
      await planned(tenantId, pending, deps),
      COLLECTIONS_AT_ONCE_COUNT,
      async ([id, changes]) => {
        hasChanged = true
        if (changes.some(isMembershipChange)) changedCollections.add(id)
        try {
          const areSaved = await savesAll(changes, deps)
          ;(areSaved ? saved : conflicted).push(...changes.map(({ after }) => after))
        } catch (error) {
          failures.push(error)
        }
      },
    )
    // After all saves have ended: one that goes on would change members after the notification.
    if (failures.length > 0) throw failures[0]
    if (attempt === MAX_ATTEMPTS && conflicted.length > 0) {
      throw new Error(`${conflicted.length} requests kept changing while they were reconciled`)
    }
    const outdated = await outdatedAmong(tenantId, saved, deps)
    const ids = [...conflicted, ...outdated].map(({ id }) => id)
    pending = await readRequests(tenantId, ids, deps)
  }
  return hasChanged
}

/**
 * Of the saved requests, the memberships that ended by a deletion and whose person is live by now, and the live requests
 * whose person or position is not. An instance that has followed that meanwhile did not find them as they are now.
 */
async function outdatedAmong(
  tenantId: string,
  saved: readonly MembershipRequest[],
  deps: OrgChartSource,
): Promise<MembershipRequest[]> {
  const following = saved.filter((request) => isLive(request) || request.restorableUntilMs !== undefined)
  if (following.length === 0) return []
  const orgChart = await freshOrgChart(tenantId, deps)
  return following.filter((request) => {
    const { requesterId, relationshipId } = request
    if (!isLive(request)) return orgChart.has('identity', requesterId)
    const hasPosition = relationshipId === null || orgChart.has('relationship', relationshipId)
    return !orgChart.has('identity', requesterId) || !hasPosition
  })
}

/**
 * Brings new requests in line with core objects that were deleted, merged or handed over, and with a collection that
 * was deleted, shortly before they were saved: what happens later is followed by the evaluation.
 * @returns Whether any request changed.
 */
export async function endOrphaned(
  created: readonly Versioned<MembershipRequest>[],
  deps: ReconciledDependencies,
): Promise<boolean> {
  const [first] = created
  if (first === undefined) return false
  const { tenantId } = first.value
  return reconcileRequests(tenantId, created, deps, (ids) => notifyMembershipChanges(tenantId, ids, deps))
}

/** The changes by collection, for those that have any. */
async function planned(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  deps: StateDependencies,
): Promise<[string, RequestChange[]][]> {
  const named = requests.flatMap(({ value: { requesterId, relationshipId } }) => [requesterId, relationshipId ?? []])
  const statuses = await readObjectStatuses(tenantId, named.flat(), deps)
  const all = await withRequestsOfOwners(tenantId, requests, statuses, deps)
  const areTwoPeople = await toldApartFrom(tenantId, all, statuses, deps)
  // After the requests: one that is missing here was deleted.
  const byCollection = Map.groupBy(all, ({ value }) => value.collectionId)
  const found = await deps.collections.existing(tenantId, [...byCollection.keys()])
  const collections = new Map(found.map((collection) => [collection.id, collection]))
  return [...byCollection].flatMap(([id, ofOne]) => {
    const changes = planReconciliation(ofOne, collections.get(id), { ...statuses, areTwoPeople }, deps.nowMs())
    return changes.length === 0 ? [] : [[id, changes] satisfies [string, RequestChange[]]]
  })
}

/** Tells the people of requests from those who hold their positions now. */
async function toldApartFrom(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  { orgChart, identity }: ObjectStatuses,
  deps: Pick<StateDependencies, 'toldApart'>,
): Promise<AreTwoPeople> {
  const coreObjectIds = requests.flatMap(({ value: { requesterId, relationshipId } }) => {
    const { id } = identity(requesterId)
    if (relationshipId === null) return []
    const holderId = orgChart.holderOf(relationshipId)
    return holderId === undefined || holderId === id ? [] : [id, holderId, relationshipId]
  })
  return coreObjectIds.length === 0 ? () => true : deps.toldApart(tenantId, coreObjectIds)
}

/**
 * Adds the live requests of the identities to which some requests move or come back: they can share a slot.
 */
async function withRequestsOfOwners(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  statuses: ObjectStatuses,
  deps: Pick<StateDependencies, 'requests'>,
): Promise<Versioned<MembershipRequest>[]> {
  const owners = requests.flatMap(({ value }) => {
    const { id } = statuses.identity(value.requesterId)
    return isLive(value) && id === value.requesterId ? [] : [id]
  })
  const ofOwners = owners.length === 0 ? [] : await deps.requests.liveOfObjects(tenantId, [...new Set(owners)])
  return [...new Map([...requests, ...ofOwners].map((request) => [request.value.id, request])).values()]
}

/** @returns False when a request has changed since it was read. Batches before the conflict are saved. */
async function savesAll(
  changes: readonly RequestChange[],
  deps: Pick<StateDependencies, 'requests'>,
): Promise<boolean> {
  try {
    for (const batch of deps.requests.batches(changes)) await deps.requests.save(batch)
    return true
  } catch (error) {
    if (isRequestConflict(error)) return false
    throw error
  }
}
