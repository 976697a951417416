import { forEachConcurrent } from '../../kernel/concurrency.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { isMembershipChange, isRequestConflict, readRequests } from './apply-transitions.ts'
import { isLive, type MembershipRequest } from './membership-request.ts'
import { type ObjectStatuses, readObjectStatuses } from './object-statuses.ts'
import { planReconciliation } from './plan-reconciliation.ts'
import {
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
type StateDependencies = OrgChartSource & Pick<JoinDependencies, 'collections' | 'deletedObjects' | 'requests'>

/** What a reconciliation outside an evaluation needs: it notifies of changed members itself. */
export type ReconciledDependencies = StateDependencies & MemberNotifier

/**
 * Brings requests in line with the core objects that they name and with their collections: ends, moves and restores
 * them. Memberships move from one identity to another in one transaction per collection. Repeating the call has no
 * further effect.
 * @returns Ids of the collections whose members changed, and whether any request changed.
 */
export async function reconcileRequests(
  tenantId: string,
  requests: readonly Versioned<MembershipRequest>[],
  deps: StateDependencies,
): Promise<{ readonly changedCollections: ReadonlySet<string>; readonly hasChanged: boolean }> {
  const changedCollections = new Set<string>()
  let hasChanged = false
  let pending = requests
  for (let attempt = 1; pending.length > 0; attempt += 1) {
    const conflicted: MembershipRequest[] = []
    const saved: MembershipRequest[] = []
    await forEachConcurrent(
      await planned(tenantId, pending, deps),
      COLLECTIONS_AT_ONCE_COUNT,
      async ([id, changes]) => {
        hasChanged = true
        if (changes.some(isMembershipChange)) changedCollections.add(id)
        const areSaved = await savesAll(changes, deps)
        ;(areSaved ? saved : conflicted).push(...changes.map(({ after }) => after))
      },
    )
    if (attempt === MAX_ATTEMPTS && conflicted.length > 0) {
      throw new Error(`${conflicted.length} requests kept changing while they were reconciled`)
    }
    const returned = await withLivePerson(tenantId, saved, deps)
    const ids = [...conflicted, ...returned].map(({ id }) => id)
    pending = await readRequests(tenantId, ids, deps)
  }
  return { changedCollections, hasChanged }
}

/**
 * Of the saved requests, the memberships that ended by a deletion and whose person is live by now. An instance that has
 * brought back what came back with this person did not find them: they had not ended yet.
 */
async function withLivePerson(
  tenantId: string,
  saved: readonly MembershipRequest[],
  deps: OrgChartSource,
): Promise<MembershipRequest[]> {
  const restorable = saved.filter(({ restorableUntilMs }) => restorableUntilMs !== undefined)
  if (restorable.length === 0) return []
  const orgChart = await freshOrgChart(tenantId, deps)
  return restorable.filter(({ requesterId }) => orgChart.has('identity', requesterId))
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
  const { changedCollections, hasChanged } = await reconcileRequests(tenantId, created, deps)
  await notifyMembershipChanges(tenantId, changedCollections, deps)
  return hasChanged
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
  // After the requests: one that is missing here was deleted.
  const byCollection = Map.groupBy(all, ({ value }) => value.collectionId)
  const found = await deps.collections.existing(tenantId, [...byCollection.keys()])
  const collections = new Map(found.map((collection) => [collection.id, collection]))
  return [...byCollection].flatMap(([id, ofOne]) => {
    const changes = planReconciliation(ofOne, collections.get(id), statuses, deps.nowMs())
    return changes.length === 0 ? [] : [[id, changes] satisfies [string, RequestChange[]]]
  })
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
