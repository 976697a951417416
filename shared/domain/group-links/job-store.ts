import type { Page, Versioned } from '../../kernel/versioned.ts'
import type { EvaluatedUntil } from '../evaluation/evaluation-lease.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { JobChange, JobChanges } from './job-changes.ts'
import type { SweepRecord } from './swept-jobs.ts'
import type { SyncJob } from './sync-job.ts'

/** What jobs must have. Undefined: any value. */
export type JobFilter = Partial<Pick<SyncJob, 'collectionId' | 'linkId' | 'status'>>

/** A sweep of a tenant that has begun. */
export type BegunSweep = {
  /** When the last sweep ended; undefined before the first. */
  readonly lastSweepMs: number | undefined
  /**
   * The last sweep has read what was written before this time of the database's clock, in seconds; undefined before the
   * first sweep.
   */
  readonly readUntilS: number | undefined
  /** What evaluations had covered by the last sweep, if it found none due. */
  readonly evaluated: EvaluatedUntil | undefined
  /** When a sweep last looked for ends of memberships; undefined before the first time. */
  readonly deadlinesReadAtMs?: number | undefined
  /**
   * Records the end of the sweep. Each of its links has a job from then on, which is found and listed like a stored
   * one. Two sweeps that begin in the same minute are one.
   */
  record(record: SweepRecord): Promise<void>
}

/** Stored sync jobs. Each expires after the time that `retentionS` defines for its type. */
export interface JobStore {
  beginSweep(tenantId: string): Promise<BegunSweep>
  find(tenantId: string, jobId: string): Promise<Versioned<SyncJob> | undefined>
  /** Leaves an existing job of this id unchanged. @param audit Written in the same transaction. */
  add(job: SyncJob, audit?: AuditRecord): Promise<void>
  /**
   * @param changes Accounts that the job has written since it was last saved. They are stored in the same transaction,
   * as record number `changeRecordCount` of the job.
   * @throws Refusal `StaleVersion` when `version` is no longer current, `SyncJobNotFound` when the job has expired.
   */
  replace(job: SyncJob, version: string, changes?: JobChanges): Promise<Versioned<SyncJob>>
  /** A page of what a job has written, in the order of the writes. Empty for a job that is not stored. */
  changes(tenantId: string, jobId: string, after: string | undefined, size: number): Promise<Page<JobChange>>
  /** A page of the jobs that match the filter, newest first. */
  page(tenantId: string, filter: JobFilter, after: string | undefined, size: number): Promise<Page<SyncJob>>
  /** Queued and running jobs of a link, oldest first. */
  unfinishedOf(tenantId: string, linkId: string): Promise<Versioned<SyncJob>[]>
  /** Queued and running jobs of a tenant, oldest first. */
  unfinished(tenantId: string): Promise<Versioned<SyncJob>[]>
}
