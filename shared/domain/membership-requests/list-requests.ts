import type { Caller, Role } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { byName, type Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { involves, type Viewer } from './act-on-request.ts'
import { withCurrentApproverCounts } from './approvers.ts'
import { approverCollections, gatesOf, policyOf } from './join-policy.ts'
import {
  gateKey,
  isManagerKey,
  type MembershipRequest,
  OPEN_STATUSES,
  reviewKeyOf,
  slotOf,
  subjectKey,
} from './membership-request.ts'
import type { WaitingRequest } from './request-dependencies.ts'
import { freshOrgChart, type Person, type RequestDependencies } from './request-dependencies.ts'

/**
 * Lists the requests of a collection that the viewer may see, newest first, with current approver counts: all requests, or
 * those that involve the viewer or await the viewer's decision.
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
    withCurrentApproverCounts(requests, [collection], tenantId, orgChart, deps.membershipResolver)
  if (seesAll) return counted(await deps.requests.ofCollection(tenantId, collectionId))
  if (identityId === undefined) return []
  const keys = await reviewKeys({ tenantId, identityId }, [collection], orgChart, deps)
  const requests = await deps.requests.ofCollection(tenantId, collectionId, { identityId, reviewKeys: keys })
  return counted(
    requests.filter(
      (request) => involves(request, identityId) || requestAwaitsIdentity(request, keys, identityId, orgChart),
    ),
  )
}

/** Lists the requests that the person submitted on behalf of others, newest first, with current approver counts. */
export async function submittedOnBehalf(
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  return countedInAll(tenantId, await deps.requests.submittedOnBehalf(tenantId, identityId), deps)
}

/** Lists the person's own requests that are not decided yet, newest first, with current approver counts. */
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

/** Returns the same requests with current approver counts. They may belong to any collections. */
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
  return withCurrentApproverCounts(requests, collections, tenantId, orgChart, deps.membershipResolver)
}

/** Lists the joinable collections that the person is a member of, by name. */
export async function memberOf({ tenantId, identityId }: Person, deps: RequestDependencies): Promise<Collection[]> {
  const memberships = await deps.joined.ofIdentity(tenantId, identityId)
  const collections = await deps.collections.existing(tenantId, [...memberships.keys()])
  return collections.toSorted(byName)
}

/**
 * Returns the review keys under which requests of these collections can await the identity's decision: the gates where it
 * is an approver, and the identities it may manage. Requests found under an identity's key must be checked with
 * `awaitsIdentity`.
 */
async function reviewKeys(
  { tenantId, identityId }: Person,
  collections: readonly Collection[],
  orgChart: OrgChart,
  deps: RequestDependencies,
): Promise<string[]> {
  const gates = collections.flatMap((collection) =>
    gatesOf(policyOf(collection)).map((gate) => ({ gate, key: gateKey(collection.id, gate.order) })),
  )
  const memberOf = await deps.membershipResolver.collectionsOf(
    tenantId,
    identityId,
    approverCollections(gates.map(({ gate }) => gate)),
    orgChart,
  )
  const isNamed = ({ gate: { type, approvers } }: (typeof gates)[number]) =>
    type === 'Identity' ? approvers.includes(identityId) : approvers.some((id) => memberOf.has(id))
  const keys = gates.filter(isNamed).map(({ key }) => key)
  const isManaged = gates.some(({ gate }) => gate.type === 'Manager')
  return isManaged ? [...keys, ...orgChart.reportsOf(identityId).map(subjectKey)] : keys
}

/** Whether a request found under one of the identity's review keys awaits its decision. Own requests never do. */
function awaitsIdentity(
  { requesterId, relationshipId, reviewKey }: Omit<WaitingRequest, 'collectionId'>,
  identityId: string,
  orgChart: OrgChart,
): boolean {
  if (requesterId === identityId) return false
  return !isManagerKey(reviewKey) || orgChart.managersOf(requesterId, relationshipId).has(identityId)
}

/** Whether a request, found by any query, awaits the decision of the identity with these review keys. */
function requestAwaitsIdentity(
  request: MembershipRequest,
  keys: readonly string[],
  identityId: string,
  orgChart: OrgChart,
): boolean {
  const reviewKey = reviewKeyOf(request)
  if (reviewKey === null || !keys.includes(reviewKey)) return false
  return awaitsIdentity({ ...request, reviewKey }, identityId, orgChart)
}

/** Lists the joinable collections with requests that await the person's decision, by name. */
export async function collectionsToReview(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [orgChart, joinables] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.list(tenantId, { kind: 'joinable' }),
  ])
  const [keys, own] = await Promise.all([
    reviewKeys(person, joinables, orgChart, deps),
    deps.requests.liveOf(tenantId, identityId),
  ])
  // Under the key of a gate, any request awaits the decision, except an own one. So most keys need no look at requests.
  const ownKeys = new Set(own.map(({ value }) => reviewKeyOf(value)))
  const [doubtful, certain] = partition(keys, (key) => isManagerKey(key) || ownKeys.has(key))
  const [waiting, awaited] = await Promise.all([
    deps.requests.waiting(tenantId, doubtful),
    deps.requests.awaitedKeys(tenantId, certain),
  ])
  const due = new Set(
    waiting.filter((request) => awaitsIdentity(request, identityId, orgChart)).map(({ collectionId }) => collectionId),
  )
  const awaitedKeys = new Set(awaited)
  const isDue = (collection: Collection) =>
    due.has(collection.id) ||
    gatesOf(policyOf(collection)).some(({ order }) => awaitedKeys.has(gateKey(collection.id, order)))
  return joinables.filter(isDue)
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}

/**
 * Lists the requests of a collection that await the person's decision, newest first, with current approver counts.
 * @throws Refusal `CollectionNotFound`
 */
export async function requestsToReview(
  collectionId: string,
  person: Person,
  deps: RequestDependencies,
): Promise<MembershipRequest[]> {
  const { tenantId, identityId } = person
  const orgChart = await freshOrgChart(tenantId, deps)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const keys = await reviewKeys(person, [collection], orgChart, deps)
  const waiting = await deps.requests.waitingIn(tenantId, collectionId, keys)
  const due = waiting.filter((request) => requestAwaitsIdentity(request, keys, identityId, orgChart))
  return withCurrentApproverCounts(due, [collection], tenantId, orgChart, deps.membershipResolver)
}

/** Roles that may read the eligible collections of any identity: decisions, section 2. */
export const ELIGIBILITY_READERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
]

/** Lists the collections that the person may request to join, by name, without those where every slot is taken. */
export async function eligibleCollections(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  return eligibleFor(person, await freshOrgChart(person.tenantId, deps), deps)
}

/**
 * Lists the eligible collections of an identity, given by core identity id or directory object id.
 * @param identityId The caller's identity, if any.
 * @throws Refusal `NotManager` for an unknown or foreign identity when the caller may read only their own and their reports'
 * collections; `IdentityNotFound` for other callers.
 */
export async function eligibleCollectionsOf(
  userId: string,
  caller: Caller,
  identityId: string | undefined,
  deps: RequestDependencies,
): Promise<Collection[]> {
  const { tenantId } = caller
  const orgChart = await freshOrgChart(tenantId, deps)
  const askedFor = orgChart.has('identity', userId) ? userId : orgChart.identityOfAccount(userId)
  if (!ELIGIBILITY_READERS.some((role) => caller.roles.has(role))) {
    const isOwnOrReport =
      askedFor !== undefined &&
      identityId !== undefined &&
      (askedFor === identityId || orgChart.isManagerOf(identityId, askedFor))
    if (!isOwnOrReport) throw new Refusal('NotManager', `Identity ${userId} does not report to the caller`)
  }
  if (askedFor === undefined) throw new Refusal('IdentityNotFound', `There is no identity ${userId}`)
  return eligibleFor({ tenantId, identityId: askedFor }, orgChart, deps)
}

async function eligibleFor(person: Person, orgChart: OrgChart, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [joinables, live] = await Promise.all([
    deps.collections.list(tenantId, { kind: 'joinable' }),
    deps.requests.liveOf(tenantId, identityId),
  ])
  const taken = new Set(live.map(({ value }) => value.slot))
  const positions = orgChart.activePositionsOf(identityId)
  const open = joinables.filter((collection) => hasFreeSlot(collection, identityId, positions, taken))
  const asked = [...new Set(open.flatMap((collection) => policyOf(collection).joinableBy.collectionIds))]
  const memberOf = await deps.membershipResolver.collectionsOf(tenantId, identityId, asked, orgChart)
  return open.filter((collection) => {
    const { collectionIds } = policyOf(collection).joinableBy
    return collectionIds.length === 0 || collectionIds.some((id) => memberOf.has(id))
  })
}

function hasFreeSlot(
  collection: Collection,
  identityId: string,
  positions: readonly string[],
  taken: ReadonlySet<string>,
): boolean {
  const slots = positions.length === 0 ? [null] : positions
  return slots.some((position) => !taken.has(slotOf(collection, identityId, position)))
}
