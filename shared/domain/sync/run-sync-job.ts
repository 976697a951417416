import { chunk } from '../../kernel/chunk.ts'
import { enqueueSyncJob } from '../../kernel/enqueue-messages.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { type ClaimDecision, claimDecision, failed } from '../group-links/job-transitions.ts'
import { LeaseLost } from '../group-links/link-lease.ts'
import { followUp, recordEndedJob, recordFailure } from '../group-links/queue-job.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import type { SyncStep } from './plan-sync.ts'
import { finalCounts } from './run-failure.ts'
import type { Yield } from './session-time.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { SyncSession } from './sync-session.ts'

/** Delay after a conflict with another worker. The next read shows what that worker has written. */
const CONFLICT_DELAY_MS = 500

/**
 * Runs one batch of a sync job: claims the job, compares collection and group, writes the difference, and then yields,
 * completes or fails. Safe to call at any time, repeatedly and by several workers at once: the work is done once.
 */
export async function runSyncJob(
  { tenantId, jobId }: { tenantId: string; jobId: string },
  deps: SyncDependencies,
): Promise<void> {
  const { jobs, log } = deps
  const found = await jobs.find(tenantId, jobId)
  if (found === undefined || found.value.completedAt !== null) return
  const session = await claim(found, deps)
  if (session === undefined) return
  let saved: SyncJob
  try {
    saved = await runBatch(session)
  } catch (error) {
    if (error instanceof LeaseLost) return log.warn('sync-job.lease-lost', { tenantId, jobId })
    saved = await session.fail(error)
  }
  await followUp(saved, deps)
}

/**
 * Writes the plan step by step until it is done or the session has to yield. The group itself is the record of
 * progress: the next batch compares again. A batch writes at least one step, or finds accounts that are not users, so
 * that a job with very short batches still ends.
 */
async function runBatch(session: SyncSession): Promise<SyncJob> {
  const plan = await session.compare()
  const { add = [], remove = [] } = Object.groupBy(plan.steps, ({ kind }) => kind)
  for (const batch of chunk(add, STEPS_VERIFIED_TOGETHER_COUNT)) {
    const verified = await session.verifyAdditions(batch)
    const pause = 'delayMs' in verified ? verified : await applySteps(session, verified)
    if (pause !== undefined) return session.yield(pause)
  }
  // Removals come last: an account that is not known to be a user defers them, as does one that could not be added.
  session.throwAccountFault()
  const pause = await applySteps(session, remove)
  return pause === undefined ? session.complete(plan) : session.yield(pause)
}

/** Their accounts are as many as one request of the directory takes. */
const STEPS_VERIFIED_TOGETHER_COUNT = 10

/** @returns Undefined when all steps are written; otherwise the session has to yield. */
async function applySteps(session: SyncSession, steps: readonly SyncStep[]): Promise<Yield | undefined> {
  for (const [index, step] of steps.entries()) {
    const pause = await session.apply(step, steps[index + 1])
    if (pause !== undefined) return pause
  }
  return undefined
}

/** Starts a session for the job. Undefined when there is nothing to do, or not yet; then the job is enqueued again. */
async function claim(job: Versioned<SyncJob>, deps: SyncDependencies): Promise<SyncSession | undefined> {
  const { tenantId, linkId, id: jobId } = job.value
  const { links } = deps
  const link = await links.find(tenantId, linkId)
  const nowMs = deps.nowMs()
  const decision = claimDecision(job.value, link?.value, deps, nowMs)
  let delayMs = CONFLICT_DELAY_MS
  try {
    if (decision.outcome === 'abort') return await abort(job, link?.value, decision, deps)
    if (decision.outcome === 'wait') delayMs = decision.delayMs
    else if (link !== undefined) return await SyncSession.start(decision, job.version, link, deps)
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof LeaseLost)) throw error
    deps.log.info('sync-job.conflict', { tenantId, jobId })
  }
  await enqueueSyncJob(job.value, `wait:${nowMs}`, deps, delayMs)
  return undefined
}

/** Fails a job without a run. @throws Refusal after a conflict. */
async function abort(
  { value: job, version }: Versioned<SyncJob>,
  link: GroupLink | undefined,
  { reason }: Extract<ClaimDecision, { outcome: 'abort' }>,
  deps: SyncDependencies,
): Promise<undefined> {
  const { tenantId, id: jobId } = job
  if (link !== undefined) await recordFailure(link, reason, deps, jobId)
  const { changes, ...counts } = await finalCounts(job, deps.directory)
  const ended = { ...failed(job, reason, deps.nowMs()), ...counts }
  const hasChanges = changes.added.length + changes.removed.length > 0
  const aborted = hasChanges
    ? await deps.jobs.replace({ ...ended, changeRecordCount: ended.changeRecordCount + 1 }, version, {
        ...changes,
        atMs: deps.nowMs(),
      })
    : await deps.jobs.replace(ended, version)
  recordEndedJob(aborted.value, deps.metrics, link?.state === 'Enabled' ? 'Failed' : 'Ended')
  deps.log.info('sync-job.aborted', { tenantId, jobId, reason })
}
