import type { LeaseTimes } from '../../kernel/lease.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { GroupLink, Lease } from './group-link.ts'
import { linkLeaseDecision } from './link-lease.ts'
import { EMPTY_JOURNAL, type SyncJob } from './sync-job.ts'
import { LINK_DISABLED } from './sync-state.ts'

/** Retries of a failed job before it stays `Failed`. */
const MAX_RETRIES = 3

/** Retry delays vary by this share, so that jobs that failed together are not retried together. */
const JITTER_SHARE = 0.2

/** Upper limit for the directory's Retry-After: the hourly sweep would call the directory as soon. */
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000

/** Characters of `error`. A longer text may contain a complete response of the directory. */
const ERROR_LENGTH = 500

/** The clocks of queue and service differ. A job that is due within this time is run. */
const EARLY_MS = 2_000

/** A job is enqueued again when the job it waits for ends. This delay applies when that message is lost. */
const WAIT_FOR_OTHER_JOB_MS = 15_000

/** Why a run failed, and whether a retry can succeed. */
export type RunFailure = {
  readonly reason: string
  readonly isPermanent: boolean
  /** Milliseconds after which the directory accepts calls again, when it has said so. */
  readonly retryAfterMs?: number | undefined
}

export type ClaimDecision =
  | { readonly outcome: 'run'; readonly lease: Lease; readonly job: SyncJob }
  | { readonly outcome: 'wait'; readonly delayMs: number }
  /** The job fails without a run. */
  | { readonly outcome: 'abort'; readonly reason: string }

/** What a worker does with an unfinished job that it has received a message for. */
export function claimDecision(
  job: SyncJob,
  link: GroupLink | undefined,
  times: LeaseTimes,
  nowMs: number,
): ClaimDecision {
  if (link === undefined) return { outcome: 'abort', reason: 'The group link was deleted.' }
  const lease = linkLeaseDecision(link, { owner: job.id, resumes: job.isYielded, ...times }, nowMs)
  if (lease.outcome === 'held') {
    // Under the job's own lease, its worker is running or has crashed.
    return {
      outcome: 'wait',
      delayMs: link.lease?.owner === job.id ? lease.forMs : Math.min(lease.forMs, WAIT_FOR_OTHER_JOB_MS),
    }
  }
  if (link.state === 'Disabled') return { outcome: 'abort', reason: LINK_DISABLED }
  if (job.dueAtMs > nowMs + EARLY_MS) return { outcome: 'wait', delayMs: job.dueAtMs - nowMs }
  if (job.status === 'Running' && !job.isYielded && hasNoAttemptLeft(job)) {
    return { outcome: 'abort', reason: 'The last run was interrupted before it ended.' }
  }
  return { outcome: 'run', lease: lease.lease, job: started(job, nowMs) }
}

/** The job when a worker starts its next batch or a new run. */
export function started(job: SyncJob, nowMs: number): SyncJob {
  if (job.isYielded) return { ...job, isYielded: false }
  return {
    ...job,
    status: 'Running',
    attempts: job.attempts + 1,
    startedAt: job.startedAt ?? toTimestamp(nowMs),
    batchCount: 0,
    unresolved: [],
  }
}

/** The job between two batches of a run. */
export function yielded(job: SyncJob, dueAtMs: number): SyncJob {
  return { ...job, isYielded: true, batchCount: job.batchCount + 1, dueAtMs }
}

/** The job after a successful run. */
export function completed(job: SyncJob, nowMs: number): SyncJob {
  return { ...ended(job, nowMs), unresolved: job.unresolved, status: 'Succeeded', error: null }
}

/** The job after a permanent failure, or after the last failed run. */
export function failed(job: SyncJob, reason: string, nowMs: number): SyncJob {
  return { ...ended(job, nowMs), status: 'Failed', error: shortened(reason) }
}

function ended(job: SyncJob, nowMs: number): SyncJob {
  return { ...job, completedAt: toTimestamp(nowMs), isYielded: false, unresolved: [], journal: EMPTY_JOURNAL }
}

function hasNoAttemptLeft(job: SyncJob): boolean {
  return job.attempts > MAX_RETRIES
}

export type RetryOptions = {
  /** Seconds before each retry. The last entry applies to all further retries. */
  readonly delaysS: readonly number[]
  /** 0 to 1, evenly distributed. */
  readonly jitter: number
  readonly nowMs: number
}

/**
 * The job after a failed run: queued again after a delay, or failed for a permanent failure and after the fourth run.
 */
export function afterFailedRun(job: SyncJob, failure: RunFailure, options: RetryOptions): SyncJob {
  if (failure.isPermanent || hasNoAttemptLeft(job)) return failed(job, failure.reason, options.nowMs)
  const delayS = options.delaysS[job.attempts - 1] ?? options.delaysS.at(-1) ?? 0
  const jitteredMs = delayS * 1000 * (1 - JITTER_SHARE + 2 * JITTER_SHARE * options.jitter)
  const requiredMs = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  const delayMs = Math.round(Math.max(jitteredMs, requiredMs))
  return {
    ...job,
    status: 'Queued',
    error: shortened(failure.reason),
    dueAtMs: options.nowMs + delayMs,
    isYielded: false,
    unresolved: [],
  }
}

function shortened(reason: string): string {
  return reason.length <= ERROR_LENGTH ? reason : `${reason.slice(0, ERROR_LENGTH - 1)}…`
}
