import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Guid, Nullable } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import type { OrgChart } from '../tenant-index/org-chart.ts'
import { type Actor, decideRequest } from './decide-request.ts'
import { approverCounter, pendingApproverCounts } from './gate-approvers.ts'
import { gatesOf, policyOf } from './join-policy.ts'
import { type MembershipRequest, Notes, slotOf } from './membership-request.ts'
import {
  freshOrgChart,
  notifyMembershipChanges,
  type Person,
  type RequestDependencies,
} from './request-dependencies.ts'
import { endOrphaned, placedByPolicy, settledByPolicy } from './settle-requests.ts'

export const Submission = Type.Object({
  notes: Type.Optional(Nullable(Notes)),
  relationshipId: Type.Optional(Nullable(Guid)),
})
export type Submission = Static<typeof Submission>

export const SubmissionOnBehalf = Type.Object({
  ...Submission.properties,
  requesterId: Type.Optional(Nullable(Guid)),
})
export type SubmissionOnBehalf = Static<typeof SubmissionOnBehalf>

/**
 * Asks to join, for oneself.
 * @throws Refusal `CollectionNotFound`, `RelationshipUnknown`, `RelationshipNotYours`, `RelationshipEnded`,
 * `RelationshipRequired`, `RequestAlreadyOpen`, `AlreadyMember`, `NotEligible`.
 */
export async function submitRequest(
  collectionId: string,
  { notes, relationshipId }: Submission,
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Versioned<MembershipRequest>> {
  const orgChart = await freshOrgChart(tenantId, deps)
  const position = relationshipId ?? undefined
  if (position !== undefined) refuseOthersPosition(position, identityId, orgChart)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  const actor: Actor = { id: identityId, identityId }
  return submit(
    { collection, requesterId: identityId, position, notes: notes ?? null, actor, creation },
    orgChart,
    deps,
  )
}

/**
 * Asks to join, for someone who reports to the caller.
 * @throws Refusal as `submitRequest`, and `RequesterRequired`, `IdentityUnknown`, `NotManager`.
 */
export async function submitOnBehalf(
  collectionId: string,
  { notes, relationshipId, requesterId: named }: SubmissionOnBehalf,
  { tenantId, identityId }: Person,
  deps: RequestDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Versioned<MembershipRequest>> {
  const orgChart = await freshOrgChart(tenantId, deps)
  const position = relationshipId ?? undefined
  const requesterId = reportOf(named ?? undefined, position, orgChart)
  if (position !== undefined) refuseOthersPosition(position, requesterId, orgChart)
  const collection = found(await deps.collections.find(tenantId, collectionId, 'joinable'), collectionId).value
  // Before anything is told of the person's requests, which is not everybody's business.
  const isManager =
    position === undefined
      ? orgChart.isManagerOf(identityId, requesterId)
      : orgChart.managersOf(requesterId, position).has(identityId)
  if (!isManager) throw new Refusal('NotManager', `The caller is not the manager of ${requesterId}`)
  const actor: Actor = { id: identityId, identityId }
  return submit({ collection, requesterId, position, notes: notes ?? null, actor, creation }, orgChart, deps)
}

function reportOf(requesterId: string | undefined, position: string | undefined, orgChart: OrgChart): string {
  if (requesterId !== undefined) {
    if (orgChart.has('identity', requesterId)) return requesterId
    throw new Refusal('IdentityUnknown', `There is no identity ${requesterId}`, '/requesterId')
  }
  if (position === undefined) throw new Refusal('RequesterRequired', undefined, '/requesterId')
  const holder = orgChart.holderOf(position)
  if (holder !== undefined) return holder
  throw new Refusal('RelationshipUnknown', `Nobody holds a relationship ${position}`, '/relationshipId')
}

function refuseOthersPosition(relationshipId: string, identityId: string, orgChart: OrgChart): void {
  const target = '/relationshipId'
  if (!orgChart.has('relationship', relationshipId)) {
    throw new Refusal('RelationshipUnknown', `There is no relationship ${relationshipId}`, target)
  }
  if (orgChart.holderOf(relationshipId) !== identityId) {
    throw new Refusal('RelationshipNotYours', `${relationshipId} is not a position of ${identityId}`, target)
  }
  if (!orgChart.isActive(relationshipId)) {
    throw new Refusal('RelationshipEnded', `The relationship ${relationshipId} has ended`, target)
  }
}

type Asked = {
  readonly collection: Collection
  readonly requesterId: string
  readonly position: string | undefined
  readonly notes: string | null
  readonly actor: Actor
  readonly creation: Creation
}

async function submit(
  asked: Asked,
  orgChart: OrgChart,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { collection, creation } = asked
  const id = creation.newId()
  const earlier = await findFromEarlierAttempt(creation, () => deps.requests.find(collection.tenantId, id))
  const saved = earlier ?? (await saveRequest(id, asked, orgChart, deps))
  if (saved.value.status === 'Joined')
    await notifyMembershipChanges(collection.tenantId, new Set([collection.id]), deps)
  // An earlier try may have been decided by an earlier policy.
  const placed = await placedByPolicy(saved, collection, deps)
  const settled = await settledByPolicy(placed, collection, deps)
  if (!(await endOrphaned([settled], deps))) return settled
  return (await deps.requests.find(collection.tenantId, id)) ?? settled
}

async function saveRequest(
  id: string,
  asked: Asked,
  orgChart: OrgChart,
  deps: RequestDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { collection, actor } = asked
  const { tenantId } = collection
  const policy = policyOf(collection)
  const request = newRequest(id, asked, positionFor(asked, orgChart), deps)
  await refuseSecond(request, deps)
  await refuseIneligible(request, policy.joinableBy.collectionIds, orgChart, deps)
  const counter = await approverCounter(tenantId, gatesOf(policy).slice(0, 1), orgChart, deps.membershipResolver)
  const decision = decideRequest(
    request,
    policy,
    pendingApproverCounts(counter, request),
    { kind: 'open', actor },
    deps.nowMs(),
  )
  if (decision.outcome !== 'next') throw new Error(`A new request came out as ${decision.outcome}`)
  await deps.tenants.remember(tenantId)
  const [saved] = await deps.requests.save([{ after: decision.request }])
  if (saved === undefined) throw new Error('The store did not answer with the request that it saved')
  return saved
}

function positionFor({ collection, requesterId, position }: Asked, orgChart: OrgChart): string | null {
  if (position !== undefined) return position
  const active = orgChart.activePositionsOf(requesterId)
  if (active.length > 1 && collection.objectType === 'Relationship') {
    throw new Refusal(
      'RelationshipRequired',
      `${requesterId} has ${active.length} positions: relationshipId has to name one`,
      '/relationshipId',
    )
  }
  return active.length === 1 ? (active[0] ?? null) : null
}

function newRequest(
  id: string,
  { collection, requesterId, notes, actor }: Asked,
  relationshipId: string | null,
  deps: RequestDependencies,
): MembershipRequest {
  const at = toTimestamp(deps.nowMs())
  return {
    id,
    tenantId: collection.tenantId,
    slot: slotOf(collection, requesterId, relationshipId),
    collectionId: collection.id,
    requesterId,
    submittedBy: actor.id,
    relationshipId,
    status: 'Requested',
    currentGate: null,
    notes,
    createdAt: at,
    updatedAt: at,
    lifecycle: [{ status: 'Requested', actorId: actor.id, at, ...(notes === null ? {} : { notes }) }],
  }
}

/** Told early and precisely; that there is never a second one, the store sees to. */
async function refuseSecond(request: MembershipRequest, deps: RequestDependencies): Promise<void> {
  const live = await deps.requests.liveIn(request.tenantId, request.collectionId, [request.requesterId])
  const first = live.find(({ value }) => value.slot === request.slot)?.value
  if (first === undefined) return
  const code = first.status === 'Joined' ? 'AlreadyMember' : 'RequestAlreadyOpen'
  throw new Refusal(code, `${request.requesterId} has request ${first.id}, which is ${first.status}`)
}

async function refuseIneligible(
  { tenantId, requesterId, collectionId }: MembershipRequest,
  joinableBy: readonly string[],
  orgChart: OrgChart,
  deps: RequestDependencies,
): Promise<void> {
  if (joinableBy.length === 0) return
  const memberOf = await deps.membershipResolver.collectionsOf(tenantId, requesterId, joinableBy, orgChart)
  if (memberOf.size > 0) return
  throw new Refusal('NotEligible', `Collection ${collectionId} is only for members of ${joinableBy.join(', ')}`)
}
