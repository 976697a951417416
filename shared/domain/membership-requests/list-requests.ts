import { filteredPage } from '../../kernel/filtered-page.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { involves, isManagerOfGate, type Viewer } from './act-on-request.ts'
import { withCurrentApproverCounts } from './approvers.ts'
import { waitingPart } from './extension.ts'
import { gatesOf, policyOf } from './join-policy.ts'
import {
  type MembershipRequest,
  type MembershipRequestDto,
  OPEN_STATUSES,
  type RequestStatus,
} from './membership-request.ts'
import { approverSources, freshOrgChart, type Person, type RequestListDependencies } from './request-dependencies.ts'
import { toMembershipRequestDto } from './request-names.ts'
import {
  awaitsDecision,
  awaitsUnder,
  endedWithReader,
  type ReviewAccess,
  reviewAccess,
  reviewKeysOf,
} from './review-access.ts'
import { gateKey, isManagerKey, reviewKeyOf } from './review-keys.ts'

/** Which page of a list of requests, and in which status. */
export type RequestPage = PageRange & { readonly status?: RequestStatus | undefined }

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
  deps: RequestListDependencies,
): Promise<Page<MembershipRequestDto>> {
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const orgChart = await freshOrgChart(tenantId, deps)
  const query = { newestFirst: true, collectionId, ...(status === undefined ? {} : { status }) }
  if (seesAll) return described(await deps.requests.page(tenantId, query, after, size), [collection], orgChart, deps)
  if (identityId === undefined) return { items: [] }
  const access = await reviewAccess({ tenantId, identityId }, [collection], orgChart, deps)
  const reader = { identityId, reviewKeys: reviewKeysOf(access) }
  const isReadable = (request: MembershipRequest) =>
    involves(request, identityId) ||
    awaitsDecision(request, access) ||
    endedWithReader(request, access) ||
    isManagerOfGate(identityId, request, collection, orgChart)
  const read = (from: string | undefined, count: number) =>
    deps.requests.page(tenantId, { ...query, reader }, from, count)
  return described(await filteredPage(read, isReadable, after, size), [collection], orgChart, deps)
}

/** Lists all requests with the person as subject, decided ones included, newest first. */
export async function ownRequests(
  { tenantId, identityId }: Person,
  { status, after, size }: RequestPage,
  deps: RequestListDependencies,
): Promise<Page<MembershipRequestDto>> {
  const query = { newestFirst: true, requesterId: identityId, ...(status === undefined ? {} : { status }) }
  return describedInAll(tenantId, await deps.requests.page(tenantId, query, after, size), deps)
}

/** Lists the requests of all collections that await the person's decision, oldest first. */
export async function requestsAwaiting(
  person: Person,
  { after, size }: RequestPage,
  deps: RequestListDependencies,
): Promise<Page<MembershipRequestDto>> {
  const { tenantId } = person
  const { joinables, orgChart, access } = await reviewedBy(person, deps)
  const waitingUnder = reviewKeysOf(access)
  if (waitingUnder.length === 0) return { items: [] }
  const read = (from: string | undefined, count: number) =>
    deps.requests.page(tenantId, { newestFirst: false, waitingUnder }, from, count)
  const isDue = (request: MembershipRequest) => awaitsDecision(request, access)
  return described(await filteredPage(read, isDue, after, size), joinables, orgChart, deps)
}

/** What the person reviews: the joinable collections, and where the person decides. */
async function reviewedBy(person: Person, deps: RequestListDependencies) {
  const [orgChart, joinables] = await Promise.all([
    freshOrgChart(person.tenantId, deps),
    deps.collections.list(person.tenantId, 'joinable'),
  ])
  return { orgChart, joinables, access: await reviewAccess(person, joinables, orgChart, deps) }
}

/** Requests that are read together to be counted. */
const COUNTED_TOGETHER_COUNT = 500

/** The number of requests that await the person's decision. */
export async function countAwaiting(person: Person, deps: RequestListDependencies): Promise<number> {
  const { tenantId } = person
  const { access } = await reviewedBy(person, deps)
  const waitingUnder = reviewKeysOf(access)
  let count = 0
  let after: string | undefined
  if (waitingUnder.length === 0) return count
  do {
    const query = { newestFirst: false, waitingUnder }
    const page = await deps.requests.page(tenantId, query, after, COUNTED_TOGETHER_COUNT)
    count += page.items.filter((request) => awaitsDecision(request, access)).length
    after = page.continueAfter
  } while (after !== undefined)
  return count
}

/**
 * Lists the requests that the person submitted on behalf of others, newest first, with current approver counts. People
 * whom the person added directly are not among them.
 */
export async function submittedOnBehalf(
  { tenantId, identityId }: Person,
  deps: RequestListDependencies,
): Promise<readonly MembershipRequestDto[]> {
  const items = (await deps.requests.submittedOnBehalf(tenantId, identityId)).filter(wasRequested)
  return (await describedInAll(tenantId, { items }, deps)).items
}

/** A direct addition begins with the membership, also in the lifecycle. */
function wasRequested({ lifecycle }: MembershipRequest): boolean {
  return lifecycle[0]?.status !== 'Joined'
}

/** Lists the person's own requests, and memberships with an extension, that are not decided yet, newest first. */
export async function pendingRequests(
  { tenantId, identityId }: Person,
  deps: RequestListDependencies,
): Promise<readonly MembershipRequestDto[]> {
  const live = await deps.requests.liveOf(tenantId, identityId)
  const items = live
    .map(({ value }) => value)
    .filter(
      (request) => (OPEN_STATUSES as readonly string[]).includes(request.status) || waitingPart(request) !== undefined,
    )
  return (await describedInAll(tenantId, { items }, deps)).items
}

/** Returns a page of requests of any collections with current approver counts and names. */
async function describedInAll(
  tenantId: string,
  page: Page<MembershipRequest>,
  deps: RequestListDependencies,
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
  deps: Pick<RequestListDependencies, 'nowMs' | 'membershipResolver'>,
): Promise<Page<MembershipRequestDto>> {
  const [tenantId] = page.items.map((request) => request.tenantId)
  if (tenantId === undefined) return { ...page, items: [] }
  const byId = new Map(collections.map((collection) => [collection.id, collection]))
  const counted = await withCurrentApproverCounts(page.items, collections, tenantId, approverSources(orgChart, deps))
  const items = counted.map((request) => toMembershipRequestDto(request, byId.get(request.collectionId), orgChart))
  return { ...page, items }
}

/** Lists the joinable collections with requests that await the person's decision, by name. */
export async function collectionsToReview(person: Person, deps: RequestListDependencies): Promise<Collection[]> {
  const { joinables, access } = await reviewedBy(person, deps)
  const found = await Promise.all(access.accesses.map((reviewer) => keysWithRequests(reviewer, access, person, deps)))
  const [collectionIds, awaitedKeys] = [
    new Set(found.flatMap((result) => [...result.collectionIds])),
    new Set(found.flatMap((result) => [...result.awaitedKeys])),
  ]
  const isDue = async (collection: Collection): Promise<boolean> => {
    const keys = gatesOf(policyOf(collection)).map(({ order }) => gateKey(collection.id, order))
    if (collectionIds.has(collection.id) || keys.some((key) => awaitedKeys.has(key))) return true
    const asFallback = keys.filter((key) => access.accesses.some(({ fallbacks }) => fallbacks.has(key)))
    if (asFallback.length === 0) return false
    const waiting = await deps.requests.waitingIn(person.tenantId, collection.id, asFallback)
    return waiting.some((request) => awaitsDecision(request, access))
  }
  const due = await Promise.all(joinables.map(isDue))
  return joinables.filter((_, index) => due[index])
}

/**
 * The collections in which requests await the decision of one principal, and the keys of gates under which any do. Under
 * the key of a gate, any request awaits the decision, except own ones. So most keys need no look at requests.
 */
async function keysWithRequests(
  reviewer: ReviewAccess['accesses'][number],
  access: ReviewAccess,
  { tenantId, identityId }: Person,
  deps: Pick<RequestListDependencies, 'requests'>,
): Promise<{ readonly collectionIds: ReadonlySet<string>; readonly awaitedKeys: ReadonlySet<string> }> {
  const subjects = [...new Set([identityId, reviewer.principalId])]
  const own = (await Promise.all(subjects.map((id) => deps.requests.liveOf(tenantId, id)))).flat()
  const ownKeys = new Set(own.map(({ value }) => reviewKeyOf(value)))
  const [doubtful, certain] = partition([...reviewer.keys], (key) => isManagerKey(key) || ownKeys.has(key))
  const [waiting, awaited] = await Promise.all([
    deps.requests.waiting(tenantId, doubtful),
    deps.requests.awaitedKeys(tenantId, certain),
  ])
  const due = waiting.filter((request) => awaitsUnder(request, reviewer, access))
  return { collectionIds: new Set(due.map(({ collectionId }) => collectionId)), awaitedKeys: new Set(awaited) }
}

function partition<T>(all: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((item) => !isFirst(item))]
}

/**
 * Lists the requests of a collection that await the person's decision, newest first, with current approver counts.
 * @throws Refusal `CollectionNotFound`
 */
export async function requestsToReview(
  collectionId: string,
  person: Person,
  deps: RequestListDependencies,
): Promise<readonly MembershipRequestDto[]> {
  const { tenantId } = person
  const orgChart = await freshOrgChart(tenantId, deps)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const access = await reviewAccess(person, [collection], orgChart, deps)
  const waiting = await deps.requests.waitingIn(tenantId, collectionId, reviewKeysOf(access))
  const due = waiting.filter((request) => awaitsDecision(request, access))
  return (await described({ items: due }, [collection], orgChart, deps)).items
}
