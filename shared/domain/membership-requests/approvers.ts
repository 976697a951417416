import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { type GateApprovers, gateOf } from './decide-request.ts'
import { type ApprovalGate, approverCollections, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { MembershipResolver } from './membership-resolver.ts'

/** Whose request it is, and for which position. */
export type RequestSubject = Pick<MembershipRequest, 'requesterId' | 'relationshipId'>

/** Counts the approvers of gates, for any number of requests. */
export type ApproverCounter = (gate: ApprovalGate, subject: RequestSubject) => number

/** Reads who is in the approver collections of the gates; the rest is in the snapshot. */
export async function approverCounter(
  tenantId: string,
  gates: readonly ApprovalGate[],
  orgChart: OrgChart,
  membershipResolver: MembershipResolver,
): Promise<ApproverCounter> {
  const identitiesIn = await membershipResolver.identitiesIn(tenantId, approverCollections(gates), orgChart)
  const named = new Map<ApprovalGate, ReadonlySet<string>>()
  for (const gate of gates) named.set(gate, namedApprovers(gate, identitiesIn, orgChart))
  return (gate, { requesterId, relationshipId }) => {
    const approvers =
      gate.type === 'Manager'
        ? orgChart.managersOf(requesterId, relationshipId)
        : (named.get(gate) ?? new Set<string>())
    return approvers.size - Number(approvers.has(requesterId))
  }
}

/**
 * Requests with the approvers of their gates counted as of now. A request that nobody could decide when it came to its
 * gate may have found somebody since, and the other way round.
 * @param collections those of the requests; what is in none of them stays as it is.
 */
export async function withCurrentApproverCounts(
  requests: readonly MembershipRequest[],
  collections: readonly Collection[],
  tenantId: string,
  orgChart: OrgChart,
  membershipResolver: MembershipResolver,
): Promise<MembershipRequest[]> {
  const policies = new Map(collections.map((collection) => [collection.id, policyOf(collection)]))
  const gates = new Map<MembershipRequest, ApprovalGate>()
  for (const request of requests) {
    const policy = policies.get(request.collectionId)
    const gate = policy && gateOf(request, policy)
    if (gate !== undefined && gate.type === request.currentGate?.type) gates.set(request, gate)
  }
  const counter = await approverCounter(tenantId, [...new Set(gates.values())], orgChart, membershipResolver)
  return requests.map((request) => {
    const gate = gates.get(request)
    if (gate === undefined || request.currentGate === null) return request
    return { ...request, currentGate: { ...request.currentGate, approverCount: counter(gate, request) } }
  })
}

function namedApprovers(
  { type, approvers }: ApprovalGate,
  identitiesIn: ReadonlyMap<string, ReadonlySet<string>>,
  orgChart: OrgChart,
): ReadonlySet<string> {
  if (type === 'Identity') return new Set(approvers.filter((id) => orgChart.has('identity', id)))
  return new Set(approvers.flatMap((id) => [...(identitiesIn.get(id) ?? [])]))
}

/** Whether the identity is an approver at the gate, for this subject. Membership is looked up as it is now. */
export async function isApprover(
  tenantId: string,
  identityId: string | undefined,
  gate: ApprovalGate | undefined,
  { requesterId, relationshipId }: RequestSubject,
  orgChart: OrgChart,
  membershipResolver: MembershipResolver,
): Promise<boolean> {
  if (identityId === undefined || gate === undefined) return false
  switch (gate.type) {
    case 'Identity':
      return gate.approvers.includes(identityId)
    case 'Collection':
      return (await membershipResolver.collectionsOf(tenantId, identityId, gate.approvers, orgChart)).size > 0
    case 'Manager':
      return orgChart.managersOf(requesterId, relationshipId).has(identityId)
  }
}

/** For actions that nobody decides at a gate, but that may bring a request to one. */
export function approverCountsOnly(counter: ApproverCounter, subject: RequestSubject): GateApprovers {
  return { mayDecide: () => false, approverCount: (gate) => counter(gate, subject) }
}

/** For actions that lead to no gate. */
export const NO_APPROVERS: GateApprovers = { mayDecide: () => false, approverCount: () => 0 }
