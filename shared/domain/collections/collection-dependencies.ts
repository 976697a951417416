import type { CooperativeScheduler } from '../../kernel/cooperative-scheduler.ts'
import { enqueueEvaluation } from '../../kernel/enqueue-messages.ts'
import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { AccountChangeStore, DeletedCoreObjects } from '../core/core-object-store.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { MemberHistory } from '../history/member-history.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CollectionKind } from './collection.ts'
import type { JoinedMembers, MembershipStore } from './membership-store.ts'

export type CollectionFilter = {
  readonly kind?: CollectionKind
  /** Normalised. A collection must have at least one tag of each list. */
  readonly tags?: readonly (readonly string[])[]
  /** A collection must have all of them. */
  readonly attributes?: readonly { readonly key: string; readonly value: string }[]
  /** Only collections whose definition refers to this one. */
  readonly refersTo?: string
}

type CollectionRemoval = { readonly collectionId: string; readonly removedAtMs: number }

/** What a collection is, without its definition, which can be long. */
export type CollectionSummary = Pick<Collection, 'id' | 'kind' | 'objectType'>

/**
 * Collections of a tenant. A write that adds, changes or removes references between collections quotes the tenant's
 * reference version, read before the references: of two concurrent writes one is refused. See `withReferenceGuard`.
 */
export interface CollectionStore {
  /** Undefined when the collection does not exist or is of another kind. */
  find(tenantId: string, id: string, kind?: CollectionKind): Promise<Versioned<Collection> | undefined>
  referenceVersion(tenantId: string): Promise<string>
  /** Runs changes of the tenant's collections one at a time within this process, in the order of the calls. */
  serialize<T>(tenantId: string, run: () => Promise<T>): Promise<T>
  /** Makes every reference version read so far stale. For references from outside, such as group links. */
  invalidateReferenceVersions(tenantId: string): Promise<void>
  /**
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion` when the reference version is no longer current.
   */
  add(collection: Collection, referenceVersion: string | undefined, audit?: AuditRecord): Promise<Versioned<Collection>>
  /**
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion` when either version is no longer current.
   */
  replace(
    collection: Collection,
    version: string,
    referenceVersion: string | undefined,
    audit?: AuditRecord,
  ): Promise<Versioned<Collection>>
  /**
   * Deletes the collection and records its id: members may still be written for it.
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion` when either version is no longer current.
   */
  remove(tenantId: string, id: string, version: string, referenceVersion: string, audit?: AuditRecord): Promise<void>
}

/** The collections of a tenant, read together. */
export interface CollectionLists {
  /** The collections of a kind, or of both: by name, then id. */
  list(tenantId: string, kind?: CollectionKind): Promise<Collection[]>
  /** The collections that match the filter: by name, then id. */
  search(tenantId: string, filter: CollectionFilter): Promise<Collection[]>
  /** Without their definitions: all of the tenant, or those of some hundreds of ids that exist. */
  summaries(tenantId: string, ids?: readonly string[]): Promise<CollectionSummary[]>
  /** The collections among these ids that exist. */
  existing(tenantId: string, ids: readonly string[]): Promise<Collection[]>
  /** Bytes of all definitions of the tenant, as stored. */
  definitionBytes(tenantId: string): Promise<number>
  /** The number of collections of both kinds. */
  count(tenantId: string): Promise<number>
}

/** Collections that were deleted, and whose members may not be yet. */
export interface CollectionRemovals {
  /** The collections whose removal is still recorded. The database's clock gives the time, in whole seconds. */
  removals(tenantId: string): Promise<CollectionRemoval[]>
  /** Called once nothing of the removed collection is left. */
  deleteRemovalRecord(tenantId: string, id: string): Promise<void>
}

/** The group links of collections. */
export interface CollectionLinks {
  /** Ids of a collection's links: those that exist keep it from being deleted. */
  linksOf(tenantId: string, collectionId: string): Promise<readonly string[]>
  /** The collection that is linked to each of these groups. Groups without a link are left out. */
  collectionsFilling(tenantId: string, directoryGroupIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /**
   * The collections with an enabled link, each with the oldest version of its membership that one of its links has
   * applied: infinite if none was ever synced.
   */
  linkedCollections(tenantId: string): Promise<ReadonlyMap<string, number>>
  /**
   * Records that members of these collections changed accounts at these times (ms): their groups must be compared in
   * full. Links that were compared since are left out.
   * @returns The collections with a link whose group must be compared.
   */
  accountsChanged(tenantId: string, changedAtMs: ReadonlyMap<string, number>): Promise<ReadonlySet<string>>
}

/** The tenants that the sweep visits. */
interface TenantDirectory {
  /** Costs nothing for a tenant that is registered already. */
  register(tenantId: string): Promise<void>
}

/** Collections, the limits on them, and the links that refer to them. */
type StoredCollections = {
  readonly collections: CollectionStore & CollectionLists
  readonly collectionQuota: TenantQuota
  /** Of the bytes of all definitions of a tenant. */
  readonly definitionQuota: TenantQuota
  readonly links: CollectionLinks
  readonly tenants: TenantDirectory
}

/** Members, and the changes of them. */
type StoredMembers = {
  /** Members of criteria collections. */
  readonly memberships: MembershipStore
  /** Members of joinable collections. */
  readonly joined: JoinedMembers
  /** The changes of members of collections of each kind. */
  readonly history: Readonly<Record<CollectionKind, MemberHistory>>
  /** Days for which changes are kept. */
  readonly historyDays: number
}

/** The core objects that conditions are evaluated on. */
type EvaluatedObjects = {
  readonly snapshots: TenantSnapshots
  /** Parses conditions without blocking other requests. */
  readonly scheduler: CooperativeScheduler
  readonly accountChanges: AccountChangeStore
  readonly deletedObjects: DeletedCoreObjects
}

type Surroundings = {
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  newId(): string
  nowMs(): number
}

/** All that use cases of collections are composed with. Each declares the members that it uses. */
export type CollectionDependencies = StoredCollections & StoredMembers & EvaluatedObjects & Surroundings

export type EvaluationNotifier = Pick<CollectionDependencies, 'messageQueue' | 'log' | 'newId'>

/**
 * Enqueues an evaluation of the tenant's collections. Call it after the change is written. A failure to enqueue is
 * logged and does not fail the change: the hourly sweep finds that something was written.
 * @param delayMs When other instances do not see the change at once.
 */
export async function notifyEvaluation(
  tenantId: string,
  { messageQueue, log, newId }: EvaluationNotifier,
  delayMs = 0,
): Promise<void> {
  try {
    await enqueueEvaluation(tenantId, newId(), { messageQueue }, delayMs)
  } catch (error) {
    log.error('collections.enqueue-failed', error, { tenantId })
  }
}
