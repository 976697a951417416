import { enqueueMembersChanged } from '../../kernel/enqueue-messages.ts'
import type { Page, Versioned } from '../../kernel/versioned.ts'
import {
  type CollectionDependencies,
  type EvaluationNotifier,
  notifyEvaluation,
} from '../collections/collection-dependencies.ts'
import type { DeletedCoreObjects } from '../core/core-object-store.ts'
import type { Attribution } from '../history/member-history.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { ApproverSources } from './approvers.ts'
import type { DeputyStore } from './deputies.ts'
import type { MembershipRequest, RequestStatus } from './membership-request.ts'
import type { MembershipResolver } from './membership-resolver.ts'

/** A request to be written, with the version it was read at. A new request has no `before`. */
export type RequestChange = {
  readonly before?: Versioned<MembershipRequest>
  readonly after: MembershipRequest
  /** Why a member is added or removed, where the request does not tell. */
  readonly attribution?: Attribution
}

/** The members of a request that determine whether it is orphaned or misplaced. */
export type RequestOutline = Pick<
  MembershipRequest,
  'id' | 'collectionId' | 'requesterId' | 'relationshipId' | 'status' | 'policyVersion'
> & {
  /** That of the extension that waits; absent when none does. */
  readonly extensionPolicyVersion?: number
}

/** The members of a waiting request that determine who may decide on it. */
export type WaitingRequest = Pick<MembershipRequest, 'collectionId' | 'requesterId' | 'relationshipId'> & {
  readonly reviewKey: string
}

/** A reader who does not see all requests: an identity, and the review keys of the gates where it is an approver. */
type RequestReader = { readonly identityId: string; readonly reviewKeys: readonly string[] }

/** The requests of a list, and their order. Without a member, its condition does not apply. */
export type RequestListQuery = {
  readonly newestFirst: boolean
  readonly collectionId?: string
  readonly requesterId?: string
  readonly status?: RequestStatus
  /** The requests that the reader may see, and possibly others that wait or ended at a manager's gate. */
  readonly reader?: RequestReader
  /** The requests that wait under one of these review keys. */
  readonly waitingUnder?: readonly string[]
}

/**
 * The membership requests of a tenant, ended ones included. Each slot has at most one live request (open or joined),
 * also when several are submitted concurrently. A change that joins or leaves increments the collection's membership
 * version in the same transaction.
 */
export interface RequestStore {
  find(tenantId: string, requestId: string): Promise<Versioned<MembershipRequest> | undefined>
  /** Splits the changes of one collection into batches that one `save` accepts, in order. */
  batches(changes: readonly RequestChange[]): RequestChange[][]
  /**
   * Writes one batch of changes of one collection: all or none.
   * @throws Refusal `InvalidRequestState` when a request has changed since it was read, `RequestAlreadyOpen` when a
   * slot is taken, `StaleVersion` when concurrent changes of the collection's members do not end.
   */
  save(changes: readonly RequestChange[]): Promise<Versioned<MembershipRequest>[]>
  /** The live requests of an identity in all collections. Newest first. */
  liveOf(tenantId: string, identityId: string): Promise<Versioned<MembershipRequest>[]>
  /** The live requests of a collection, optionally only those of some identities. */
  liveIn(
    tenantId: string,
    collectionId: string,
    identityIds?: readonly string[],
  ): Promise<Versioned<MembershipRequest>[]>
  /** Of some identities in a collection: the live requests, and the memberships that can come back after a deletion. */
  liveOrRestorableIn(
    tenantId: string,
    collectionId: string,
    identityIds: readonly string[],
    nowMs: number,
  ): Promise<Versioned<MembershipRequest>[]>
  /** The live requests of all collections whose subject or position is one of these objects. */
  liveOfObjects(tenantId: string, objectIds: readonly string[]): Promise<Versioned<MembershipRequest>[]>
  /** The requests of a collection that wait at a gate, and the memberships whose extension does. */
  allWaitingIn(tenantId: string, collectionId: string): Promise<Versioned<MembershipRequest>[]>
}

/** What people see of membership requests. */
export interface RequestLists {
  /** A page of requests in the order of their creation. */
  page(
    tenantId: string,
    query: RequestListQuery,
    after: string | undefined,
    size: number,
  ): Promise<Page<MembershipRequest>>
  /** Records of others that name the submitter, with those of people who were added directly. Newest first. */
  submittedOnBehalf(tenantId: string, submitterId: string): Promise<MembershipRequest[]>
  /** The requests that wait under one of the review keys. */
  waiting(tenantId: string, reviewKeys: readonly string[]): Promise<WaitingRequest[]>
  /** The review keys under which at least one request waits. */
  awaitedKeys(tenantId: string, reviewKeys: readonly string[]): Promise<string[]>
  /** The requests of a collection that wait under one of the review keys. Newest first. */
  waitingIn(tenantId: string, collectionId: string, reviewKeys: readonly string[]): Promise<MembershipRequest[]>
}

/** The requests that the service changes by itself. */
export interface ReconciledRequests {
  /** The memberships that ended by a deletion and can still come back with the deleted object. */
  restorable(tenantId: string, nowMs: number): Promise<Versioned<MembershipRequest>[]>
  /** Requests that the service ends by itself, or tells of, at these times (ms) or before. */
  due(tenantId: string, untilMs: number, atMostCount: number): Promise<Versioned<MembershipRequest>[]>
  /** The times (ms) until then at which the service ends requests by itself or tells of them; each once. */
  dueTimes(tenantId: string, untilMs: number): Promise<number[]>
  /** All live requests of the tenant. */
  liveOutlines(tenantId: string): Promise<RequestOutline[]>
}

/** What the notifications of changed members need. */
export type MemberNotifier = EvaluationNotifier & Pick<CollectionDependencies, 'links'>

/** The people of a tenant, and who manages whom. */
export type OrgChartSource = Pick<CollectionDependencies, 'snapshots' | 'nowMs'>

/** Requests and what determines who may act on them. */
export type RequestDependencies = MemberNotifier &
  OrgChartSource &
  Pick<CollectionDependencies, 'collections'> & {
    readonly requests: RequestStore
    readonly membershipResolver: MembershipResolver
    readonly deputies: DeputyStore
  }

/** Whether who had a position and who has it now are certainly two people. */
export type AreTwoPeople = (formerHolderId: string, holderId: string, positionId: string) => boolean

/** What became of objects that requests name. */
type ObjectSources = {
  readonly deletedObjects: DeletedCoreObjects
  /** Tells the people among these identities and positions apart. */
  toldApart(tenantId: string, coreObjectIds: readonly string[]): Promise<AreTwoPeople>
}

/** What adds members: by a request, or directly. */
export type JoinDependencies = RequestDependencies & Pick<CollectionDependencies, 'tenants'> & ObjectSources

/** Dependencies of the lists of requests. */
export type RequestListDependencies = RequestDependencies & { readonly requests: RequestLists }

/** Dependencies of changes that requests take from core objects, policies and time. */
export type ReconciliationDependencies = RequestDependencies & { readonly requests: ReconciledRequests } & ObjectSources

/** A caller with a core identity. */
export type Person = { readonly tenantId: string; readonly identityId: string }

/** The tenant's org chart, including everything that was written before this call. */
export async function freshOrgChart(tenantId: string, deps: OrgChartSource): Promise<OrgChart> {
  return new OrgChart(await deps.snapshots.fresh(tenantId), deps.nowMs())
}

/** What tells who may decide now, by this org chart. */
export function approverSources(
  orgChart: OrgChart,
  { membershipResolver, nowMs }: Pick<RequestDependencies, 'membershipResolver' | 'nowMs'>,
): ApproverSources {
  return { orgChart, membershipResolver, nowMs: nowMs() }
}

/**
 * Enqueues messages for changed members of joinable collections: one that evaluates the collections whose conditions
 * refer to them, and one for each linked collection. The members are already stored. When enqueueing fails, the error
 * is logged and the sweep enqueues the work.
 */
export async function notifyMembershipChanges(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  deps: MemberNotifier,
): Promise<void> {
  if (collectionIds.size === 0) return
  try {
    await notifyEvaluation(tenantId, deps)
    await notifyLinkedGroups(tenantId, collectionIds, deps)
  } catch (error) {
    deps.log.error('membership.notify-failed', error, { tenantId })
  }
}

/** Enqueues the messages for linked collections only, during an evaluation that reads the change itself. */
export async function notifyLinkedGroups(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  { links, messageQueue, newId }: Pick<MemberNotifier, 'links' | 'messageQueue' | 'newId'>,
): Promise<void> {
  if (collectionIds.size === 0) return
  const linked = await links.linkedCollections(tenantId)
  for (const collectionId of collectionIds.intersection(linked)) {
    await enqueueMembersChanged({ tenantId, collectionId }, newId(), { messageQueue })
  }
}
