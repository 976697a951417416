import { type Static, Type } from 'typebox'
import { REFUSALS, Refusal, type RefusalCode } from '../../kernel/refusals.ts'
import { Guid, Nullable } from '../../kernel/schema.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { decideRequest, gateOf, gatesAhead, type RequestAction } from './decide-request.ts'
import { approverCounter, countedNow, isApprover, NO_GATES } from './gate-approvers.ts'
import { policyOf } from './join-policy.ts'
import { decidersOf, type MembershipRequest, Notes } from './membership-request.ts'
import { freshOrgChart, notifyMembershipChanges, type RequestDependencies } from './request-dependencies.ts'
import { placedByPolicy, settledByPolicy } from './settle-requests.ts'

/** The body of approve and reject. */
export const RequestDecision = Type.Object({
  notes: Type.Optional(Nullable(Notes)),
  relationshipId: Type.Optional(Nullable(Guid)),
})
/** The body of cancel and leave. */
export const RequestWithdrawal = Type.Object({ relationshipId: Type.Optional(Nullable(Guid)) })

export type RequestName = { readonly tenantId: string; readonly collectionId: string; readonly requestId: string }

/** Who looks: a person, or someone who sees all requests of the tenant, or both. */
export type Viewer = { readonly identityId: string | undefined; readonly seesAll: boolean }

type Seen = {
  readonly request: Versioned<MembershipRequest>
  readonly collection: Collection
  readonly orgChart: OrgChart
  /** Whether the viewer is an approver at the gate where it waits. */
  readonly mayDecide: boolean
}

/** @throws Refusal `CollectionNotFound`, `RequestNotFound`, also for one that the viewer may not see. */
export async function readRequest(
  name: RequestName,
  viewer: Viewer,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { request, collection, orgChart } = await seen(name, viewer, deps)
  const [value] = await countedNow([request.value], [collection], name.tenantId, orgChart, deps.membershipResolver)
  return value === undefined ? request : { ...request, value }
}

/**
 * Approves, rejects, cancels or leaves. Of several who act at the same moment one is heard; to the others the request
 * is no longer what they acted on.
 * @throws Refusal `CollectionNotFound`, `RequestNotFound`, `RelationshipNotOfRequest`, `InvalidRequestState`,
 * `SelfApproval`, `NotCurrentApprover`, `NotRequester`.
 */
export async function actOnRequest(
  name: RequestName,
  kind: 'approve' | 'reject' | 'cancel' | 'leave',
  body: Static<typeof RequestDecision>,
  person: { readonly identityId: string; readonly seesAll: boolean },
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { request, collection, orgChart, mayDecide } = await seen(name, person, deps)
  refuseOtherPosition(request.value, body.relationshipId ?? undefined)
  const { identityId } = person
  const action: RequestAction = { kind, actor: { id: identityId, identityId }, notes: body.notes ?? undefined }
  const policy = policyOf(collection)
  // Who is asked next is only counted for someone who may bring the request there.
  const ahead = kind === 'approve' && mayDecide ? gatesAhead(request.value, policy).slice(0, 1) : []
  const counter = await approverCounter(name.tenantId, ahead, orgChart, deps.membershipResolver)
  const gatePeople = {
    mayDecide: () => mayDecide,
    approverCount:
      ahead.length === 0 ? NO_GATES.approverCount : (gate: (typeof ahead)[number]) => counter(gate, request.value),
  }
  const decision = decideRequest(request.value, policy, gatePeople, action, deps.nowMs())
  if (decision.outcome === 'refuse') throw new Refusal(decision.code, refusalMessage(decision.code, request.value))
  if (decision.outcome === 'unchanged') return request
  const [saved] = await deps.requests.save([{ before: request, after: decision.request }])
  if (saved === undefined) throw new Error('The store did not answer with the request that it saved')
  const isMembershipChanged = (request.value.status === 'Joined') !== (saved.value.status === 'Joined')
  if (isMembershipChanged) await notifyMembershipChanges(name.tenantId, new Set([name.collectionId]), deps)
  return settledByPolicy(saved, collection, deps)
}

async function seen(
  { tenantId, collectionId, requestId }: RequestName,
  { identityId, seesAll }: Viewer,
  deps: RequestDependencies,
): Promise<Seen> {
  const [orgChart, foundCollection] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.find(tenantId, collectionId, 'joinable'),
  ])
  const collection = found(foundCollection, collectionId).value
  const stored = await deps.requests.find(tenantId, requestId)
  const request =
    stored?.value.collectionId === collectionId ? await placedByPolicy(stored, collection, deps) : undefined
  const gate = request && gateOf(request.value, policyOf(collection))
  const mayDecide =
    request !== undefined &&
    (await isApprover(tenantId, identityId, gate, request.value, orgChart, deps.membershipResolver))
  if (request === undefined || !(seesAll || mayDecide || concerns(request.value, identityId))) {
    throw new Refusal('RequestNotFound', `There is no request ${requestId} in collection ${collectionId}`)
  }
  return { request, collection, orgChart, mayDecide }
}

/** Whether it is seen by this identity as its subject, as who submitted it or as one who has decided on it. */
export function concerns(request: MembershipRequest, identityId: string | undefined): boolean {
  if (identityId === undefined) return false
  const { requesterId, submittedBy } = request
  return requesterId === identityId || submittedBy === identityId || decidersOf(request).includes(identityId)
}

function refuseOtherPosition(request: MembershipRequest, relationshipId: string | undefined): void {
  if (relationshipId === undefined || request.relationshipId === null) return
  if (relationshipId === request.relationshipId) return
  throw new Refusal(
    'RelationshipNotOfRequest',
    `The request is for the position ${request.relationshipId}, not ${relationshipId}`,
    '/relationshipId',
  )
}

function refusalMessage(code: RefusalCode, { id, status }: MembershipRequest): string {
  return code === 'InvalidRequestState' ? `The request ${id} is ${status}` : `${REFUSALS[code].message} (request ${id})`
}
