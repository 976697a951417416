import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, membersNamedIn, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { ChangeCause } from './removal-plan.ts'

export const SyncJobType = OneOf(['ManualSync', 'LinkCreated', 'ScheduledSweep'])
export type SyncJobType = Static<typeof SyncJobType>
export const SyncJobStatus = OneOf(['Queued', 'Running', 'Succeeded', 'Failed'])

const Count = Type.Integer({ minimum: 0 })

/** The first of a long list, in a job on the wire. Its count has all of them. */
const UNRESOLVED_SHOWN_COUNT = 20

/** What a job on the wire and a stored one have in common. */
const jobProperties = {
  id: Guid,
  collectionId: Guid,
  directoryGroupId: Guid,
  type: SyncJobType,
  status: Described(
    SyncJobStatus,
    'A failed run returns the job to `Queued` while retries are left. It is `Failed` after the fourth failed run, at once ' +
      'when a retry cannot help, and when its link is disabled or deleted (see `error`).',
  ),
  attempts: Described(Count, 'Number of runs so far.'),
  added: Described(Count, 'Number of members added to the group, over all runs.'),
  removed: Described(Count, 'Number of members removed from the group, over all runs.'),
  skipped: Described(
    Count,
    'Number of collection members without a directory account in the last run. Accounts that the directory does not ' +
      'know, or that are not users, count as well. While it is above zero, no member is removed from the group.',
  ),
  held: Described(
    Count,
    "Number of accounts that the removal guard kept from being removed. See the link's `heldRemovals`.",
  ),
  unresolved: Described(
    Type.Array(Guid, { maxItems: UNRESOLVED_SHOWN_COUNT }),
    'Directory object ids of members that the directory does not know, that are not users, or that the directory ' +
      `refuses as members of the group, at most ${UNRESOLVED_SHOWN_COUNT}.`,
  ),
  createdAt: Timestamp,
  startedAt: Described(Nullable(Timestamp), 'When the first run started; null until then.'),
  completedAt: Described(Nullable(Timestamp), 'When the last run ended; null until the job has succeeded or failed.'),
  error: Described(Nullable(Type.String()), 'Why the last run failed; null after success.'),
  requestedBy: Described(
    Nullable(Guid),
    'Object id (`oid`) of the user or application that requested the job; null for jobs of the service itself.',
  ),
  approvedPlanId: Described(Nullable(Guid), 'The removal plan whose accounts the job removes; null in other jobs.'),
  approvedBy: Described(Nullable(Guid), 'Object id (`oid`) of the approver of that plan; null in other jobs.'),
  cause: Described(
    Nullable(ChangeCause),
    'The newest change of members that a job writes because it was not written at once; null in other jobs.',
  ),
}

/** A sync job as the API returns it. */
export const SyncJobDto = Closed({
  ...jobProperties,
  requestedByName: Described(
    Nullable(Type.String()),
    'The display name of the identity whose account is `requestedBy`; null when unknown.',
  ),
})
export type SyncJobDto = Static<typeof SyncJobDto>

const Accounts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()))

/**
 * Accounts whose write was started and whose outcome is unknown: the worker crashed, or the directory's response was
 * lost. Saved before each step, so that `added` and `removed` stay exact when another worker continues the job.
 */
const WriteJournal = Type.Object({ added: Accounts, removed: Accounts })
export type WriteJournal = Readonly<Static<typeof WriteJournal>>

export const EMPTY_JOURNAL: WriteJournal = { added: [], removed: [] }

/** A sync job as stored. */
export const SyncJob = Type.Object({
  ...jobProperties,
  tenantId: Type.String(),
  linkId: Type.String(),
  /** The job is not run earlier. */
  dueAtMs: Type.Number(),
  /** Its worker has ended a batch and left the rest of the run to the next one. */
  isYielded: Type.Boolean(),
  /** Batches of the current run that have ended. */
  batchCount: Count,
  /** Accounts of the current run that the directory does not know as users, or refuses as members of the group. */
  unresolved: Accounts,
  journal: WriteJournal,
  /** Records of written changes that are stored: see `JobChanges`. */
  changeRecordCount: Count,
  /** Users in the group when the job first read it: what the job adds does not raise its limit. Null until then. */
  userCountAtStart: Nullable(Type.Integer()),
  /** When the removals had been rejected that the job removes after all, as the approver read it; null if never. */
  approvedRejectedAt: Type.Optional(Nullable(Type.String())),
})
export type SyncJob = Readonly<Static<typeof SyncJob>>

const DAY_S = 24 * 60 * 60

/** Seconds for which a job is kept: two days for the jobs of sweeps, which are many. */
export function retentionS(type: SyncJobType): number {
  return (type === 'ScheduledSweep' ? 2 : 30) * DAY_S
}

/** Who asked for a job, and what they approved with it. */
export type JobOrigin = Pick<SyncJob, 'requestedBy' | 'approvedPlanId' | 'approvedBy' | 'approvedRejectedAt' | 'cause'>

/** The origin of the service's own jobs. */
export const SERVICE_ORIGIN: JobOrigin = {
  requestedBy: null,
  approvedPlanId: null,
  approvedBy: null,
  cause: null,
}

/** A queued job that is due at once. */
export function newJob(
  input: { id: string; type: SyncJobType; origin?: JobOrigin },
  link: { id: string; tenantId: string; collectionId: string; directoryGroupId: string },
  nowMs: number,
): SyncJob {
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
    held: 0,
    createdAt: toTimestamp(nowMs),
    startedAt: null,
    completedAt: null,
    error: null,
    dueAtMs: nowMs,
    isYielded: false,
    batchCount: 0,
    unresolved: [],
    journal: EMPTY_JOURNAL,
    changeRecordCount: 0,
    userCountAtStart: null,
    ...(input.origin ?? SERVICE_ORIGIN),
  }
}

/** @param requestedByName The name of the identity with the account `requestedBy`. */
export function toSyncJobDto(job: SyncJob, requestedByName: string | null = null): SyncJobDto {
  return {
    ...membersNamedIn(SyncJobDto, job),
    unresolved: job.unresolved.slice(0, UNRESOLVED_SHOWN_COUNT),
    requestedByName,
  }
}
