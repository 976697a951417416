import { chunkWithin } from '../../kernel/chunk.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { type CollectionDependencies, notifyEvaluation } from '../collections/collection-dependencies.ts'
import { OrgChart } from '../tenant-index/org-chart.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { MembershipResolver } from './membership-resolver.ts'

/** A request as it is to be, and as it was read; new ones have no `before`. */
export type RequestChange = {
  readonly before?: Versioned<MembershipRequest>
  readonly after: MembershipRequest
}

/** Changes that one `save` takes: all are written, or none. */
const CHANGES_PER_SAVE_COUNT = 40
/** Bytes that their requests may have together. The store takes 2 MB in one transaction, slots and change included. */
const SAVE_LIMIT_BYTES = 1_500_000
/** What a character of JSON, a UTF-16 unit, takes at most. */
const BYTES_PER_UNIT = 3

/** The changes in parts each of which one `save` takes. Long notes on many decisions make a request large. */
export function saveable(changes: readonly RequestChange[]): RequestChange[][] {
  const limits = { atMostCount: CHANGES_PER_SAVE_COUNT, atMostBytes: SAVE_LIMIT_BYTES }
  return chunkWithin(changes, limits, ({ after }) => JSON.stringify(after).length * BYTES_PER_UNIT)
}

/** What tells whether a request still stands on something: enough to look at very many. */
export type RequestOutline = Pick<
  MembershipRequest,
  'id' | 'collectionId' | 'requesterId' | 'relationshipId' | 'status' | 'currentGate'
>

/** The least that tells whether a waiting request waits for somebody. */
export type WaitingRequest = Pick<MembershipRequest, 'collectionId' | 'requesterId' | 'relationshipId'> & {
  readonly reviewKey: string
}

/** Who asks for requests that are not everybody's: an identity, and the keys under which requests wait for it. */
type RequestReader = { readonly identityId: string; readonly reviewKeys: readonly string[] }

/**
 * Membership requests of a tenant, those that ended included. Of the live ones, open or joined, there is one for each
 * slot at most: the store sees to it, also when many are submitted at once. Joining and leaving raise the collection's
 * membership version in the same transaction.
 */
export interface RequestStore {
  find(tenantId: string, requestId: string): Promise<Versioned<MembershipRequest> | undefined>
  /**
   * Writes changes of one collection, one part of `saveable`, all or none.
   * @throws Refusal `InvalidRequestState` when a request is not as it was read, `RequestAlreadyOpen` when a slot is taken,
   * `StaleVersion` when too many others change the members of the collection.
   */
  save(changes: readonly RequestChange[]): Promise<Versioned<MembershipRequest>[]>
  /** Newest first. With a reader: those that it may see, and perhaps some more that wait for a manager. */
  ofCollection(tenantId: string, collectionId: string, reader?: RequestReader): Promise<MembershipRequest[]>
  /** Those filed for others. Newest first. */
  submittedOnBehalf(tenantId: string, submitterId: string): Promise<MembershipRequest[]>
  /** The live requests of an identity, in all collections. */
  liveOf(tenantId: string, identityId: string): Promise<Versioned<MembershipRequest>[]>
  /** The live requests in a collection; only those of some identities, if these are given. */
  liveIn(
    tenantId: string,
    collectionId: string,
    identityIds?: readonly string[],
  ): Promise<Versioned<MembershipRequest>[]>
  /** The requests in a collection that wait at a gate. */
  allWaitingIn(tenantId: string, collectionId: string): Promise<Versioned<MembershipRequest>[]>
  /** The live requests of all collections that concern one of these people or positions. */
  liveOfObjects(tenantId: string, objectIds: readonly string[]): Promise<Versioned<MembershipRequest>[]>
  /** All live requests of the tenant. */
  liveOutlines(tenantId: string): Promise<RequestOutline[]>
  /** What waits under one of the keys. */
  waiting(tenantId: string, reviewKeys: readonly string[]): Promise<WaitingRequest[]>
  /** What waits in a collection under one of the keys. Newest first. */
  waitingIn(tenantId: string, collectionId: string, reviewKeys: readonly string[]): Promise<MembershipRequest[]>
}

/** What the use cases of joinable collections and membership requests stand on. */
export type RequestDependencies = CollectionDependencies & {
  readonly requests: RequestStore
  readonly membershipResolver: MembershipResolver
}

/** A caller who acts as a person. */
export type Person = { readonly tenantId: string; readonly identityId: string }

/** The tenant's people with everything that was written before this call. */
export async function freshOrgChart(
  tenantId: string,
  deps: Pick<CollectionDependencies, 'snapshots' | 'nowMs'>,
): Promise<OrgChart> {
  return new OrgChart(await deps.snapshots.fresh(tenantId), deps.nowMs())
}

/**
 * Tells that the members of joinable collections have changed: collections whose conditions name them are evaluated, and
 * groups that they feed are written to. The members are kept already: a ring that fails is the sweep's to repeat.
 */
export async function notifyMembershipChanges(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  deps: RequestDependencies,
): Promise<void> {
  if (collectionIds.size === 0) return
  try {
    await notifyEvaluation(tenantId, deps)
    await notifyLinkedGroups(tenantId, collectionIds, deps)
  } catch (error) {
    deps.log.error('membership.ring-failed', error, { tenantId })
  }
}

/** As `tellOfMemberships`, where an evaluation is under way that sees the change by itself. */
export async function notifyLinkedGroups(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  { links, messageQueue, newId }: RequestDependencies,
): Promise<void> {
  if (collectionIds.size === 0) return
  const linked = await links.linkedCollections(tenantId)
  for (const collectionId of linked.intersection(collectionIds)) {
    await messageQueue.enqueue(
      { queue: 'membership-changes', message: { tenantId, collectionId } },
      { id: `change:${newId()}` },
    )
  }
}
