import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { type ApproverCounter, type ApproverSources, approverCounter, isInForce } from './approvers.ts'
import { representedBy } from './deputies.ts'
import { waitingPart, waitingSinceMs } from './extension.ts'
import { type ApprovalGate, approverCollections, type Fallback, gatesOf, policyOf } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'
import { approverSources, type Person, type RequestDependencies, type WaitingRequest } from './request-dependencies.ts'
import { endedKeyOf, gateKey, isManagerKey, lastGateOf, subjectKey } from './review-keys.ts'

/** A gate without its fallback, and the fallback. */
type FallbackGate = { readonly own: ApprovalGate; readonly fallback: Fallback }

/** The requests that an identity can decide as itself, or for another one as its deputy. */
type Access = {
  /** The reader, or the identity that the reader represents. */
  readonly principalId: string
  /**
   * The review keys under which requests can await its decision: the gates where it is an approver, and the identities
   * that it may manage.
   */
  readonly keys: ReadonlySet<string>
  /** The keys of the gates where it decides only as a fallback. */
  readonly fallbacks: ReadonlyMap<string, FallbackGate>
}

/** What a reader can decide among the requests of some collections. */
export type ReviewAccess = {
  readonly readerId: string
  readonly accesses: readonly Access[]
  readonly orgChart: OrgChart
  readonly nowMs: number
  readonly countApprovers: ApproverCounter
}

/** Reads what a person can decide in these collections, as a deputy as well. */
export async function reviewAccess(
  { tenantId, identityId }: Person,
  collections: readonly Collection[],
  orgChart: OrgChart,
  deps: Pick<RequestDependencies, 'membershipResolver' | 'deputies' | 'nowMs'>,
): Promise<ReviewAccess> {
  const gates = collections.flatMap((collection) =>
    gatesOf(policyOf(collection)).map((gate) => ({ gate, key: gateKey(collection.id, gate.order) })),
  )
  const sources = approverSources(orgChart, deps)
  const principals = [identityId, ...(await representedBy(identityId, tenantId, orgChart, deps))]
  const accesses = await Promise.all(principals.map((id) => accessOf(id, tenantId, gates, sources)))
  const fallbacks = new Set(accesses.flatMap((access) => [...access.fallbacks.values()].map(({ own }) => own)))
  const countApprovers = await approverCounter(tenantId, [...fallbacks], sources)
  return { readerId: identityId, accesses, orgChart, nowMs: sources.nowMs, countApprovers }
}

type KeyedGate = { readonly gate: ApprovalGate; readonly key: string }

async function accessOf(
  principalId: string,
  tenantId: string,
  gates: readonly KeyedGate[],
  { orgChart, membershipResolver }: ApproverSources,
): Promise<Access> {
  const collectionIds = approverCollections(gates.map(({ gate }) => gate))
  const memberOf = await membershipResolver.collectionsOf(tenantId, principalId, collectionIds, orgChart)
  const isNamed = ({ type, approvers }: Pick<ApprovalGate, 'type' | 'approvers'>) =>
    type === 'Identity' ? approvers.includes(principalId) : approvers.some((id) => memberOf.has(id))
  const named = gates.filter(({ gate }) => isNamed(gate)).map(({ key }) => key)
  const isManaged = gates.some(({ gate }) => gate.type === 'Manager')
  const managed = isManaged ? orgChart.reportsOf(principalId).map(subjectKey) : []
  const keys = new Set([...named, ...managed])
  const fallbacks = gates.flatMap(({ gate, key }): [string, FallbackGate][] => {
    const { fallback, ...own } = gate
    return fallback === undefined || keys.has(key) || !isNamed(fallback) ? [] : [[key, { own, fallback }]]
  })
  return { principalId, keys, fallbacks: new Map(fallbacks) }
}

/** All keys under which requests are to be looked for. Those found must be checked with `awaitsDecision`. */
export function reviewKeysOf({ accesses }: ReviewAccess): string[] {
  return [...new Set(accesses.flatMap(({ keys, fallbacks }) => [...keys, ...fallbacks.keys()]))]
}

/**
 * Whether a request found under one of the keys of an access awaits the decision. Own requests, and those of the one
 * represented, never do.
 */
export function awaitsUnder(
  { requesterId, relationshipId, reviewKey }: Omit<WaitingRequest, 'collectionId'>,
  { principalId, keys }: Access,
  { readerId, orgChart }: ReviewAccess,
): boolean {
  if (requesterId === readerId || requesterId === principalId || !keys.has(reviewKey)) return false
  return !isManagerKey(reviewKey) || orgChart.managersOf(requesterId, relationshipId).has(principalId)
}

/** Whether a request awaits the reader's decision. */
export function awaitsDecision(request: MembershipRequest, access: ReviewAccess): boolean {
  const gate = waitingPart(request)?.currentGate
  return (
    gate !== undefined &&
    gate !== null &&
    access.accesses.some((reviewer) => decidesAt(gate, request, reviewer, access))
  )
}

/** Whether a request ended at a gate where the reader is an approver. */
export function endedWithReader(request: MembershipRequest, access: ReviewAccess): boolean {
  const reviewKey = waitingPart(request) === undefined ? endedKeyOf(request) : null
  const gate = lastGateOf(request)
  if (reviewKey === null || gate === undefined) return false
  return access.accesses.some((reviewer) => awaitsUnder({ ...request, reviewKey }, reviewer, access))
}

function decidesAt(
  { order, type }: Pick<ApprovalGate, 'order' | 'type'>,
  request: MembershipRequest,
  reviewer: Access,
  access: ReviewAccess,
): boolean {
  const { requesterId, collectionId } = request
  const key = gateKey(collectionId, order)
  const reviewKey = type === 'Manager' ? subjectKey(requesterId) : key
  if (awaitsUnder({ ...request, reviewKey }, reviewer, access)) return true
  const found = reviewer.fallbacks.get(key)
  if (found === undefined || [access.readerId, reviewer.principalId].includes(requesterId)) return false
  const { countApprovers, nowMs } = access
  return isInForce(found.fallback, countApprovers(found.own, request), waitingSinceMs(request), nowMs)
}
