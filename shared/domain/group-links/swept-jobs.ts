import { toTimestamp } from '../../kernel/timestamp.ts'
import type { EvaluatedUntil } from '../evaluation/evaluation-lease.ts'
import { newJob, type SyncJob } from './sync-job.ts'

/** A link that a sweep found unchanged. */
export type SweptLink = {
  readonly linkId: string
  readonly collectionId: string
  readonly directoryGroupId: string
  /** Members without an account. */
  readonly skippedCount: number
}

/**
 * The links of a tenant that a sweep found unchanged. It takes the place of a stored `ScheduledSweep` job for each of
 * them.
 */
export type SweepRecord = {
  readonly tenantId: string
  readonly startMs: number
  readonly endMs: number
  /** What evaluations have covered, when the sweep found none due. */
  readonly evaluated?: EvaluatedUntil | undefined
  /** When the sweep looked for ends of memberships; absent when it did not. */
  readonly deadlinesReadAtMs?: number
  readonly links: readonly SweptLink[]
}

/** The job of a link in a record, as it would be stored after it had found nothing to do. */
export function sweptJob(
  { tenantId, startMs, endMs }: Pick<SweepRecord, 'tenantId' | 'startMs' | 'endMs'>,
  { linkId, skippedCount, ...linked }: SweptLink,
  id: string,
): SyncJob {
  return {
    ...newJob({ id, type: 'ScheduledSweep' }, { id: linkId, tenantId, ...linked }, startMs),
    status: 'Succeeded',
    attempts: 1,
    skipped: skippedCount,
    startedAt: toTimestamp(startMs),
    completedAt: toTimestamp(endMs),
  }
}
