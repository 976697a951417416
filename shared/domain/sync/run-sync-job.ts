import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { DirectoryFault } from '../group-links/directory.ts'
import type { LinkRecord } from '../group-links/group-link.ts'
import { recordEndedJob } from '../group-links/job-metrics.ts'
import { afterFailedRun, completed, isEnded, type RunFailure, yielded } from '../group-links/job-transitions.ts'
import type { SyncDependencies } from '../group-links/link-dependencies.ts'
import { notifyWorker } from '../group-links/queue-job.ts'
import type { JobRecord } from '../group-links/sync-job.ts'
import { changeLeasedLink, LeaseLost } from '../group-links/write-link.ts'
import { claimJob } from './claim-job.ts'
import { finalCounts } from './final-counts.ts'
import { readWithRetry } from './read-with-retry.ts'
import { type BatchResult, requireLinkable, syncBatch } from './sync-batch.ts'
import { RunFault, type SyncRun, saveJob, withRunsTraces } from './sync-run.ts'

/**
 * Does what a job still needs: takes the link's lease, works for a slice, puts the job down, ends it or queues it for
 * a retry. Called any number of times for one job, at any time, by any number of workers, it does the work once.
 */
export async function runSyncJob(
  { tenantId, jobId }: { tenantId: string; jobId: string },
  deps: SyncDependencies,
): Promise<void> {
  const found = await readWithRetry(() => deps.jobs.find(tenantId, jobId), deps)
  if (found === undefined || isEnded(found.value)) return
  const run = await claimJob(found, deps)
  if (run === undefined) return
  try {
    const result = await syncBatch(run, deps)
    if (result.outcome === 'more') await pause(run, result, deps)
    else await endWell(run, result, deps)
  } catch (error) {
    if (error instanceof LeaseLost) return deps.log.warn('sync-job.lease-lost', { tenantId, jobId })
    await endBadly(run, await failureOf(error, run, deps), deps)
  }
}

async function pause(
  run: SyncRun,
  { delayMs, letsOthers }: Extract<BatchResult, { outcome: 'more' }>,
  deps: SyncDependencies,
): Promise<void> {
  const nowMs = deps.nowMs()
  const lease = letsOthers ? null : { ...run.lease, untilMs: nowMs + deps.leaseMs }
  await saveJob(run, yielded(run.job.value, nowMs + delayMs), deps)
  await changeLeasedLink(run, (link) => ({ ...withRunsTraces(link, run, nowMs), lease, changesWait: false }), deps)
  const { attempts, sliceCount } = run.job.value
  await notifyWorker(run.job.value, `slice:${attempts}:${sliceCount}`, deps, delayMs)
}

async function endWell(
  run: SyncRun,
  result: Extract<BatchResult, { outcome: 'done' }>,
  deps: SyncDependencies,
): Promise<void> {
  const nowMs = deps.nowMs()
  const isFirst = run.link.appliedMembershipVersion === null
  await release(run, deps, (link) => ({
    ...link,
    lastSyncedAt: toTimestamp(nowMs),
    lastSyncOutcome: 'Succeeded',
    appliedMembershipVersion: result.membershipVersion,
    removalsDeferred: result.heldBackCount > 0,
    accountsChangedAtMs: link.accountsChangedAtMs === run.accountsChangedAtMs ? null : link.accountsChangedAtMs,
    comparedAtMs: run.startedAtMs,
  }))
  await settle(run, completed(run.job.value, nowMs), deps)
  if (isFirst) await ringForChanges(run, deps)
}

/** Changes during a link's first sync have found nothing to build on, and were left to it. */
async function ringForChanges(
  { tenantId, collectionId, job }: SyncRun,
  { messageQueue }: SyncDependencies,
): Promise<void> {
  const message = { tenantId, collectionId }
  await messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `${collectionId}:first:${job.value.id}` })
}

async function endBadly(run: SyncRun, failure: RunFailure, deps: SyncDependencies): Promise<void> {
  const nowMs = deps.nowMs()
  const failed = afterFailedRun(run.job.value, failure, { delaysS: deps.retryDelaysS, jitter: deps.random(), nowMs })
  const job = isEnded(failed) ? { ...failed, ...(await finalCounts(run.job.value, deps.directory)) } : failed
  const outcome: Partial<LinkRecord> = isEnded(job)
    ? { lastSyncedAt: toTimestamp(nowMs), lastSyncOutcome: 'Failed' }
    : {}
  await release(run, deps, (link) => ({ ...link, ...outcome }))
  await settle(run, job, deps)
}

/**
 * Gives the link back. It comes before the job's end, so that whoever sees the job ended sees its outcome on the link;
 * a worker that dies between the two leaves a job that is run once more and finds nothing to do.
 */
async function release(run: SyncRun, deps: SyncDependencies, change: (link: LinkRecord) => LinkRecord): Promise<void> {
  try {
    const nowMs = deps.nowMs()
    await changeLeasedLink(run, (link) => ({ ...change(withRunsTraces(link, run, nowMs)), lease: null }), deps)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
  }
}

async function settle(run: SyncRun, job: JobRecord, deps: SyncDependencies): Promise<void> {
  await saveJob(run, job, deps)
  const { tenantId, id: jobId, status, type, attempts, added, removed, skipped } = job
  deps.log.info('sync-job.run-ended', { tenantId, jobId, status, type, attempts, added, removed, skipped })
  if (isEnded(job)) recordEndedJob(job, deps.metrics)
  else await notifyWorker(job, `run:${attempts + 1}`, deps, job.dueAtMs - deps.nowMs())
  const waiting = await deps.jobs.unfinishedOf(tenantId, run.linkId)
  const next = waiting.find(({ value }: Versioned<JobRecord>) => value.id !== jobId && value.dueAtMs <= deps.nowMs())
  if (next !== undefined) await notifyWorker(next.value, `after:${jobId}:${attempts}`, deps)
}

async function failureOf(error: unknown, run: SyncRun, deps: SyncDependencies): Promise<RunFailure> {
  const { tenantId } = run
  const jobId = run.job.value.id
  if (error instanceof RunFault) return { reason: error.message, isPermanent: error.isPermanent }
  if (error instanceof Refusal && error.code === 'LinkNotFound') {
    return { reason: 'The group link was deleted', isPermanent: true }
  }
  if (error instanceof DirectoryFault) {
    deps.log.warn('sync-job.directory-fault', { tenantId, jobId, kind: error.kind, reason: error.message })
    const unlinkable = await whatBecameOfTheGroup(error, run, deps)
    return unlinkable ?? { reason: error.message, isPermanent: false, retryAfterMs: error.retryAfterMs }
  }
  deps.log.error('sync-job.fault', error, { tenantId, jobId })
  return { reason: 'The service itself failed', isPermanent: false }
}

/** The directory refuses alike what lacks a permission and what cannot be written: the group itself tells which. */
async function whatBecameOfTheGroup(
  fault: DirectoryFault,
  run: SyncRun,
  deps: SyncDependencies,
): Promise<RunFailure | undefined> {
  if (fault.kind !== 'refused' && fault.kind !== 'groupMissing') return undefined
  try {
    await requireLinkable(run, deps)
    return undefined
  } catch (error) {
    if (error instanceof RunFault) return { reason: error.message, isPermanent: error.isPermanent }
    if (error instanceof DirectoryFault) return undefined
    throw error
  }
}
