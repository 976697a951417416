import { DAY_MS } from '../../kernel/timestamp.ts'
import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { PolicyFacts } from './decide-request.ts'
import { gateOf, waitingPart, waitingSinceMs } from './extension.ts'
import { type ApprovalGate, approverCollections, type Fallback, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { MembershipResolver } from './membership-resolver.ts'

/** The identity that a request is for, and the position. */
type RequestSubject = Pick<MembershipRequest, 'requesterId' | 'relationshipId'>

/** What tells who may decide now. */
export type ApproverSources = {
  readonly orgChart: OrgChart
  readonly membershipResolver: MembershipResolver
  readonly nowMs: number
}

/**
 * Returns the number of approvers at a gate for one request; the subject is not counted.
 * @param sinceMs Since when the request waits there. Without it, it has just come.
 */
export type ApproverCounter = (gate: ApprovalGate, subject: RequestSubject, sinceMs?: number) => number

/**
 * Creates a counter for the gates. Reads the members of approver collections once; managers come from the org chart.
 */
export async function approverCounter(
  tenantId: string,
  gates: readonly ApprovalGate[],
  { orgChart, membershipResolver, nowMs }: ApproverSources,
): Promise<ApproverCounter> {
  const approversOf = await approverFinder(tenantId, gates, { orgChart, membershipResolver, nowMs })
  return (gate, subject, sinceMs) => approversOf(gate, subject, sinceMs).size
}

/** The identities that may decide on a request at its gate now, as approvers. The subject is not among them. */
export async function approversAt(
  gate: ApprovalGate,
  request: MembershipRequest,
  sources: ApproverSources,
): Promise<ReadonlySet<string>> {
  return (await approverFinder(request.tenantId, [gate], sources))(gate, request, waitingSinceMs(request))
}

type ApproverFinder = (gate: ApprovalGate, subject: RequestSubject, sinceMs?: number) => ReadonlySet<string>

async function approverFinder(
  tenantId: string,
  gates: readonly ApprovalGate[],
  { orgChart, membershipResolver, nowMs }: ApproverSources,
): Promise<ApproverFinder> {
  const identitiesIn = await membershipResolver.identitiesIn(tenantId, approverCollections(gates), orgChart)
  return finderAmong(gates, identitiesIn, orgChart, nowMs)
}

/**
 * The identities that may decide on a request at its gate now, as far as the policy or the org chart names them.
 * Members of collections are not read: none at a gate of collections, and none of a fallback of collections.
 */
export function namedApproversAt(
  gate: ApprovalGate,
  request: MembershipRequest,
  orgChart: OrgChart,
): ReadonlySet<string> {
  if (gate.type === 'Collection') return new Set()
  return finderAmong([gate], new Map(), orgChart, orgChart.nowMs)(gate, request, waitingSinceMs(request))
}

function finderAmong(
  gates: readonly ApprovalGate[],
  identitiesIn: ReadonlyMap<string, ReadonlySet<string>>,
  orgChart: OrgChart,
  nowMs: number,
): ApproverFinder {
  const known = new Map<ApprovalGate | Fallback, ReadonlySet<string>>()
  for (const gate of gates) {
    known.set(gate, namedApprovers(gate, identitiesIn, orgChart))
    if (gate.fallback !== undefined) known.set(gate.fallback, namedApprovers(gate.fallback, identitiesIn, orgChart))
  }
  const named = (gate: ApprovalGate | Fallback) => known.get(gate) ?? new Set<string>()
  return (gate, { requesterId, relationshipId }, sinceMs = nowMs) => {
    const { type, fallback } = gate
    const own = new Set(type === 'Manager' ? orgChart.managersOf(requesterId, relationshipId) : named(gate))
    own.delete(requesterId)
    if (fallback === undefined || !isInForce(fallback, own.size, sinceMs, nowMs)) return own
    const all = own.union(named(fallback))
    all.delete(requesterId)
    return all
  }
}

/** Whether the fallback of a gate decides as well: after its days, or when the gate has no other approver. */
export function isInForce({ afterDays }: Fallback, approverCount: number, sinceMs: number, nowMs: number): boolean {
  return approverCount === 0 || nowMs >= sinceMs + afterDays * DAY_MS
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
  sources: ApproverSources,
): Promise<MembershipRequest[]> {
  const policies = new Map(collections.map((collection) => [collection.id, policyOf(collection)]))
  const gates = new Map<MembershipRequest, ApprovalGate>()
  for (const request of requests) {
    const policy = policies.get(request.collectionId)
    const gate = policy && gateOf(request, policy)
    if (gate !== undefined) gates.set(request, gate)
  }
  const counter = await approverCounter(tenantId, [...new Set(gates.values())], sources)
  return requests.map((request) => {
    const gate = gates.get(request)
    return gate === undefined ? request : withApproverCount(request, counter(gate, request, waitingSinceMs(request)))
  })
}

function withApproverCount(request: MembershipRequest, approverCount: number): MembershipRequest {
  const { currentGate, extension } = request
  if (currentGate !== null) return { ...request, currentGate: { ...currentGate, approverCount } }
  if (extension === undefined) return request
  return { ...request, extension: { ...extension, currentGate: { ...extension.currentGate, approverCount } } }
}

function namedApprovers(
  { type, approvers }: Pick<ApprovalGate, 'type' | 'approvers'>,
  identitiesIn: ReadonlyMap<string, ReadonlySet<string>>,
  orgChart: OrgChart,
): ReadonlySet<string> {
  if (type === 'Identity') return new Set(approvers.filter((id) => orgChart.has('identity', id)))
  return new Set(approvers.flatMap((id) => [...(identitiesIn.get(id) ?? [])]))
}

/**
 * Whether the identity is an approver of the request at the gate, by the current members of approver collections.
 * @param request One that waits there or, for its readers, has ended there.
 */
export async function isApprover(
  identityId: string | undefined,
  gate: ApprovalGate | undefined,
  request: MembershipRequest,
  sources: ApproverSources,
): Promise<boolean> {
  if (identityId === undefined || gate === undefined) return false
  if (await isNamedApprover(identityId, gate, request, sources)) return true
  const { fallback } = gate
  if (fallback === undefined || !(await isNamedApprover(identityId, fallback, request, sources))) return false
  const { fallback: _fallback, ...own } = gate
  const counter = await approverCounter(request.tenantId, [own], sources)
  const untilMs = waitingPart(request) === undefined ? Date.parse(request.updatedAt) : sources.nowMs
  return isInForce(fallback, counter(own, request), waitingSinceMs(request), untilMs)
}

async function isNamedApprover(
  identityId: string,
  { type, approvers }: Pick<ApprovalGate, 'type' | 'approvers'>,
  { tenantId, requesterId, relationshipId }: MembershipRequest,
  { orgChart, membershipResolver }: ApproverSources,
): Promise<boolean> {
  switch (type) {
    case 'Identity':
      return approvers.includes(identityId)
    case 'Collection':
      return (await membershipResolver.collectionsOf(tenantId, identityId, approvers, orgChart)).size > 0
    case 'Manager':
      return orgChart.managersOf(requesterId, relationshipId).has(identityId)
  }
}

/** For actions that are not decisions at a gate but can move a request to one. */
export function factsWithoutApprover(
  counter: ApproverCounter,
  request: MembershipRequest,
  isEligible: boolean,
): PolicyFacts {
  return { mayDecide: () => false, approverCount: (gate, sinceMs) => counter(gate, request, sinceMs), isEligible }
}

/** For actions that never move a request to a gate. */
export const NO_FACTS: PolicyFacts = { mayDecide: () => false, approverCount: () => 0, isEligible: true }
