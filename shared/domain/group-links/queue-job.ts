import { enqueueSyncJob } from '../../kernel/enqueue-messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { GroupLink } from './group-link.ts'
import { failed } from './job-transitions.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { type JobOrigin, newJob, SERVICE_ORIGIN, type SyncJob, type SyncJobType } from './sync-job.ts'
import { recordedFailure } from './sync-state.ts'

/** What a new job has beside its link and type. `audit` is written in the transaction of the job. */
type JobCreation = { readonly id?: string; readonly origin?: JobOrigin; readonly audit?: AuditRecord }

/** Stores a job and enqueues it. The stored job counts as queued: the sweep repeats a notification that was lost. */
export async function queueJob(
  link: GroupLink,
  type: SyncJobType,
  deps: LinkDependencies,
  { id = deps.newId(), origin = SERVICE_ORIGIN, audit }: JobCreation = {},
): Promise<SyncJob> {
  const job = newJob({ id, type, origin }, link, deps.nowMs())
  await deps.jobs.add(job, audit)
  deps.log.info('sync-job.queued', { tenantId: job.tenantId, jobId: id, linkId: link.id, type })
  try {
    await enqueueSyncJob(job, 'queued', deps)
  } catch (error) {
    deps.log.error('sync-job.enqueue-failed', error, { tenantId: job.tenantId, jobId: id })
  }
  return job
}

/**
 * Follows up on a job that its worker has saved: enqueues the next batch or the retry, or records the metrics of an
 * ended job. When the run is over, it also enqueues the link's next waiting job.
 */
export async function followUp(job: SyncJob, deps: LinkDependencies): Promise<void> {
  const { tenantId, id: jobId, linkId, attempts, batchCount } = job
  const delayMs = job.dueAtMs - deps.nowMs()
  if (job.isYielded) return enqueueSyncJob(job, `batch:${attempts}:${batchCount}`, deps, delayMs)
  const { status, type, added, removed, skipped, held } = job
  deps.log.info('sync-job.run-ended', { tenantId, jobId, status, type, attempts, added, removed, skipped, held })
  if (status === 'Queued') await enqueueSyncJob(job, `run:${attempts + 1}`, deps, delayMs)
  else recordEndedJob(job, deps.metrics)
  const waiting = await deps.jobs.unfinishedOf(tenantId, linkId)
  const next = waiting.find(({ value }) => value.id !== jobId && value.dueAtMs <= deps.nowMs())
  if (next !== undefined) await enqueueSyncJob(next.value, `after:${jobId}:${attempts}`, deps)
}

/** Ends a link's queued jobs. Running jobs stop at their next step. @returns How many jobs were ended. */
export async function endQueuedJobs(link: GroupLink, reason: string, deps: LinkDependencies): Promise<number> {
  const unfinished = await deps.jobs.unfinishedOf(link.tenantId, link.id)
  let endedCount = 0
  for (const { value, version } of unfinished) {
    if (value.status !== 'Queued') continue
    const ended = await deps.jobs.replace(failed(value, reason, deps.nowMs()), version).catch(ignoreConflict)
    if (ended === undefined) continue
    recordEndedJob(ended.value, deps.metrics, 'Ended')
    endedCount += 1
  }
  if (endedCount > 0) await recordFailure(link, reason, deps)
  return endedCount
}

const CONFLICTS: readonly RefusalCode[] = ['StaleVersion', 'SyncJobNotFound', 'LinkNotFound']

/** A worker has changed the record in between. It reads the link before its next step. */
function ignoreConflict(error: unknown): undefined {
  if (error instanceof Refusal && CONFLICTS.includes(error.code)) return undefined
  throw error
}

/**
 * Records on the link that a job failed without a run, and releases the lease if that job owned it. A conflict is
 * ignored: the link was deleted, or another job has ended.
 */
export async function recordFailure(
  link: GroupLink,
  reason: string,
  deps: Pick<LinkDependencies, 'links' | 'nowMs'>,
  jobId?: string,
): Promise<void> {
  const found = await deps.links.find(link.tenantId, link.id)
  if (found === undefined) return
  const { value, version } = found
  const lease = value.lease?.owner === jobId ? null : value.lease
  const failure = recordedFailure(value, reason, deps.nowMs())
  await deps.links.replace({ ...value, lease, ...failure }, version, undefined, value).catch(ignoreConflict)
}

/**
 * Records the metrics of a job that has ended, with what all its runs have written.
 * @param outcome `Ended` for a job whose link was disabled or deleted: that is no failure.
 */
export function recordEndedJob(
  job: SyncJob,
  metrics: Metrics,
  outcome: SyncJob['status'] | 'Ended' = job.status,
): void {
  const { type, createdAt, completedAt } = job
  metrics.record('sync.jobs', 1, { type, outcome })
  if (completedAt !== null) {
    metrics.record('sync.job.duration', Date.parse(completedAt) - Date.parse(createdAt), { type, outcome })
  }
  recordMemberWrites(job, 'job', metrics)
  if (job.skipped > 0) metrics.record('members.skipped', job.skipped, {})
}

/** Records how many members were added to groups and removed from them. */
export function recordMemberWrites(
  { added, removed }: { readonly added: number; readonly removed: number },
  cause: 'job' | 'change',
  metrics: Metrics,
): void {
  if (added > 0) metrics.record('members.added', added, { cause })
  if (removed > 0) metrics.record('members.removed', removed, { cause })
}
