import type { Measures } from '../measures.ts'
import type { JobRecord } from './sync-job.ts'

/** Tells of a job once it has ended. What it has written over all its runs counts then. */
export function measureEndedJob(job: JobRecord, measures: Measures): void {
  const { type, status: outcome, createdAt, completedAt } = job
  measures.record('sync.jobs', 1, { type, outcome })
  if (completedAt !== null) {
    measures.record('sync.job.duration', Date.parse(completedAt) - Date.parse(createdAt), { type, outcome })
  }
  measureMembers(job, 'job', measures)
  if (job.skipped > 0) measures.record('members.skipped', job.skipped, {})
}

/** Tells of accounts that the directory has taken into a group, or out of it. */
export function measureMembers(
  { added, removed }: { readonly added: number; readonly removed: number },
  cause: 'job' | 'change',
  measures: Measures,
): void {
  if (added > 0) measures.record('members.added', added, { cause })
  if (removed > 0) measures.record('members.removed', removed, { cause })
}
