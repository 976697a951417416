import type { Versioned } from '../../kernel/versioned.ts'
import type { JobRecord } from './sync-job.ts'

/** Where sync jobs are kept, each for as long as its type has it. */
export interface JobStore {
  find(tenantId: string, jobId: string): Promise<Versioned<JobRecord> | undefined>
  /** A job of this id that is there already is left as it is. */
  add(job: JobRecord): Promise<void>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `SyncJobNotFound` when it has expired. */
  replace(job: JobRecord, version: string): Promise<Versioned<JobRecord>>
  /** Newest first. */
  latestOf(tenantId: string, collectionId: string, limit: number): Promise<JobRecord[]>
  /** Queued and running ones of a link, oldest first. */
  unfinishedOf(tenantId: string, linkId: string): Promise<Versioned<JobRecord>[]>
  /** Queued and running ones of all links, oldest first. */
  unfinished(tenantId: string): Promise<Versioned<JobRecord>[]>
}
