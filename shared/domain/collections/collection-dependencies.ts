import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { AccountChangeStore } from '../core/account-changes.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CollectionKind } from './collection.ts'
import type { EvaluationLeaseStore } from './evaluation-lease.ts'
import type { JoinedMembers, MembershipStore } from './membership-store.ts'

export type CollectionFilter = {
  readonly kind?: CollectionKind
  readonly objectType?: string
  /** In their normalised form. Of each list a collection must have one. */
  readonly tags?: readonly (readonly string[])[]
  /** A collection must have them all. */
  readonly attributes?: readonly { readonly key: string; readonly value: string }[]
  /** Only those whose definition names this collection. */
  readonly refersTo?: string
}

/**
 * Collections of a tenant. Whoever adds, changes or removes a reference between collections quotes the tenant's
 * reference version, read before looking at the references: of two who do so at once, one is refused.
 */
export interface CollectionStore {
  /** Undefined when there is none, or when it is of another kind than asked for. */
  find(tenantId: string, id: string, kind?: CollectionKind): Promise<Versioned<Collection> | undefined>
  /** By name, then id. */
  list(tenantId: string, filter: CollectionFilter): Promise<Collection[]>
  /** Those of the ids that exist, with what they refer to. */
  existing(tenantId: string, ids: readonly string[]): Promise<Collection[]>
  referenceVersion(tenantId: string): Promise<string>
  /** Runs what changes collections of the tenant, one after the other within this process, in the order given. */
  serialize<T>(tenantId: string, run: () => Promise<T>): Promise<T>
  /** Makes every reference version read before stale, for what refers to collections without being one. */
  invalidateReferenceVersions(tenantId: string): Promise<void>
  /** @throws Refusal `StaleVersion` when the reference version is no longer current. */
  add(collection: Collection, referenceVersion: string | undefined): Promise<Versioned<Collection>>
  /** @throws Refusal `StaleVersion` when either version is no longer current. */
  replace(collection: Collection, version: string, referenceVersion: string | undefined): Promise<Versioned<Collection>>
  /**
   * Remembers the id: what belongs to the collection elsewhere may outlast it.
   * @throws Refusal `StaleVersion` when either version is no longer current.
   */
  remove(tenantId: string, id: string, version: string, referenceVersion: string): Promise<void>
  /** Ids of collections that were removed before an instant and not forgotten since. */
  removedBefore(tenantId: string, instantMs: number): Promise<string[]>
  /** Nothing of the removed collection is left. */
  deleteRemovalRecord(tenantId: string, id: string): Promise<void>
}

/** What collections need to know of the links that they feed. */
export interface CollectionLinks {
  /** Ids of the links of a collection; empty when it feeds no group. */
  linksOf(tenantId: string, collectionId: string): Promise<readonly string[]>
  /** Ids of all collections that feed a group by an enabled link. */
  linkedCollections(tenantId: string): Promise<ReadonlySet<string>>
  /**
   * Writes down that members of these collections have other accounts since then (ms): only comparing whole groups tells
   * what to write. Links that were compared since are left out.
   * @returns The collections with a link that has to be compared.
   */
  accountsChanged(tenantId: string, movedAtMs: ReadonlyMap<string, number>): Promise<ReadonlySet<string>>
  /** Those of the collections with a link that has applied less than this version of its membership. */
  behind(tenantId: string, membershipVersions: ReadonlyMap<string, number>): Promise<ReadonlySet<string>>
}

/** Remembers which tenants there are, for the sweep. */
interface TenantDirectory {
  /** Cheap when the tenant is known already. */
  remember(tenantId: string): Promise<void>
}

export type CollectionDependencies = {
  readonly collections: CollectionStore
  /** Members of criteria collections. */
  readonly memberships: MembershipStore
  readonly evaluationLeases: EvaluationLeaseStore
  /** Members of joinable collections. */
  readonly joined: JoinedMembers
  readonly snapshots: TenantSnapshots
  readonly accountChanges: AccountChangeStore
  readonly links: CollectionLinks
  readonly tenants: TenantDirectory
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  newId(): string
  nowMs(): number
}

/**
 * Enqueues an evaluation of the tenant's collections. Call it after the change is written. A failure to enqueue is
 * logged and does not fail the change: the hourly sweep enqueues every tenant.
 */
export async function notifyEvaluation(
  tenantId: string,
  { messageQueue, log, newId }: Pick<CollectionDependencies, 'messageQueue' | 'log' | 'newId'>,
): Promise<void> {
  try {
    await enqueueEvaluation(tenantId, { messageQueue, newId })
  } catch (error) {
    log.error('collections.enqueue-failed', error, { tenantId })
  }
}

/** The same for callers that can fail. */
export async function enqueueEvaluation(
  tenantId: string,
  { messageQueue, newId }: Pick<CollectionDependencies, 'messageQueue' | 'newId'>,
  delayMs?: number,
): Promise<void> {
  const options = { id: `evaluate:${tenantId}:${newId()}`, ...(delayMs === undefined ? {} : { delayMs }) }
  await messageQueue.enqueue({ queue: 'evaluations', message: { tenantId } }, options)
}
