import { decidersOf, type MembershipRequest, reviewKeyOf } from '../domain/membership-requests/membership-request.ts'
import type { Versioned } from '../kernel/versioned.ts'
import type { Stored } from './documents.ts'

/** A request with what it is looked up by beyond its own members. */
export type RequestDocument = MembershipRequest & {
  readonly type: 'request'
  /** One of those that an approver has; absent when it waits for nobody. */
  readonly reviewKey?: string
  readonly deciders: readonly string[]
}

/**
 * Stands for the one live request of a slot: its id is the slot's, so that a second one cannot be created. It says in few
 * bytes what lists of very many look at, under names of its own, so that no index mixes it with the requests.
 */
export type SlotDocument = {
  readonly id: string
  readonly tenantId: string
  readonly type: 'slot'
  readonly requestId: string
  readonly ofCollection: string
  readonly holderId: string
  readonly position: string | null
  readonly state: MembershipRequest['status']
  readonly gate: MembershipRequest['currentGate']
  /** The request's `reviewKey`. */
  readonly awaits?: string
}

/** Counts the changes of who is in a collection. */
export type JoinedHeadDocument = {
  readonly id: string
  readonly tenantId: string
  readonly type: 'head'
  readonly collectionId: string
  readonly membershipVersion: number
}

/** One such change; it goes after a while, and then only a whole comparison tells. */
export type JoinedChangeDocument = {
  readonly id: string
  readonly tenantId: string
  readonly type: 'change'
  readonly collectionId: string
  readonly membershipVersion: number
  /** Identity ids. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly ttl: number
}

/** A request as it is stored. */
export function requestDocument(request: MembershipRequest): RequestDocument {
  const reviewKey = reviewKeyOf(request)
  return {
    ...request,
    type: 'request',
    deciders: decidersOf(request),
    ...(reviewKey === null ? {} : { reviewKey }),
  }
}

/** A request as it was stored, without what it is looked up by and what the database adds. */
export function requestOf(document: RequestDocument): MembershipRequest {
  return {
    id: document.id,
    tenantId: document.tenantId,
    slot: document.slot,
    collectionId: document.collectionId,
    requesterId: document.requesterId,
    submittedBy: document.submittedBy,
    relationshipId: document.relationshipId,
    status: document.status,
    currentGate: document.currentGate,
    notes: document.notes,
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
    lifecycle: document.lifecycle,
  }
}

/** The same with the version that a later write must quote. */
export function versionedRequest(document: Stored<RequestDocument>): Versioned<MembershipRequest> {
  return { value: requestOf(document), version: document._etag }
}

/** The slot that a live request takes. */
export function slotDocument(request: MembershipRequest): SlotDocument {
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
    gate: request.currentGate,
    ...(reviewKey === null ? {} : { awaits: reviewKey }),
  }
}

/** Derived from the slot, so that the database lets only one be created. */
export function slotId(slot: string): string {
  return `slot:${slot}`
}

/** One for each collection. */
export function headId(collectionId: string): string {
  return `head:${collectionId}`
}

/** One for each version of a membership, so that none is written twice. */
export function changeId(collectionId: string, membershipVersion: number): string {
  return `change:${collectionId}:${membershipVersion}`
}
