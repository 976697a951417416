import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Guid } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { found } from '../collections/write-collection.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { moveIfMisplaced, recheckPolicy } from './apply-policy.ts'
import { approverCounter, factsWithoutApprover } from './approvers.ts'
import { type Actor, decideRequest } from './decide-request.ts'
import { isEligible } from './eligibility.ts'
import { allowedEnd, DateInput, futureEndMs } from './ends.ts'
import { type ApprovalGate, gatesOf, policyOf } from './join-policy.ts'
import { type MembershipRequest, type MembershipRequestDto, Notes, newRequest } from './membership-request.ts'
import { endOrphaned } from './reconcile-requests.ts'
import {
  approverSources,
  freshOrgChart,
  type JoinDependencies,
  notifyMembershipChanges,
  type Person,
} from './request-dependencies.ts'
import { toMembershipRequestDto } from './request-names.ts'

export const Submission = Type.Object({
  notes: Type.Optional(Notes),
  relationshipId: Type.Optional(Guid),
  endsAt: Type.Optional(DateInput),
})
export type Submission = Static<typeof Submission>

export const SubmissionOnBehalf = Type.Object({
  ...Submission.properties,
  requesterId: Type.Optional(Guid),
})
export type SubmissionOnBehalf = Static<typeof SubmissionOnBehalf>

/**
 * Submits the caller's own request to join.
 * @throws Refusal `InvalidEnd`, `CollectionNotFound`, `RelationshipNotYours`, `RelationshipEnded`,
 * `RelationshipRequired`, `RequestAlreadyOpen`, `AlreadyMember`, `NotEligible`, `NoApprover`, `EndTooLate`.
 */
export async function submitRequest(
  collectionId: string,
  { notes, relationshipId, endsAt }: Submission,
  { tenantId, identityId }: Person,
  deps: JoinDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Versioned<MembershipRequestDto>> {
  const { orgChart, collection, endMs } = await readTarget(tenantId, collectionId, endsAt, deps)
  const check = (): CheckedSubmission => {
    const position = relationshipId ?? undefined
    const checked = { requesterId: identityId, position, endMs: endMs() }
    if (position !== undefined) requireOwnActivePosition(position, identityId, orgChart)
    return checked
  }
  const actor: Actor = { id: identityId, identityId }
  return submit({ collection, notes: notes ?? null, actor, creation, check }, orgChart, deps)
}

/**
 * Submits a request to join for an identity that reports to the caller.
 * @throws Refusal as `submitRequest`, except those of positions that are not the caller's own, and `RequesterRequired`,
 * `NotManager`.
 */
export async function submitOnBehalf(
  collectionId: string,
  { notes, relationshipId, endsAt, requesterId: named }: SubmissionOnBehalf,
  { tenantId, identityId }: Person,
  deps: JoinDependencies,
  creation: Creation,
): Promise<Versioned<MembershipRequestDto>> {
  const report = { identityId: named ?? undefined, position: relationshipId ?? undefined }
  if (report.identityId === undefined && report.position === undefined) {
    throw new Refusal('RequesterRequired', undefined, '/requesterId')
  }
  const { orgChart, collection, endMs } = await readTarget(tenantId, collectionId, endsAt, deps)
  const check = (): CheckedSubmission => {
    const checked = { position: report.position, endMs: endMs() }
    return { ...checked, requesterId: requireReport(report, identityId, orgChart) }
  }
  const actor: Actor = { id: identityId, identityId }
  return submit({ collection, notes: notes ?? null, actor, creation, check }, orgChart, deps)
}

/**
 * What a submission is for. The end is checked before it is known whether the collection exists, but not for one that
 * does: an earlier attempt can have saved the request when the end was still to come.
 */
async function readTarget(tenantId: string, collectionId: string, endsAt: string | undefined, deps: JoinDependencies) {
  const orgChart = await freshOrgChart(tenantId, deps)
  const endMs = () => (endsAt === undefined ? undefined : futureEndMs(endsAt, orgChart.zone, deps.nowMs()))
  const stored = await deps.collections.find(tenantId, collectionId, 'joinable')
  if (stored === undefined) endMs()
  return { orgChart, collection: found(stored, collectionId).value, endMs }
}

type NamedReport = { readonly identityId: string | undefined; readonly position: string | undefined }

/**
 * Returns the identity that the caller named and manages. The refusal is the same for a person who does not report to
 * the caller, an unknown id, an ended position and a position of another person, so that it discloses nothing about
 * people whom the caller may not see.
 */
function requireReport({ identityId, position }: NamedReport, managerId: string, orgChart: OrgChart): string {
  const requesterId = identityId ?? (position === undefined ? undefined : orgChart.holderOf(position))
  if (requesterId !== undefined && isReport(requesterId, position, managerId, orgChart)) return requesterId
  throw new Refusal('NotManager', `The caller is not the manager of ${identityId ?? position}`)
}

function isReport(requesterId: string, position: string | undefined, managerId: string, orgChart: OrgChart): boolean {
  if (position === undefined) return orgChart.isManagerOf(managerId, requesterId)
  if (orgChart.holderOf(position) !== requesterId || !orgChart.isActive(position)) return false
  return orgChart.managersOf(requesterId, position).has(managerId)
}

/** An unknown position is refused as one of another identity. */
function requireOwnActivePosition(relationshipId: string, identityId: string, orgChart: OrgChart): void {
  const target = '/relationshipId'
  if (orgChart.holderOf(relationshipId) !== identityId) {
    throw new Refusal('RelationshipNotYours', `Relationship ${relationshipId} is not a position of the caller`, target)
  }
  if (!orgChart.isActive(relationshipId)) {
    throw new Refusal('RelationshipEnded', `Relationship ${relationshipId} has ended`, target)
  }
}

type CheckedSubmission = {
  readonly requesterId: string
  readonly position: string | undefined
  /** The end that is asked for. */
  readonly endMs: number | undefined
}

type SubmissionContext = {
  readonly collection: Collection
  readonly notes: string | null
  readonly actor: Actor
  readonly creation: Creation
  /**
   * Called before a request is saved. One that an earlier attempt has saved is returned without it, as the organisation
   * can have changed since.
   * @throws Refusal for a position, a person or an end that the caller may not ask for.
   */
  check(): CheckedSubmission
}

async function submit(
  context: SubmissionContext,
  orgChart: OrgChart,
  deps: JoinDependencies,
): Promise<Versioned<MembershipRequestDto>> {
  const { value, version } = await submitted(context, orgChart, deps)
  return { value: toMembershipRequestDto(value, context.collection, orgChart), version }
}

async function submitted(
  context: SubmissionContext,
  orgChart: OrgChart,
  deps: JoinDependencies,
): Promise<Versioned<MembershipRequest>> {
  const { collection, creation } = context
  const id = creation.newId()
  const earlier = await findFromEarlierAttempt(creation, () => deps.requests.find(collection.tenantId, id))
  const saved = earlier ?? (await saveRequest(id, context, orgChart, deps))
  if (saved.value.status === 'Joined')
    await notifyMembershipChanges(collection.tenantId, new Set([collection.id]), deps)
  // A request saved by an earlier attempt may have been decided by an earlier policy.
  const placed = await moveIfMisplaced(saved, collection, deps)
  const rechecked = await recheckPolicy(placed, collection, deps)
  if (!(await endOrphaned([rechecked], deps))) return rechecked
  return (await deps.requests.find(collection.tenantId, id)) ?? rechecked
}

async function saveRequest(
  id: string,
  context: SubmissionContext,
  orgChart: OrgChart,
  deps: Pick<JoinDependencies, 'membershipResolver' | 'nowMs' | 'requests' | 'tenants'>,
): Promise<Versioned<MembershipRequest>> {
  const { collection, notes, actor } = context
  const { tenantId } = collection
  const { requesterId, position, endMs } = context.check()
  const policy = policyOf(collection)
  const endsAt = allowedEnd(endMs, policy, deps.nowMs())
  const request = newRequest({
    id,
    collection,
    requesterId,
    relationshipId: position ?? onlyPositionOf(requesterId, collection, orgChart),
    submittedBy: actor.id,
    status: 'Requested',
    notes,
    endsAt,
    at: toTimestamp(deps.nowMs()),
  })
  await requireNoLiveRequest(request, deps)
  if (!(await isEligible(request, policy, orgChart, deps))) throw notEligible(collection.id)
  const firstGates = gatesOf(policy).slice(0, 1)
  const counter = await approverCounter(tenantId, firstGates, approverSources(orgChart, deps))
  for (const gate of firstGates) if (counter(gate, request) === 0) throw noApprover(gate, request)
  const decision = decideRequest(
    request,
    policy,
    factsWithoutApprover(counter, request, true),
    { kind: 'open', actor },
    deps.nowMs(),
  )
  if (decision.outcome !== 'next') throw new Error(`The decision on a new request was ${decision.outcome}`)
  await deps.tenants.register(tenantId)
  const [saved] = await deps.requests.save([{ after: decision.request }])
  if (saved === undefined) throw new Error('The store did not return the saved request')
  return saved
}

function onlyPositionOf(requesterId: string, { objectType }: Collection, orgChart: OrgChart): string | null {
  const active = orgChart.activePositionsOf(requesterId)
  if (active.length > 1 && objectType === 'Relationship') {
    throw new Refusal(
      'RelationshipRequired',
      `Identity ${requesterId} has ${active.length} active positions; relationshipId must name one of them`,
      '/relationshipId',
    )
  }
  return active.length === 1 ? (active[0] ?? null) : null
}

function noApprover({ order, type }: ApprovalGate, { requesterId, collectionId }: MembershipRequest): Refusal {
  const message = `Gate ${order} (${type}) of collection ${collectionId} has no approver for identity ${requesterId}`
  return new Refusal('NoApprover', message)
}

/** Gives a precise refusal early. The store enforces that a slot has one live request. */
async function requireNoLiveRequest(
  request: MembershipRequest,
  deps: Pick<JoinDependencies, 'requests'>,
): Promise<void> {
  const live = await deps.requests.liveIn(request.tenantId, request.collectionId, [request.requesterId])
  const first = live.find(({ value }) => value.slot === request.slot)?.value
  if (first === undefined) return
  const code = first.status === 'Joined' ? 'AlreadyMember' : 'RequestAlreadyOpen'
  throw new Refusal(code, `Identity ${request.requesterId} already has request ${first.id} with status ${first.status}`)
}

/** The caller may not know the collections that the policy names. */
function notEligible(collectionId: string): Refusal {
  return new Refusal(
    'NotEligible',
    `The join policy of collection ${collectionId} does not allow this identity to join`,
  )
}
