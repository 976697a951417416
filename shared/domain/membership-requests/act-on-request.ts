import { type Static, Type } from 'typebox'
import { REFUSALS, type RefusalCode } from '../../kernel/refusal-register.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Guid } from '../../kernel/schema.ts'
import { requireIfMatch, type Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { moveIfMisplaced, recheckPolicy } from './apply-policy.ts'
import { isMembershipChange } from './apply-transitions.ts'
import { gateAfterApproval } from './approvals.ts'
import { type ApproverSources, approverCounter, NO_FACTS, withCurrentApproverCounts } from './approvers.ts'
import { decideRequest, type PolicyFacts, type RequestAction } from './decide-request.ts'
import { type DecisionRight, decisionRight } from './decision-right.ts'
import { isEligible } from './eligibility.ts'
import { gateOf, waitingPart } from './extension.ts'
import { type AppliedPolicy, gatesOf, policyOf } from './join-policy.ts'
import { decidersOf, type MembershipRequest, type MembershipRequestDto, Notes } from './membership-request.ts'
import {
  approverSources,
  freshOrgChart,
  notifyMembershipChanges,
  type RequestDependencies,
} from './request-dependencies.ts'
import { toMembershipRequestDto } from './request-names.ts'
import { lastGateOf } from './review-keys.ts'

/** Body of approve and reject. */
export const RequestDecision = Type.Object({
  notes: Type.Optional(Notes),
  relationshipId: Type.Optional(Guid),
})
/** Body of cancel and leave. */
export const RequestWithdrawal = Type.Object({ relationshipId: Type.Optional(Guid) })

export type RequestName = { readonly tenantId: string; readonly collectionId: string; readonly requestId: string }

/** The reader of requests: a caller with an identity, a caller who sees all requests of the tenant, or both. */
export type Viewer = { readonly identityId: string | undefined; readonly seesAll: boolean }

/** What the caller has seen of a request: its `ETag`, or the `updatedAt` that lists return as well. */
type SeenRequest = { readonly ifMatch?: string | undefined; readonly updatedAt?: string | undefined }

type VisibleRequest = {
  readonly request: Versioned<MembershipRequest>
  readonly collection: Collection
  readonly orgChart: OrgChart
  /** The viewer's right to decide at the gate where the request waits. */
  readonly right: DecisionRight
}

/** @throws Refusal `CollectionNotFound`; `RequestNotFound`, also for a request that the viewer may not see. */
export async function readRequest(
  name: RequestName,
  viewer: Viewer,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequestDto>> {
  const { request, collection, orgChart } = await requireVisibleRequest(name, viewer, deps)
  const [value] = await withCurrentApproverCounts(
    [request.value],
    [collection],
    name.tenantId,
    approverSources(orgChart, deps),
  )
  return { ...request, value: toMembershipRequestDto(value ?? request.value, collection, orgChart) }
}

/**
 * Approves, rejects, cancels or leaves. Of several concurrent actions on a request, one succeeds and the others are
 * refused with `InvalidRequestState`.
 * @throws Refusal `CollectionNotFound`, `RequestNotFound`, `RelationshipUnknown`, `RelationshipNotOfRequest`,
 * `PreconditionFailed`, `NotesRequired`, `InvalidRequestState`, `SelfApproval`, `NotCurrentApprover`, `NotRequester`.
 */
export async function actOnRequest(
  name: RequestName,
  kind: 'approve' | 'reject' | 'cancel' | 'leave',
  body: Static<typeof RequestDecision>,
  person: { readonly identityId: string; readonly seesAll: boolean },
  seen: SeenRequest,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequestDto>> {
  const { request, collection, orgChart, right } = await requireVisibleRequest(name, person, deps)
  requirePositionOfRequest(request.value, body.relationshipId, orgChart)
  requireSeen(request, seen)
  const { identityId } = person
  const { mayDecide, onBehalfOf } = kind === 'approve' || kind === 'reject' ? right : { mayDecide: false }
  const action: RequestAction = { kind, actor: { id: identityId, identityId }, onBehalfOf, notes: body.notes }
  const policy = policyOf(collection)
  const isApproval = kind === 'approve' && mayDecide
  const facts = isApproval
    ? await factsOfApproval(request.value, policy, orgChart, deps)
    : { ...NO_FACTS, mayDecide: () => mayDecide }
  const decision = decideRequest(request.value, policy, facts, action, deps.nowMs())
  if (decision.outcome === 'refuse') throw new Refusal(decision.code, refusalMessage(decision.code, request.value))
  const named = ({ value, version }: Versioned<MembershipRequest>) => ({
    value: toMembershipRequestDto(value, collection, orgChart),
    version,
  })
  if (decision.outcome === 'unchanged') return named(request)
  const [saved] = await deps.requests.save([{ before: request, after: decision.request }])
  if (saved === undefined) throw new Error('The store did not return the saved request')
  if (isMembershipChange({ before: request, after: saved.value }))
    await notifyMembershipChanges(name.tenantId, new Set([name.collectionId]), deps)
  return named(await recheckPolicy(saved, collection, deps))
}

/** Read only for an approver, because only an approval can move the request on. */
async function factsOfApproval(
  request: MembershipRequest,
  policy: AppliedPolicy,
  orgChart: OrgChart,
  deps: Pick<RequestDependencies, 'nowMs' | 'membershipResolver'>,
): Promise<PolicyFacts> {
  const { tenantId } = request
  const gate = gateOf(request, policy)
  const waiting = waitingPart(request)
  const following = gate && waiting && gateAfterApproval(waiting, gate, policy)
  const [counter, eligible] = await Promise.all([
    approverCounter(tenantId, following === undefined ? [] : [following], approverSources(orgChart, deps)),
    isEligible(request, policy, orgChart, deps),
  ])
  return { mayDecide: () => true, approverCount: (at) => counter(at, request), isEligible: eligible }
}

/**
 * @param alsoVisible Whether the viewer may see a request that they would not see otherwise.
 * @throws Refusal `CollectionNotFound`; `RequestNotFound`, also for a request that the viewer may not see.
 */
export async function requireVisibleRequest(
  { tenantId, collectionId, requestId }: RequestName,
  { identityId, seesAll }: Viewer,
  deps: RequestDependencies,
  alsoVisible: (request: MembershipRequest, orgChart: OrgChart) => boolean = () => false,
): Promise<VisibleRequest> {
  const [orgChart, foundCollection] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.find(tenantId, collectionId, 'joinable'),
  ])
  const collection = found(foundCollection, collectionId).value
  const stored = await deps.requests.find(tenantId, requestId)
  const request =
    stored?.value.collectionId === collectionId ? await moveIfMisplaced(stored, collection, deps) : undefined
  if (request === undefined) throw requestNotFound(collectionId, requestId)
  const { value } = request
  const sources = approverSources(orgChart, deps)
  const right = await decisionRight(identityId, gateOf(value, policyOf(collection)), value, sources, deps.deputies)
  const isVisible =
    seesAll ||
    right.mayDecide ||
    involves(value, identityId) ||
    alsoVisible(value, orgChart) ||
    isManagerOfGate(identityId, value, collection, orgChart) ||
    (await couldDecide(identityId, value, collection, sources, deps.deputies))
  if (!isVisible) throw requestNotFound(collectionId, requestId)
  return { request, collection, orgChart, right }
}

function requestNotFound(collectionId: string, requestId: string): Refusal {
  return new Refusal('RequestNotFound', `There is no request ${requestId} in collection ${collectionId}`)
}

/** Whether the identity is the manager who decides at a gate of the policy, now or later. */
export function isManagerOfGate(
  identityId: string | undefined,
  { requesterId, relationshipId }: MembershipRequest,
  collection: Collection,
  orgChart: OrgChart,
): boolean {
  if (identityId === undefined || !gatesOf(policyOf(collection)).some(({ type }) => type === 'Manager')) return false
  return orgChart.managersOf(requesterId, relationshipId).has(identityId)
}

/**
 * Whether the identity is an approver, or the deputy of one, at the gate where the request ended, if the policy still
 * has that gate. A deputy never decides on a request of the person represented.
 */
async function couldDecide(
  identityId: string | undefined,
  request: MembershipRequest,
  collection: Collection,
  sources: ApproverSources,
  deputies: RequestDependencies['deputies'],
): Promise<boolean> {
  const last = lastGateOf(request)
  const gate = gatesOf(policyOf(collection)).find(({ order, type }) => order === last?.order && type === last.type)
  const { mayDecide, onBehalfOf } = await decisionRight(identityId, gate, request, sources, deputies)
  return mayDecide && onBehalfOf !== request.requesterId
}

/** Whether the identity is the subject of the request, submitted it, or has approved or rejected it. */
export function involves(request: MembershipRequest, identityId: string | undefined): boolean {
  if (identityId === undefined) return false
  const { requesterId, submittedBy } = request
  return requesterId === identityId || submittedBy === identityId || decidersOf(request).includes(identityId)
}

/** @throws Refusal `PreconditionFailed` when the request is not as the caller has seen it. */
function requireSeen({ value, version }: Versioned<MembershipRequest>, { ifMatch, updatedAt }: SeenRequest): void {
  requireIfMatch(version, ifMatch)
  if (updatedAt !== undefined && Date.parse(updatedAt) !== Date.parse(value.updatedAt)) {
    throw new Refusal('PreconditionFailed', `Request ${value.id} has changed at ${value.updatedAt}`)
  }
}

function requirePositionOfRequest(
  request: MembershipRequest,
  relationshipId: string | undefined,
  orgChart: OrgChart,
): void {
  if (relationshipId === undefined || relationshipId === request.relationshipId) return
  if (!orgChart.has('relationship', relationshipId)) {
    throw new Refusal('RelationshipUnknown', `There is no relationship ${relationshipId}`, '/relationshipId')
  }
  if (request.relationshipId === null) return
  throw new Refusal(
    'RelationshipNotOfRequest',
    `The request is for position ${request.relationshipId}, not ${relationshipId}`,
    '/relationshipId',
  )
}

/** The message of a refusal, with the request. */
export function refusalMessage(code: RefusalCode, { id, status }: MembershipRequest): string {
  return code === 'InvalidRequestState' ? `Request ${id} is ${status}` : `${REFUSALS[code].message} (request ${id})`
}
