import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { countedNow } from './gate-approvers.ts'
import { approverCollections, gatesOf, policyOf } from './join-policy.ts'
import { gateKey, isManagerKey, type MembershipRequest, reviewKeyOf, subjectKey } from './membership-request.ts'
import { freshOrgChart, type Person, type RequestDependencies } from './request-dependencies.ts'
import type { WaitingRequest } from './request-store.ts'

/**
 * The keys under which requests in these collections may wait for the identity: the gates where it is an approver, and
 * the people whom it manages. What is found under a person's key is still to be checked with `isAwaiting`.
 */
export async function reviewKeys(
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

/** Whether a request found under one of the identity's keys does wait for it. Nobody decides on their own. */
function isAwaiting(
  { requesterId, relationshipId, reviewKey }: Omit<WaitingRequest, 'collectionId'>,
  identityId: string,
  orgChart: OrgChart,
): boolean {
  if (requesterId === identityId) return false
  return !isManagerKey(reviewKey) || orgChart.managersOf(requesterId, relationshipId).has(identityId)
}

/** The same for a whole request, found in whatever way. */
export function isRequestAwaiting(
  request: MembershipRequest,
  keys: readonly string[],
  identityId: string,
  orgChart: OrgChart,
): boolean {
  const reviewKey = reviewKeyOf(request)
  if (reviewKey === null || !keys.includes(reviewKey)) return false
  return isAwaiting({ ...request, reviewKey }, identityId, orgChart)
}

/** The joinable collections with requests that wait for the person, by name. */
export async function collectionsToReview(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [orgChart, joinables] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.list(tenantId, { kind: 'joinable' }),
  ])
  const keys = await reviewKeys(person, joinables, orgChart, deps)
  const waiting = await deps.requests.waiting(tenantId, keys)
  const due = new Set(
    waiting.filter((request) => isAwaiting(request, identityId, orgChart)).map(({ collectionId }) => collectionId),
  )
  return joinables.filter(({ id }) => due.has(id))
}

/**
 * The requests in a collection that wait for the person, newest first, approvers counted as of now. None for someone who decides nothing there.
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
  const due = waiting.filter((request) => isRequestAwaiting(request, keys, identityId, orgChart))
  return countedNow(due, [collection], tenantId, orgChart, deps.membershipResolver)
}
