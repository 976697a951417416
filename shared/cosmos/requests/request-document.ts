import { type TObject, Type } from 'typebox'
import { dueAtMs } from '../../domain/membership-requests/ends.ts'
import { waitingPart } from '../../domain/membership-requests/extension.ts'
import { GateType } from '../../domain/membership-requests/join-policy.ts'
import {
  CurrentGate,
  decidersOf,
  type MembershipRequest,
  REQUEST_PROPERTIES,
} from '../../domain/membership-requests/membership-request.ts'
import { tellingDueMs } from '../../domain/membership-requests/reminders.ts'
import { endedKeyOf, gateKey, reviewKeyOf } from '../../domain/membership-requests/review-keys.ts'
import { Nullable } from '../../kernel/schema.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { documentParser } from '../document-parser.ts'
import type { Stored } from '../documents.ts'

/** A request with the properties that queries select by. */
export type RequestDocument = MembershipRequest & {
  readonly type: 'request'
  /** The key under which approvers find the request; absent when it does not wait at a gate. */
  readonly reviewKey?: string
  /**
   * The key under which the approvers of the gate where it ended find the request; absent when there is no such gate.
   */
  readonly endedKey?: string
  readonly deciders: readonly string[]
  /** All who stand in the lifecycle as actors. Absent in documents of earlier releases. */
  readonly actorIds?: readonly string[]
  /** Where it waits for a manager: the key under which those find it who decide as the fallback of the gate. */
  readonly fallbackKey?: string
  /** When the service ends the request by itself; absent when it never does. */
  readonly dueAtMs?: number
  /** When the service next tells of the request; absent when it never does. */
  readonly tellingDueAtMs?: number
}

/** Holds the membership version of a joinable collection. */
export type JoinedHeadDocument = ReturnType<typeof parseJoinedHead> & {
  readonly id: string
  readonly tenantId: string
  readonly type: 'head'
}

export function requestDocument(request: MembershipRequest): RequestDocument {
  const reviewKey = reviewKeyOf(request)
  const endedKey = endedKeyOf(request)
  const [dueMs, tellingMs] = [dueAtMs(request), tellingDueMs(request)]
  const gate = waitingPart(request)?.currentGate
  return {
    ...request,
    type: 'request',
    deciders: decidersOf(request),
    actorIds: [...new Set(request.lifecycle.map(({ actorId }) => actorId))],
    ...(reviewKey === null ? {} : { reviewKey }),
    ...(endedKey === null ? {} : { endedKey }),
    ...(gate?.type === 'Manager' ? { fallbackKey: gateKey(request.collectionId, gate.order) } : {}),
    ...(dueMs === undefined ? {} : { dueAtMs: dueMs }),
    ...(tellingMs === undefined ? {} : { tellingDueAtMs: tellingMs }),
  }
}

const Text = Type.String()
const { status, currentGate } = REQUEST_PROPERTIES

/** The members of a request that queries over very many requests read. Ids were validated before they were stored. */
export const OUTLINE_PROPERTIES = {
  id: Text,
  collectionId: Text,
  requesterId: Text,
  relationshipId: Nullable(Text),
  status,
  policyVersion: Type.Optional(Type.Integer()),
  extensionPolicyVersion: Type.Optional(Type.Integer()),
}

const Approvals = Type.Array(Type.Object({ type: GateType, approvers: Type.Array(Text) }))

/** Returns the request in a stored document. @throws Error when the document is not a valid request. */
export const parseRequest = documentParser<TObject, MembershipRequest>(
  'membership request',
  Type.Object({
    ...OUTLINE_PROPERTIES,
    currentGate,
    restorableUntilMs: Type.Optional(Type.Number()),
    endsAt: Type.Optional(Text),
    deadlineMs: Type.Optional(Type.Number()),
    reminder: Type.Optional(Type.Object({ days: Type.Number(), dueAtMs: Type.Number(), lastAt: Type.Optional(Text) })),
    endingTold: Type.Optional(Type.Object({ endsAt: Text, at: Text })),
    extension: Type.Optional(
      Type.Object({
        endsAt: Text,
        requestedBy: Text,
        requestedAt: Text,
        currentGate: CurrentGate,
        gateApprovers: Type.Optional(Type.Array(Text)),
        approvals: Approvals,
        policyVersion: Type.Integer(),
      }),
    ),
    gateApprovers: Type.Optional(Type.Array(Text)),
    approvals: Type.Optional(Approvals),
    tenantId: Text,
    slot: Text,
    submittedBy: Text,
    notes: Nullable(Text),
    createdAt: Text,
    updatedAt: Text,
    lifecycle: Type.Array(
      Type.Object({
        status,
        actorId: Text,
        at: Text,
        onBehalfOf: Type.Optional(Text),
        gate: Type.Optional(Type.Object({ order: Type.Integer(), type: GateType })),
        notes: Type.Optional(Text),
      }),
    ),
  }),
)

/**
 * Returns the request and the version that a write must quote.
 * @throws Error when the document is not a valid request.
 */
export function versionedRequest(document: Stored<RequestDocument>): Versioned<MembershipRequest> {
  return { value: parseRequest(document), version: document._etag }
}

/** Returns the head in a stored document. @throws Error when the document is not a valid head. */
export const parseJoinedHead = documentParser(
  'membership head',
  Type.Object({
    collectionId: Type.String(),
    membershipVersion: Type.Integer(),
    /** Rises by one with each write of the head: also when only the position of a membership changes. */
    revision: Type.Optional(Type.Integer()),
    /** The time of the last change. Absent in documents of earlier versions of the service, as the next member. */
    changedAtMs: Type.Optional(Type.Number()),
    /** The memberships. */
    memberCount: Type.Optional(Type.Integer()),
  }),
)

/**
 * Returns the document that reserves the slot of a live request: its id is derived from the slot, so the database refuses
 * a second one. It also holds, in few bytes, what queries over very many requests read. Its property names differ from
 * those of requests so that no index mixes the two.
 */
export function slotDocument(request: MembershipRequest) {
  const reviewKey = reviewKeyOf(request)
  return {
    id: slotId(request.slot),
    tenantId: request.tenantId,
    type: 'slot',
    requestId: request.id,
    ofCollection: request.collectionId,
    holderId: request.requesterId,
    position: request.relationshipId,
    state: request.status,
    ...(request.policyVersion === undefined ? {} : { policyVersion: request.policyVersion }),
    ...(request.extension === undefined ? {} : { extensionPolicyVersion: request.extension.policyVersion }),
    ...(reviewKey === null ? {} : { awaits: reviewKey }),
  }
}

/** Derived from the slot, so that the database accepts one document per slot. */
export function slotId(slot: string): string {
  return `slot:${slot}`
}

/** One head per collection. */
export function headId(collectionId: string): string {
  return `head:${collectionId}`
}

/** One change per membership version, so that the database refuses a second change of the same version. */
export function changeId(collectionId: string, membershipVersion: number): string {
  return `change:${collectionId}:${membershipVersion}`
}
