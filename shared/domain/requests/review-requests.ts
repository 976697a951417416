import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/read-then-write.ts'
import { countedNow } from './gate-people.ts'
import { approverCollections, gatesOf, policyOf } from './join-policy.ts'
import { gateKey, isManagerKey, type MembershipRequest, reviewKeyOf, subjectKey } from './membership-request.ts'
import type { People } from './people.ts'
import { freshPeople, type Person, type RequestDependencies } from './request-dependencies.ts'
import type { WaitingRequest } from './request-store.ts'

/**
 * The keys under which requests in these collections may wait for the identity: the gates where it is an approver, and
 * the people whom it manages. What is found under a person's key is still to be checked with `isAwaiting`.
 */
export async function reviewKeys(
  { tenantId, identityId }: Person,
  collections: readonly Collection[],
  people: People,
  deps: RequestDependencies,
): Promise<string[]> {
  const gates = collections.flatMap((collection) =>
    gatesOf(policyOf(collection)).map((gate) => ({ gate, key: gateKey(collection.id, gate.order) })),
  )
  const memberOf = await deps.standing.collectionsOf(
    tenantId,
    identityId,
    approverCollections(gates.map(({ gate }) => gate)),
    people,
  )
  const isNamed = ({ gate: { type, approvers } }: (typeof gates)[number]) =>
    type === 'Identity' ? approvers.includes(identityId) : approvers.some((id) => memberOf.has(id))
  const keys = gates.filter(isNamed).map(({ key }) => key)
  const isManaged = gates.some(({ gate }) => gate.type === 'Manager')
  return isManaged ? [...keys, ...people.reportsOf(identityId).map(subjectKey)] : keys
}

/** Whether a request found under one of the identity's keys does wait for it. Nobody decides on their own. */
function isAwaiting(
  { requesterId, relationshipId, reviewKey }: Omit<WaitingRequest, 'collectionId'>,
  identityId: string,
  people: People,
): boolean {
  if (requesterId === identityId) return false
  return !isManagerKey(reviewKey) || people.managersOf(requesterId, relationshipId).has(identityId)
}

/** The same for a whole request, found in whatever way. */
export function isRequestAwaiting(
  request: MembershipRequest,
  keys: readonly string[],
  identityId: string,
  people: People,
): boolean {
  const reviewKey = reviewKeyOf(request)
  if (reviewKey === null || !keys.includes(reviewKey)) return false
  return isAwaiting({ ...request, reviewKey }, identityId, people)
}

/** The joinable collections with requests that wait for the person, by name. */
export async function collectionsToReview(person: Person, deps: RequestDependencies): Promise<Collection[]> {
  const { tenantId, identityId } = person
  const [people, joinables] = await Promise.all([
    freshPeople(tenantId, deps),
    deps.collections.list(tenantId, { kind: 'joinable' }),
  ])
  const keys = await reviewKeys(person, joinables, people, deps)
  const waiting = await deps.requests.waiting(tenantId, keys)
  const due = new Set(
    waiting.filter((request) => isAwaiting(request, identityId, people)).map(({ collectionId }) => collectionId),
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
  const people = await freshPeople(tenantId, deps)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const keys = await reviewKeys(person, [collection], people, deps)
  const waiting = await deps.requests.waitingIn(tenantId, collectionId, keys)
  const due = waiting.filter((request) => isRequestAwaiting(request, keys, identityId, people))
  return countedNow(due, [collection], tenantId, people, deps.standing)
}
