import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import type { EvaluationSchedule } from '../evaluation/evaluation-due.ts'
import type { LinkedCollections } from './collection-accounts.ts'
import type { DirectoryGroups, DirectoryMembers } from './directory.ts'
import type { JobStore } from './job-store.ts'
import type { LinkSettingsStore } from './link-settings.ts'
import type { LinkStore } from './link-store.ts'
import type { AccountHolders, RemovalPlanStore } from './removal-plan.ts'
import type { TenantStore } from './tenant-store.ts'

/** Ports and settings of the group link use cases. */
export type LinkDependencies = {
  readonly links: LinkStore
  readonly linkQuota: TenantQuota
  readonly jobs: JobStore
  readonly settings: LinkSettingsStore
  readonly removalPlans: RemovalPlanStore
  readonly accountHolders: AccountHolders
  readonly tenants: TenantStore
  readonly collections: LinkedCollections
  readonly evaluations: EvaluationSchedule
  readonly directory: DirectoryGroups & Pick<DirectoryMembers, 'listMembers'>
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  nowMs(): number
  newId(): string
  /** A GUID made of texts: the same for the same texts. */
  deriveId(...parts: string[]): string
}
