import { type Static, Type } from 'typebox'
import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { Collection } from '../collections/collection.ts'
import { GateType } from './join-policy.ts'

/**
 * `Requested` and `Approved` appear in the lifecycle only; a stored request has another status.
 */
export const REQUEST_STATUSES = [
  'Requested',
  'PendingApproval',
  'Approved',
  'Joined',
  'Rejected',
  'Cancelled',
  'Left',
] as const
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/** The statuses of a request that is not decided yet. */
export const OPEN_STATUSES = ['Requested', 'PendingApproval'] as const
/** The statuses of a request that is open or a membership. A slot has at most one such request. */
export const LIVE_STATUSES = [...OPEN_STATUSES, 'Joined'] as const

export const Notes = Type.String({ maxLength: 2048 })

const LifecycleEntry = Closed({
  status: OneOf(REQUEST_STATUSES),
  actorId: Described(
    Type.String(),
    `A core identity id; the \`oid\` of the token when the actor has no core identity; or \`${SYSTEM_ACTOR}\`. The id is that ` +
      'of the time of the action: it stays when the identity is merged into another one later.',
  ),
  at: Timestamp,
  onBehalfOf: Type.Optional(
    Described(
      Type.String(),
      'The identity as whose deputy the actor decided. Absent where the actor decided themselves.',
    ),
  ),
  gate: Type.Optional(Closed({ order: Type.Integer(), type: GateType })),
  notes: Type.Optional(Type.String()),
})
export type LifecycleEntry = Readonly<Static<typeof LifecycleEntry>>

export const CurrentGate = Closed({ order: Type.Integer(), type: GateType, approverCount: Type.Integer() })

/** A later end that is asked for and waits to be approved. */
const EXTENSION_PROPERTIES = {
  endsAt: Described(Timestamp, 'The end of the membership when the extension is approved.'),
  requestedBy: Described(Type.String(), 'Like `submittedBy`.'),
  requestedAt: Timestamp,
  currentGate: Described(CurrentGate, 'As the `currentGate` of a request.'),
}

/** The members of a request that are stored and returned. */
export const REQUEST_PROPERTIES = {
  id: Guid,
  collectionId: Guid,
  requesterId: Described(Guid, 'The core identity that the membership is for.'),
  submittedBy: Described(
    Type.String(),
    'The actor who submitted the request: the requester, their manager, or the caller who added them directly. Like ' +
      '`actorId` in `lifecycle`, the id of that time: when identities are merged, `requesterId` changes to the one that ' +
      'remains, and this id stays.',
  ),
  relationshipId: Described(
    Nullable(Guid),
    'The position that the membership is for. In an Identity collection it becomes null when the position is deleted or handed over.',
  ),
  status: OneOf(REQUEST_STATUSES),
  currentGate: Described(
    Nullable(CurrentGate),
    'The gate where the request waits and the current number of approvers there, without the requester. With no approvers, the request waits until there is an approver (a fallback does at once; else a new manager, a new member of the approver collection, or a changed policy), the requester is added directly, or the request is cancelled. Null when the request does not wait.',
  ),
  notes: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lifecycle: Described(
    Type.Array(LifecycleEntry),
    'All status changes of the request, oldest first. Entries are only appended.',
  ),
}

const NameNow = Nullable(Type.String())

export const MembershipRequestDto = Closed({
  ...REQUEST_PROPERTIES,
  endsAt: Described(
    Nullable(Timestamp),
    'When the membership ends: within a minute after this time, the status becomes `Left` by `system` with the note ' +
      '`Expired`; while an `extension` waits, up to 14 days later. For a request that is not decided yet, the end that was asked for; it is `Cancelled` then. Null without an end.',
  ),
  extension: Described(
    Nullable(Closed(EXTENSION_PROPERTIES)),
    'A later end that waits for approval. Its decisions stand in `lifecycle`, while `status` stays `Joined`. Null when none waits.',
  ),
  collectionName: Described(NameNow, 'The current name of the collection; null when it was deleted.'),
  requesterName: Described(NameNow, 'The current display name of the requester; null without one.'),
  relationshipTitle: Described(NameNow, 'The current title of the position; null without one.'),
  submittedByName: Described(
    NameNow,
    'The current display name of who submitted the request; null for an actor without a core identity.',
  ),
  orgUnitName: Described(
    NameNow,
    'The current name of the unit of the position, or of the main position of a requester without one; null without one.',
  ),
  managerNames: Described(
    Type.Array(Type.String()),
    'The current display names of the managers of the requester in the position, or the main one.',
  ),
  approverNames: Described(
    Type.Array(Type.String()),
    'Where the request waits at a gate of named people or of the manager: the current display names of those who decide, ' +
      'with the people whom a fallback names once it decides as well. The first 10 in alphabetical order, without the ' +
      'requester. Otherwise empty.',
  ),
  actorNames: Described(
    Type.Record(Type.String(), Type.String()),
    'The current display names of the people in `lifecycle`, by their ids.',
  ),
})
export type MembershipRequestDto = Static<typeof MembershipRequestDto>

const StoredRequest = Type.Object(REQUEST_PROPERTIES)

/** A membership request. Its lifecycle only grows. */
export type MembershipRequest = Readonly<Omit<Static<typeof StoredRequest>, 'lifecycle'>> & {
  readonly tenantId: string
  /** Identifies the membership that the request is for. No two live requests share a slot. */
  readonly slot: string
  readonly lifecycle: readonly LifecycleEntry[]
  /** Timestamp. When the membership ends; for an open request, the end that was asked for. Absent without an end. */
  readonly endsAt?: string
  /** The time until which an open request must be decided. Absent without one. */
  readonly deadlineMs?: number
  /**
   * The approvers that the policy named for the gate where the request waits, when it was placed there. Absent when it
   * waits nowhere, and in requests of earlier releases.
   */
  readonly gateApprovers?: readonly string[]
  /** Waits for approval. Of a membership only. */
  readonly extension?: Extension
  /** When the request, or its extension, is next reminded of at its gate, and was last. Absent without reminders. */
  readonly reminder?: Reminder
  /** The end of the membership that events have told of, and when they did. */
  readonly endingTold?: { readonly endsAt: string; readonly at: string }
  /** One for each approval, in order. Absent in requests of earlier releases. */
  readonly approvals?: readonly Approval[]
  /**
   * The version of the policy that determined the gate where the request waits. Absent in requests of earlier releases.
   */
  readonly policyVersion?: number
  /**
   * For a membership that ended by the deletion of its identity or position: the time until which it comes back with
   * it.
   */
  readonly restorableUntilMs?: number
}

/** The ended membership as one that does not come back with a deleted object. */
export function endedForGood(membership: MembershipRequest): MembershipRequest {
  const { restorableUntilMs: _restorableUntilMs, extension: _extension, reminder: _reminder, ...rest } = membership
  return rest
}

type Extension = Readonly<Static<Type.TObject<typeof EXTENSION_PROPERTIES>>> & {
  /** As of a request. */
  readonly gateApprovers?: readonly string[]
  readonly approvals: readonly Approval[]
  readonly policyVersion: number
}

/** Times of reminders, `days` apart. */
type Reminder = { readonly days: number; readonly dueAtMs: number; readonly lastAt?: string }

/** The type and approvers of the gate that approved a request. */
export type Approval = { readonly type: GateType; readonly approvers: readonly string[] }

/**
 * Returns the slot of a membership. A Relationship collection has one slot per identity and position, an Identity
 * collection one per identity, regardless of the recorded position.
 */
export function slotOf(
  { id, objectType }: Pick<Collection, 'id' | 'objectType'>,
  identityId: string,
  relationshipId: string | null,
): string {
  return `${id}:${identityId}:${objectType === 'Relationship' && relationshipId !== null ? relationshipId : 'none'}`
}

/** Whether the request is open or a membership. */
export function isLive({ status }: Pick<MembershipRequest, 'status'>): boolean {
  return (LIVE_STATUSES as readonly string[]).includes(status)
}

/** Returns the ids of the actors who have approved or rejected the request. */
export function decidersOf({ lifecycle }: Pick<MembershipRequest, 'lifecycle'>): string[] {
  const decisions = lifecycle.filter(({ status }) => status === 'Approved' || status === 'Rejected')
  return [...new Set(decisions.map(({ actorId }) => actorId))]
}

type NewRequest = Pick<
  MembershipRequest,
  'id' | 'requesterId' | 'relationshipId' | 'submittedBy' | 'status' | 'notes'
> & { readonly collection: Collection; readonly at: string; readonly endsAt?: string | undefined }

/** Returns a new request whose lifecycle has one entry, with the request's status and notes. */
export function newRequest({ collection, at, endsAt, ...properties }: NewRequest): MembershipRequest {
  const { requesterId, relationshipId, submittedBy, status, notes } = properties
  return {
    ...properties,
    ...(endsAt === undefined ? {} : { endsAt }),
    tenantId: collection.tenantId,
    slot: slotOf(collection, requesterId, relationshipId),
    collectionId: collection.id,
    currentGate: null,
    approvals: [],
    createdAt: at,
    updatedAt: at,
    lifecycle: [{ status, actorId: submittedBy, at, ...(notes === null ? {} : { notes }) }],
  }
}
