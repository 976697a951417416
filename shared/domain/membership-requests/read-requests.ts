import { byName, type Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import { concerns, type Viewer } from './act-on-request.ts'
import { countedNow } from './gate-approvers.ts'
import { type MembershipRequest, OPEN_STATUSES } from './membership-request.ts'
import { freshOrgChart, type Person, type RequestDependencies } from './request-dependencies.ts'
import { isRequestAwaiting, reviewKeys } from './review-requests.ts'

/**
 * The requests for a collection that the viewer may see, newest first, approvers counted as of now: all, or one's own and those one decides on.
 * @throws Refusal `CollectionNotFound`
 */
export async function requestsOfCollection(
  tenantId: string,
  collectionId: string,
  { identityId, seesAll }: Viewer,
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const orgChart = await freshOrgChart(tenantId, deps)
  const counted = (requests: readonly MembershipRequest[]) =>
    countedNow(requests, [collection], tenantId, orgChart, deps.membershipResolver)
  if (seesAll) return counted(await deps.requests.ofCollection(tenantId, collectionId))
  if (identityId === undefined) return []
  const keys = await reviewKeys({ tenantId, identityId }, [collection], orgChart, deps)
  const requests = await deps.requests.ofCollection(tenantId, collectionId, { identityId, reviewKeys: keys })
  return counted(
    requests.filter(
      (request) => concerns(request, identityId) || isRequestAwaiting(request, keys, identityId, orgChart),
    ),
  )
}

/** What the person filed for others, newest first, approvers counted as of now. */
export async function submittedOnBehalf(
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  return countedInAll(tenantId, await deps.requests.submittedOnBehalf(tenantId, identityId), deps)
}

/** The person's own requests that are still to be decided, newest first, approvers counted as of now. */
export async function pendingRequests(
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  const live = await deps.requests.liveOf(tenantId, identityId)
  const open = live
    .map(({ value }) => value)
    .filter(({ status }) => (OPEN_STATUSES as readonly string[]).includes(status))
  return countedInAll(tenantId, open, deps)
}

/** The same requests, of any collections. */
async function countedInAll(
  tenantId: string,
  requests: readonly MembershipRequest[],
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  const waiting = requests.flatMap(({ currentGate, collectionId }) => (currentGate === null ? [] : [collectionId]))
  if (waiting.length === 0) return [...requests]
  const [orgChart, collections] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.existing(tenantId, [...new Set(waiting)]),
  ])
  return countedNow(requests, collections, tenantId, orgChart, deps.membershipResolver)
}

/** The joinable collections that the person is a member of, by name. */
export async function memberOf({ tenantId, identityId }: Person, deps: RequestDependencies): Promise<Collection[]> {
  const memberships = await deps.joined.ofIdentity(tenantId, identityId)
  const collections = await deps.collections.existing(tenantId, [...memberships.keys()])
  return collections.toSorted(byName)
}
