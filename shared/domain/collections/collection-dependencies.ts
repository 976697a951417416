import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { AccountChangeStore } from '../core/core-object-store.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { CollectionStore } from './collection-store.ts'
import type { EvaluationLogStore } from './evaluation-log-store.ts'
import type { JoinedMembers } from './joined-members.ts'
import type { MembershipStore } from './membership-store.ts'

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
  readonly evaluationLog: EvaluationLogStore
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
 * Asks for the tenant's collections to be looked at again. Called after whatever made it due is written, which a ring
 * that fails must not turn into a failure: the sweep rings for what was missed.
 */
export async function notifyEvaluation(
  tenantId: string,
  { messageQueue, log, newId }: Pick<CollectionDependencies, 'messageQueue' | 'log' | 'newId'>,
): Promise<void> {
  try {
    await messageQueue.enqueue(
      { queue: 'evaluations', message: { tenantId } },
      { id: `evaluate:${tenantId}:${newId()}` },
    )
  } catch (error) {
    log.error('collections.ring-failed', error, { tenantId })
  }
}
