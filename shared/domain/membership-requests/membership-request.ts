import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { Collection } from '../collections/collection.ts'
import { GateType } from './join-policy.ts'

/** Decisions, section 7. A request never rests at `Requested` or `Approved`: these are only seen in its lifecycle. */
const REQUEST_STATUSES = [
  'Requested',
  'PendingApproval',
  'Approved',
  'Joined',
  'Rejected',
  'Cancelled',
  'Left',
] as const
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/** A request that is still to be decided. */
export const OPEN_STATUSES = ['Requested', 'PendingApproval'] as const
/** A request that is open or a membership: there is one for each membership at most. */
export const LIVE_STATUSES = [...OPEN_STATUSES, 'Joined'] as const

/** Who acts when it is nobody in particular. */
export const SYSTEM_ACTOR = 'system'

export const Notes = Type.String({ maxLength: 2048 })

const LifecycleEntry = Closed({
  status: OneOf(REQUEST_STATUSES),
  actorId: Described(
    Type.String(),
    `A core identity id, the \`oid\` of the token where the actor has none, or \`${SYSTEM_ACTOR}\`.`,
  ),
  at: Timestamp,
  gate: Type.Optional(Closed({ order: Type.Integer(), type: GateType })),
  notes: Type.Optional(Type.String()),
})
export type LifecycleEntry = Readonly<Static<typeof LifecycleEntry>>

export const MembershipRequestDto = Closed({
  id: Guid,
  collectionId: Guid,
  requesterId: Described(Guid, 'The core identity that is to be a member.'),
  submittedBy: Described(Type.String(), 'Who filed the request: the same, their manager, or who added them directly.'),
  relationshipId: Described(Nullable(Guid), 'The position that the membership is for.'),
  status: OneOf(REQUEST_STATUSES),
  currentGate: Described(
    Nullable(Closed({ order: Type.Integer(), type: GateType, approverCount: Type.Integer() })),
    'Where it waits, and how many could decide there, as of now; the subject never counts. With nobody left it waits on, until the policy changes, the person is added directly or the request is cancelled. Null when it does not wait.',
  ),
  notes: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lifecycle: Described(Type.Array(LifecycleEntry), 'All that happened to it, oldest first. It only grows.'),
})
export type MembershipRequestDto = Static<typeof MembershipRequestDto>

/** A request as it is kept. Its lifecycle only grows. */
export type MembershipRequest = Readonly<Omit<MembershipRequestDto, 'lifecycle'>> & {
  readonly tenantId: string
  /** The membership it is for: no two live requests share one. */
  readonly slot: string
  readonly lifecycle: readonly LifecycleEntry[]
}

/** A request as callers see it. */
export function toMembershipRequestDto(request: MembershipRequest): MembershipRequestDto {
  const { tenantId: _tenantId, slot: _slot, ...record } = request
  return { ...record, lifecycle: [...request.lifecycle] }
}

/**
 * What there can be one open request or membership of: a position's in a collection of relationships, an identity's in
 * one of identities, whatever position is recorded with it.
 */
export function slotOf(
  { id, objectType }: Pick<Collection, 'id' | 'objectType'>,
  identityId: string,
  relationshipId: string | null,
): string {
  return `${id}:${identityId}:${objectType === 'Relationship' && relationshipId !== null ? relationshipId : 'none'}`
}

/** Whether the request is open or a membership: of these a slot has one. */
export function isLive({ status }: Pick<MembershipRequest, 'status'>): boolean {
  return (LIVE_STATUSES as readonly string[]).includes(status)
}

/** Under what those who may decide on the request look for it; null while it waits for nobody. */
export function reviewKeyOf({
  status,
  currentGate,
  collectionId,
  requesterId,
}: Pick<MembershipRequest, 'status' | 'currentGate' | 'collectionId' | 'requesterId'>): string | null {
  if (status !== 'PendingApproval' || currentGate === null) return null
  return currentGate.type === 'Manager' ? subjectKey(requesterId) : gateKey(collectionId, currentGate.order)
}

/** The requests that wait at a gate whose approvers the policy names. */
export function gateKey(collectionId: string, order: number): string {
  return `gate:${collectionId}:${order}`
}

/** The requests of a person that wait for the manager. */
export function subjectKey(requesterId: string): string {
  return `subject:${requesterId}`
}

/** Whether what waits under a key waits for a manager, rather than for approvers that the policy names. */
export function isManagerKey(reviewKey: string): boolean {
  return reviewKey.startsWith('subject:')
}

/** Who has approved or rejected it. */
export function decidersOf({ lifecycle }: Pick<MembershipRequest, 'lifecycle'>): string[] {
  const decisions = lifecycle.filter(({ status }) => status === 'Approved' || status === 'Rejected')
  return [...new Set(decisions.map(({ actorId }) => actorId))]
}
