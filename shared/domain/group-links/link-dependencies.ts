import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { WriteBudget } from '../sync/write-budget.ts'
import type { Directory } from './directory.ts'
import type { JobStore } from './job-store.ts'
import type { LinkStore } from './link-store.ts'
import type { LinkedCollections } from './linked-collections.ts'
import type { TenantStore } from './tenant-store.ts'

/** What the use cases of group links stand on. */
export type LinkDependencies = {
  readonly links: LinkStore
  readonly jobs: JobStore
  readonly tenants: TenantStore
  readonly collections: LinkedCollections
  readonly directory: Directory
  readonly budget: WriteBudget
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds for which a worker that died holds up its link at most. */
  readonly leaseMs: number
  nowMs(): number
  newId(): string
}

/** What running jobs needs beyond that. */
export type SyncDependencies = LinkDependencies & {
  /** 0 to 1, evenly spread. */
  random(): number
  sleep(delayMs: number): Promise<void>
  readonly retryDelaysS: readonly number[]
  /** Milliseconds of work after which a job goes on in a new message. */
  readonly sliceMs: number
}
