import { Refusal, type RefusalCode } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { LinkRecord } from './group-link.ts'
import { recordEndedJob } from './job-metrics.ts'
import { failed } from './job-transitions.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { type JobRecord, newJob, type SyncJobType } from './sync-job.ts'

/** Writes a job down and rings for it. Queued it is once it is written: a ring that fails is the sweep's to repeat. */
export async function queueJob(
  link: LinkRecord,
  type: SyncJobType,
  deps: LinkDependencies,
  id: string = deps.newId(),
): Promise<JobRecord> {
  const job = newJob({ id, type }, link, deps.nowMs())
  await deps.jobs.add(job)
  deps.log.info('sync-job.queued', { tenantId: job.tenantId, jobId: id, linkId: link.id, type })
  try {
    await notifyWorker(job, 'queued', deps)
  } catch (error) {
    deps.log.error('sync-job.ring-failed', error, { tenantId: job.tenantId, jobId: id })
  }
  return job
}

/** Rings for a job. `occasion` sets this ring apart from the job's others. */
export async function notifyWorker(
  job: { tenantId: string; id: string },
  occasion: string,
  { messageQueue }: Pick<LinkDependencies, 'messageQueue'>,
  delayMs = 0,
): Promise<void> {
  const { tenantId, id } = job
  await messageQueue.enqueue(
    { queue: 'sync-jobs', message: { tenantId, jobId: id } },
    { id: `${id}:${occasion}`, ...(delayMs > 0 ? { delayMs } : {}) },
  )
}

/** Ends a link's queued jobs; those that run find out at their next step. @returns How many were ended. */
export async function endQueuedJobs(link: LinkRecord, reason: string, deps: LinkDependencies): Promise<number> {
  const unfinished = await deps.jobs.unfinishedOf(link.tenantId, link.id)
  let endedCount = 0
  for (const { value, version } of unfinished) {
    if (value.status !== 'Queued') continue
    const ended = await deps.jobs.replace(failed(value, reason, deps.nowMs()), version).catch(unlessOvertaken)
    if (ended === undefined) continue
    recordEndedJob(ended.value, deps.metrics)
    endedCount += 1
  }
  if (endedCount > 0) await recordFailure(link, deps)
  return endedCount
}

const OVERTAKEN: readonly RefusalCode[] = ['StaleVersion', 'SyncJobNotFound', 'LinkNotFound']

/** A worker was faster: it reads the link before it does anything. */
function unlessOvertaken(error: unknown): undefined {
  if (error instanceof Refusal && OVERTAKEN.includes(error.code)) return undefined
  throw error
}

/** Marks on a link that a job of it ended badly without a run. Its deletion or another job's end makes this pointless. */
export async function recordFailure(link: LinkRecord, deps: LinkDependencies, jobId?: string): Promise<void> {
  const found = await deps.links.find(link.tenantId, link.id)
  if (found === undefined) return
  const { value, version } = found
  const lease = value.lease?.owner === jobId ? null : value.lease
  const failed: LinkRecord = { ...value, lease, lastSyncedAt: toTimestamp(deps.nowMs()), lastSyncOutcome: 'Failed' }
  await deps.links.replace(failed, version).catch(unlessOvertaken)
}
