import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { gateOf, type PolicyFacts } from './decide-request.ts'
import { type ApprovalGate, approverCollections, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { MembershipResolver } from './membership-resolver.ts'

/** The identity that a request is for, and the position. */
export type RequestSubject = Pick<MembershipRequest, 'requesterId' | 'relationshipId'>

/** Returns the number of approvers at a gate for one request; the subject is not counted. */
export type ApproverCounter = (gate: ApprovalGate, subject: RequestSubject) => number

/**
 * Creates a counter for the gates. Reads the members of approver collections once; managers come from the org chart.
 */
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
 * Returns the requests with the current number of approvers at their gates, which can differ from the number when the
 * request reached the gate.
 * @param collections The collections of the requests. A request of any other collection is returned unchanged.
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
    if (gate !== undefined) gates.set(request, gate)
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

/** Whether the identity is an approver at the gate for this subject, by the current members of approver collections. */
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

/** For actions that are not decisions at a gate but can move a request to one. */
export function factsWithoutApprover(
  counter: ApproverCounter,
  subject: RequestSubject,
  isEligible: boolean,
): PolicyFacts {
  return { mayDecide: () => false, approverCount: (gate) => counter(gate, subject), isEligible }
}

/** For actions that never move a request to a gate. */
export const NO_FACTS: PolicyFacts = { mayDecide: () => false, approverCount: () => 0, isEligible: true }
