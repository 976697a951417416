import { toTimestamp } from '../../kernel/timestamp.ts'
import { EMPTY_JOURNAL } from '../sync/write-journal.ts'
import type { JobRecord } from './sync-job.ts'

/** A failed job is run again this often before it stays failed: statement, "Limits". */
const RETRIES_AT_MOST = 3

/** Delays before retries vary by this share, so that jobs that failed together do not come back together. */
const JITTER_SHARE = 0.2

/** Whatever the directory asks for: the next sweep would ask it as soon, and a job that waits keeps that from queueing one. */
const RETRY_AFTER_AT_MOST_MS = 60 * 60 * 1000

/** Longer reasons help nobody, and may carry whole answers of the directory. */
const ERROR_LENGTH = 500

/** Why a run failed, and whether another could do better. */
export type RunFailure = {
  readonly reason: string
  readonly isPermanent: boolean
  /** Milliseconds that the directory wants to be left alone. */
  readonly retryAfterMs?: number | undefined
}

/** Whether nothing more becomes of the job. */
export function isEnded(job: JobRecord): boolean {
  return job.status === 'Succeeded' || job.status === 'Failed'
}

/** The job as its worker takes it up: for the next slice of a run, or for a new run. */
export function started(job: JobRecord, nowMs: number): JobRecord {
  if (job.paused) return { ...job, paused: false }
  return {
    ...job,
    status: 'Running',
    attempts: job.attempts + 1,
    startedAt: job.startedAt ?? toTimestamp(nowMs),
    sliceCount: 0,
    unresolved: [],
  }
}

/** The job between two slices of a run. */
export function yielded(job: JobRecord, dueAtMs: number): JobRecord {
  return { ...job, paused: true, sliceCount: job.sliceCount + 1, dueAtMs }
}

/** The job after a run that left nothing to do. */
export function completed(job: JobRecord, nowMs: number): JobRecord {
  return { ...ended(job, nowMs), status: 'Succeeded', error: null }
}

/** The job after what no retry can mend, or after its last one. */
export function failed(job: JobRecord, reason: string, nowMs: number): JobRecord {
  return { ...ended(job, nowMs), status: 'Failed', error: shortened(reason) }
}

function ended(job: JobRecord, nowMs: number): JobRecord {
  const completedAt = toTimestamp(nowMs)
  return { ...job, completedAt, paused: false, unresolved: [], journal: EMPTY_JOURNAL }
}

/** Whether the runs that a job may have are used up. */
export function hasNoAttemptLeft(job: JobRecord): boolean {
  return job.attempts > RETRIES_AT_MOST
}

export type RetryOptions = {
  /** Seconds before each retry; the last one serves for all further ones. */
  readonly delaysS: readonly number[]
  /** 0 to 1, evenly spread. */
  readonly jitter: number
  readonly nowMs: number
}

/** Queued again after a growing delay, or failed for good: what no retry can mend, and the fourth failed run. */
export function afterFailedRun(job: JobRecord, failure: RunFailure, options: RetryOptions): JobRecord {
  if (failure.isPermanent || hasNoAttemptLeft(job)) return failed(job, failure.reason, options.nowMs)
  const delayS = options.delaysS[job.attempts - 1] ?? options.delaysS.at(-1) ?? 0
  const jitteredMs = delayS * 1000 * (1 - JITTER_SHARE + 2 * JITTER_SHARE * options.jitter)
  const askedMs = Math.min(failure.retryAfterMs ?? 0, RETRY_AFTER_AT_MOST_MS)
  const delayMs = Math.round(Math.max(jitteredMs, askedMs))
  return {
    ...job,
    status: 'Queued',
    error: shortened(failure.reason),
    dueAtMs: options.nowMs + delayMs,
    paused: false,
    unresolved: [],
  }
}

function shortened(reason: string): string {
  return reason.length <= ERROR_LENGTH ? reason : `${reason.slice(0, ERROR_LENGTH - 1)}…`
}
