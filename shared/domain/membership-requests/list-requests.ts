import { filteredPage } from '../../kernel/filtered-page.ts'
import type { Page } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { involves, type Viewer } from './act-on-request.ts'
import { withCurrentApproverCounts } from './approvers.ts'
import { approverCollections, gatesOf, policyOf } from './join-policy.ts'
import {
  endedKeyOf,
  gateKey,
  isManagerKey,
  type MembershipRequest,
  type MembershipRequestDto,
  OPEN_STATUSES,
  type RequestStatus,
  reviewKeyOf,
  subjectKey,
} from './membership-request.ts'
import type { WaitingRequest } from './request-dependencies.ts'
import { freshOrgChart, type Person, type RequestDependencies } from './request-dependencies.ts'
import { toMembershipRequestDto } from './request-names.ts'

/** Which page of a list of requests, and in which status. */
export type RequestPage = {
  readonly status?: RequestStatus | undefined
  readonly after: string | undefined
  readonly size: number
}

/**
 * Lists the requests of a collection that the viewer may see, newest first, with current approver counts: all requests,
 * or those that involve the viewer, await the viewer's decision or ended where the viewer could decide.
 * @throws Refusal `CollectionNotFound`
 */
export async function requestsOfCollection(
  tenantId: string,
  collectionId: string,
  { identityId, seesAll }: Viewer,
  { status, after, size }: RequestPage,
  deps: RequestDependencies,
): Promise<Page<MembershipRequestDto>> {
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const orgChart = await freshOrgChart(tenantId, deps)
  const query = { newestFirst: true, collectionId, ...(status === undefined ? {} : { status }) }
  if (seesAll) return described(await deps.requests.page(tenantId, query, after, size), [collection], orgChart, deps)
  if (identityId === undefined) return { items: [] }
  const keys = await reviewKeys({ tenantId, identityId }, [collection], orgChart, deps)
  const reader = { identityId, reviewKeys: keys }
  const isReadable = (request: MembershipRequest) =>
    involves(request, identityId) || concernsApprover(request, keys, identityId, orgChart)
  const read = (from: string | undefined, count: number) =>
    deps.requests.page(tenantId, { ...query, reader }, from, count)
  return described(await filteredPage(read, isReadable, after, size), [collection], orgChart, deps)
}

/** Lists all requests of which the person is the subject, decided ones included, newest first. */
export async function ownRequests(
  { tenantId, identityId }: Person,
  { status, after, size }: RequestPage,
  deps: RequestDependencies,
): Promise<Page<MembershipRequestDto>> {
  const query = { newestFirst: true, requesterId: identityId, ...(status === undefined ? {} : { status }) }
  return describedInAll(tenantId, await deps.requests.page(tenantId, query, after, size), deps)
}

/** Lists the requests of all collections that await the person's decision, oldest first. */
export async function requestsAwaiting(
  person: Person,
  { after, size }: RequestPage,
  deps: RequestDependencies,
): Promise<Page<MembershipRequestDto>> {
  const { tenantId, identityId } = person
  const [orgChart, joinables] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.list(tenantId, 'joinable'),
  ])
  const waitingUnder = await reviewKeys(person, joinables, orgChart, deps)
  if (waitingUnder.length === 0) return { items: [] }
  const read = (from: string | undefined, count: number) =>
    deps.requests.page(tenantId, { newestFirst: false, waitingUnder }, from, count)
  const isDue = (request: MembershipRequest) => requestAwaitsIdentity(request, waitingUnder, identityId, orgChart)
  return described(await filteredPage(read, isDue, after, size), joinables, orgChart, deps)
}

/** Lists the requests that the person submitted on behalf of others, newest first, with current approver counts. */
export async function submittedOnBehalf(
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
): Promise<readonly MembershipRequestDto[]> {
  const items = await deps.requests.submittedOnBehalf(tenantId, identityId)
  return (await describedInAll(tenantId, { items }, deps)).items
}

/** Lists the person's own requests that are not decided yet, newest first, with current approver counts. */
export async function pendingRequests(
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
): Promise<readonly MembershipRequestDto[]> {
  const live = await deps.requests.liveOf(tenantId, identityId)
  const items = live
    .map(({ value }) => value)
    .filter(({ status }) => (OPEN_STATUSES as readonly string[]).includes(status))
  return (await describedInAll(tenantId, { items }, deps)).items
}

/** Returns a page of requests of any collections with current approver counts and names. */
async function describedInAll(
  tenantId: string,
  page: Page<MembershipRequest>,
  deps: RequestDependencies,
): Promise<Page<MembershipRequestDto>> {
  if (page.items.length === 0) return { ...page, items: [] }
  const named = new Set(page.items.map(({ collectionId }) => collectionId))
  const [orgChart, collections] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.existing(tenantId, [...named]),
  ])
  return described(page, collections, orgChart, deps)
}

/** Returns a page of requests of these collections with current approver counts and names. */
async function described(
  page: Page<MembershipRequest>,
  collections: readonly Collection[],
  orgChart: OrgChart,
  { membershipResolver }: RequestDependencies,
): Promise<Page<MembershipRequestDto>> {
  const [tenantId] = page.items.map((request) => request.tenantId)
  if (tenantId === undefined) return { ...page, items: [] }
  const byId = new Map(collections.map((collection) => [collection.id, collection]))
  const counted = await withCurrentApproverCounts(page.items, collections, tenantId, orgChart, membershipResolver)
  const items = counted.map((request) => toMembershipRequestDto(request, byId.get(request.collectionId), orgChart))
  return { ...page, items }
}

/**
 * Returns the review keys under which requests of these collections can await the identity's decision: the gates where
 * it is an approver, and the identities it may manage. Requests found under an identity's key must be checked with
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

/** Whether a request awaits the identity's decision, or ended at a gate where it is an approver. */
function concernsApprover(
  request: MembershipRequest,
  keys: readonly string[],
  identityId: string,
  orgChart: OrgChart,
): boolean {
  if (requestAwaitsIdentity(request, keys, identityId, orgChart)) return true
  const endedKey = endedKeyOf(request)
  if (endedKey === null || !keys.includes(endedKey)) return false
  return awaitsIdentity({ ...request, reviewKey: endedKey }, identityId, orgChart)
}

/** Lists the joinable collections with requests that await the person's decision, by name. */
export async function collectionsToReview(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [orgChart, joinables] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.list(tenantId, 'joinable'),
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
): Promise<readonly MembershipRequestDto[]> {
  const { tenantId, identityId } = person
  const orgChart = await freshOrgChart(tenantId, deps)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const keys = await reviewKeys(person, [collection], orgChart, deps)
  const waiting = await deps.requests.waitingIn(tenantId, collectionId, keys)
  const due = waiting.filter((request) => requestAwaitsIdentity(request, keys, identityId, orgChart))
  return (await described({ items: due }, [collection], orgChart, deps)).items
}
