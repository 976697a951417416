import type { Collection } from '../collections/collection.ts'
import { type GatePeople, gateOf } from './decide-request.ts'
import { type ApprovalGate, approverCollections, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { People } from './people.ts'
import type { Standing } from './standing.ts'

/** Whose request it is, and for which position. */
export type Subject = Pick<MembershipRequest, 'requesterId' | 'relationshipId'>

/** Counts the approvers of gates, for any number of requests. */
export type ApproverCounter = (gate: ApprovalGate, subject: Subject) => number

/** Reads who is in the approver collections of the gates; the rest is in the snapshot. */
export async function approverCounter(
  tenantId: string,
  gates: readonly ApprovalGate[],
  people: People,
  standing: Standing,
): Promise<ApproverCounter> {
  const identitiesIn = await standing.identitiesIn(tenantId, approverCollections(gates), people)
  const named = new Map<ApprovalGate, ReadonlySet<string>>()
  for (const gate of gates) named.set(gate, namedApprovers(gate, identitiesIn, people))
  return (gate, { requesterId, relationshipId }) => {
    const approvers =
      gate.type === 'Manager' ? people.managersOf(requesterId, relationshipId) : (named.get(gate) ?? new Set<string>())
    return approvers.size - Number(approvers.has(requesterId))
  }
}

/**
 * Requests with the approvers of their gates counted as of now. A request that nobody could decide when it came to its
 * gate may have found somebody since, and the other way round.
 * @param collections those of the requests; what is in none of them stays as it is.
 */
export async function countedNow(
  requests: readonly MembershipRequest[],
  collections: readonly Collection[],
  tenantId: string,
  people: People,
  standing: Standing,
): Promise<MembershipRequest[]> {
  const policies = new Map(collections.map((collection) => [collection.id, policyOf(collection)]))
  const gates = new Map<MembershipRequest, ApprovalGate>()
  for (const request of requests) {
    const policy = policies.get(request.collectionId)
    const gate = policy && gateOf(request, policy)
    if (gate !== undefined && gate.type === request.currentGate?.type) gates.set(request, gate)
  }
  const counter = await approverCounter(tenantId, [...new Set(gates.values())], people, standing)
  return requests.map((request) => {
    const gate = gates.get(request)
    if (gate === undefined || request.currentGate === null) return request
    return { ...request, currentGate: { ...request.currentGate, approverCount: counter(gate, request) } }
  })
}

function namedApprovers(
  { type, approvers }: ApprovalGate,
  identitiesIn: ReadonlyMap<string, ReadonlySet<string>>,
  people: People,
): ReadonlySet<string> {
  if (type === 'Identity') return new Set(approvers.filter((id) => people.has('identity', id)))
  return new Set(approvers.flatMap((id) => [...(identitiesIn.get(id) ?? [])]))
}

/** Whether the identity is an approver at the gate, for this subject. Membership is looked up as it is now. */
export async function isApprover(
  tenantId: string,
  identityId: string | undefined,
  gate: ApprovalGate | undefined,
  { requesterId, relationshipId }: Subject,
  people: People,
  standing: Standing,
): Promise<boolean> {
  if (identityId === undefined || gate === undefined) return false
  switch (gate.type) {
    case 'Identity':
      return gate.approvers.includes(identityId)
    case 'Collection':
      return (await standing.collectionsOf(tenantId, identityId, gate.approvers, people)).size > 0
    case 'Manager':
      return people.managersOf(requesterId, relationshipId).has(identityId)
  }
}

/** For actions that nobody decides at a gate, but that may bring a request to one. */
export function arrivals(counter: ApproverCounter, subject: Subject): GatePeople {
  return { mayDecide: () => false, approverCount: (gate) => counter(gate, subject) }
}

/** For actions that lead to no gate. */
export const NO_GATES: GatePeople = { mayDecide: () => false, approverCount: () => 0 }
