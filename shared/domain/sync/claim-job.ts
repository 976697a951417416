import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { LinkRecord } from '../group-links/group-link.ts'
import { recordEndedJob } from '../group-links/job-metrics.ts'
import { failed, hasNoAttemptLeft, started } from '../group-links/job-transitions.ts'
import { type Lease, leaseDecision } from '../group-links/lease.ts'
import type { LinkDependencies, SyncDependencies } from '../group-links/link-dependencies.ts'
import { notifyWorker, recordFailure } from '../group-links/queue-job.ts'
import type { JobRecord } from '../group-links/sync-job.ts'
import { changeLeasedLink, LeaseLost } from '../group-links/write-link.ts'
import { finalCounts } from './final-counts.ts'
import { readWithRetry } from './read-with-retry.ts'
import type { SyncRun } from './sync-run.ts'

/** The clocks of queue and service differ; a job this little early is run. */
const EARLY_MS = 2_000

/** A job that waits for another one is rung for when that ends; this is only for the case that nobody does. */
const WAITING_MS = 15_000

/** Someone wrote at the same moment: what comes of it shows at once. */
const OVERTAKEN_MS = 500

export type ClaimDecision =
  | { readonly outcome: 'take'; readonly lease: Lease }
  | { readonly outcome: 'wait'; readonly delayMs: number }
  /** Ended without a run. */
  | { readonly outcome: 'end'; readonly reason: string }

/** What is to be done with a job whose bell has rung. */
export function claimDecision(
  job: JobRecord,
  link: LinkRecord | undefined,
  leaseMs: number,
  nowMs: number,
): ClaimDecision {
  if (link === undefined) return { outcome: 'end', reason: 'The group link was deleted' }
  const lease = leaseDecision(link, { owner: job.id, resumes: job.paused, leaseMs }, nowMs)
  if (lease.outcome === 'held') {
    const leftMs = lease.untilMs - nowMs + 1
    // Its own lease: the worker is at it, or has died.
    return { outcome: 'wait', delayMs: link.lease?.owner === job.id ? leftMs : Math.min(leftMs, WAITING_MS) }
  }
  if (link.state === 'Disabled') return { outcome: 'end', reason: 'The group link is disabled' }
  if (job.dueAtMs > nowMs + EARLY_MS) return { outcome: 'wait', delayMs: job.dueAtMs - nowMs }
  if (job.status === 'Running' && !job.paused && hasNoAttemptLeft(job)) {
    return { outcome: 'end', reason: 'The worker of the last run did not come to its end' }
  }
  return lease
}

/** Takes link and job for one worker. Undefined when there is nothing to do, or not now: then the bell rings again. */
export async function claimJob(
  { value: job, version }: Versioned<JobRecord>,
  deps: SyncDependencies,
): Promise<SyncRun | undefined> {
  const link = await readWithRetry(() => deps.links.find(job.tenantId, job.linkId), deps)
  const nowMs = deps.nowMs()
  const decision = claimDecision(job, link?.value, deps.leaseMs, nowMs)
  try {
    if (link !== undefined && decision.outcome === 'take') {
      return await holdOf({ value: job, version }, link, decision.lease, deps)
    }
    if (decision.outcome === 'end') {
      if (link !== undefined) await recordFailure(link.value, deps, job.id)
      const counts = await finalCounts(job, deps.directory)
      const { value: ended } = await deps.jobs.replace({ ...failed(job, decision.reason, nowMs), ...counts }, version)
      recordEndedJob(ended, deps.metrics)
      deps.log.info('sync-job.ended-unrun', { tenantId: job.tenantId, jobId: job.id, reason: decision.reason })
      return undefined
    }
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof LeaseLost)) throw error
    deps.log.info('sync-job.overtaken', { tenantId: job.tenantId, jobId: job.id })
  }
  await notifyWorker(job, `wait:${nowMs}`, deps, decision.outcome === 'wait' ? decision.delayMs : OVERTAKEN_MS)
  return undefined
}

async function holdOf(
  job: Versioned<JobRecord>,
  link: Versioned<LinkRecord>,
  lease: Lease,
  deps: LinkDependencies,
): Promise<SyncRun> {
  const leased = await deps.links.replace({ ...link.value, lease, lastToken: lease.token }, link.version)
  const { tenantId, id: linkId, directoryGroupId: groupId, collectionId } = leased.value
  const held = { tenantId, linkId, lease }
  try {
    const startedAtMs = deps.nowMs()
    const taken = await deps.jobs.replace(started(job.value, startedAtMs), job.version)
    return {
      ...held,
      groupId,
      collectionId,
      link: leased.value,
      job: taken,
      added: [],
      removed: [],
      startedAtMs,
      accountsChangedAtMs: leased.value.accountsChangedAtMs,
      earlier: taken.value.journal,
      displayName: undefined,
    }
  } catch (error) {
    await changeLeasedLink(held, (current) => ({ ...current, lease: null }), deps)
    throw error
  }
}
