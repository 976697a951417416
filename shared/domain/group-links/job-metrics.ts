import type { Metrics } from '../../kernel/metrics.ts'
import type { JobRecord } from './sync-job.ts'

/** Tells of a job once it has ended. What it has written over all its runs counts then. */
export function recordEndedJob(job: JobRecord, metrics: Metrics): void {
  const { type, status: outcome, createdAt, completedAt } = job
  metrics.record('sync.jobs', 1, { type, outcome })
  if (completedAt !== null) {
    metrics.record('sync.job.duration', Date.parse(completedAt) - Date.parse(createdAt), { type, outcome })
  }
  recordMemberWrites(job, 'job', metrics)
  if (job.skipped > 0) metrics.record('members.skipped', job.skipped, {})
}

/** Tells of accounts that the directory has taken into a group, or out of it. */
export function recordMemberWrites(
  { added, removed }: { readonly added: number; readonly removed: number },
  cause: 'job' | 'change',
  metrics: Metrics,
): void {
  if (added > 0) metrics.record('members.added', added, { cause })
  if (removed > 0) metrics.record('members.removed', removed, { cause })
}
