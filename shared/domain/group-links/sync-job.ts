import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { EMPTY_JOURNAL, type WriteJournal } from '../sync/write-journal.ts'

export const SyncJobType = OneOf(['ManualSync', 'LinkCreated', 'ScheduledSweep'])
export type SyncJobType = Static<typeof SyncJobType>
const SyncJobStatus = OneOf(['Queued', 'Running', 'Succeeded', 'Failed'])

const Count = Type.Integer({ minimum: 0 })

/** A sync job as clients see it: statement, "Sync job". */
export const SyncJob = Closed({
  id: Guid,
  collectionId: Guid,
  directoryGroupId: Guid,
  type: SyncJobType,
  status: Described(
    SyncJobStatus,
    'A failed run with retries left is `Queued` again; after the fourth it stays `Failed`.',
  ),
  attempts: Described(Count, 'Runs so far.'),
  added: Described(Count, 'Members really written to the group, over all runs.'),
  removed: Described(Count, 'Members really removed from the group, over all runs.'),
  skipped: Described(
    Count,
    'Members of the collection without a directory account, as of the last run; while above zero, nothing is removed.',
  ),
  createdAt: Timestamp,
  startedAt: Described(Nullable(Timestamp), 'When the first run began.'),
  completedAt: Described(Nullable(Timestamp), 'When the last run ended; null until then.'),
  error: Described(Nullable(Type.String()), 'Why the last run failed; null after success.'),
})
export type SyncJob = Static<typeof SyncJob>

/** A job with what only the service needs to know of it. */
export type JobRecord = SyncJob & {
  readonly tenantId: string
  readonly linkId: string
  /** Not to be run before. */
  readonly dueAtMs: number
  /** Its worker has put it down between two slices, and keeps the lease for the next one. */
  readonly paused: boolean
  /** Slices of the present run that have ended. */
  readonly sliceCount: number
  /** Accounts that the directory did not know in the present run. */
  readonly unresolved: readonly string[]
  /** Begun by a worker of this job, and neither counted nor known to have failed. */
  readonly journal: WriteJournal
}

const DAY_S = 24 * 60 * 60

/** Seconds for which a job is kept: statement, "Limits". */
export function retentionS(type: SyncJobType): number {
  return (type === 'ScheduledSweep' ? 2 : 30) * DAY_S
}

/** A job as it is queued: due at once. */
export function newJob(
  input: { id: string; type: SyncJobType },
  link: { id: string; tenantId: string; collectionId: string; directoryGroupId: string },
  nowMs: number,
): JobRecord {
  return {
    id: input.id,
    tenantId: link.tenantId,
    linkId: link.id,
    collectionId: link.collectionId,
    directoryGroupId: link.directoryGroupId,
    type: input.type,
    status: 'Queued',
    attempts: 0,
    added: 0,
    removed: 0,
    skipped: 0,
    createdAt: toTimestamp(nowMs),
    startedAt: null,
    completedAt: null,
    error: null,
    dueAtMs: nowMs,
    paused: false,
    sliceCount: 0,
    unresolved: [],
    journal: EMPTY_JOURNAL,
  }
}

/** The part of a job that clients see. */
export function toSyncJob(job: JobRecord): SyncJob {
  return {
    id: job.id,
    collectionId: job.collectionId,
    directoryGroupId: job.directoryGroupId,
    type: job.type,
    status: job.status,
    attempts: job.attempts,
    added: job.added,
    removed: job.removed,
    skipped: job.skipped,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    completedAt: job.completedAt,
    error: job.error,
  }
}
