import { enqueueMembersChanged } from '../../kernel/enqueue-messages.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { afterFailedRun, completed } from '../group-links/job-transitions.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { recordedFailure } from '../group-links/sync-state.ts'
import { changesByRun } from './completed-run.ts'
import { reportHeldRemovals, saveHeldRemovals } from './held-removals.ts'
import type { BatchPlan } from './plan-sync.ts'
import { failureOf, finalCounts } from './run-failure.ts'
import type { SessionGroup } from './session-group.ts'
import type { SessionJob } from './session-job.ts'
import type { SessionLink } from './session-link.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

/** What the end of a run changes. */
type SessionParts = { readonly link: SessionLink; readonly job: SessionJob; readonly group: SessionGroup }

/** What was known of the link when its group was compared. */
type ComparedLink = {
  readonly startMs: number
  readonly accountsChangedAtMs: number | null
  /** When the held removals had been rejected. */
  readonly rejectedAt: string | undefined
}

/**
 * Ends a run whose plan is done.
 * @returns The saved job.
 * @throws LeaseLost.
 */
export async function completeRun(
  plan: BatchPlan,
  { startMs, accountsChangedAtMs, rejectedAt }: ComparedLink,
  parts: SessionParts,
  deps: SyncDependencies,
): Promise<SyncJob> {
  const { tenantId, collectionId, appliedMembershipVersion } = parts.link.value
  const heldRemovals = await saveHeldRemovals(parts.link.value, plan.hold, deps)
  const endMs = deps.nowMs()
  const ended = completed({ ...parts.job.value, held: plan.hold?.accounts.length ?? 0 }, endMs)
  const times = { startMs, endMs, accountsChangedAtMs }
  const job = await endRun(
    ended,
    (link) => changesByRun(link, ended, plan, { ...times, heldRemovals, rejectedAt }),
    parts,
  )
  if (heldRemovals !== null) reportHeldRemovals(job, heldRemovals, deps)
  if (appliedMembershipVersion !== null) return job
  // Incremental syncs skip a link that was never synced. Changes made during its first sync are written now.
  await enqueueMembersChanged({ tenantId, collectionId }, `first:${job.id}`, deps)
  return job
}

/**
 * Ends a run with a failure: the job is queued for a retry, or fails.
 * @returns The saved job.
 * @throws LeaseLost.
 */
export async function failRun(error: unknown, parts: SessionParts, deps: SyncDependencies): Promise<SyncJob> {
  const { directory, retryDelaysS, random, nowMs } = deps
  const job = parts.job.value
  const failure = await failureOf(error, job, () => parts.group.verify(), deps)
  const endMs = nowMs()
  const next = afterFailedRun(job, failure, { delaysS: retryDelaysS, jitter: random(), nowMs: endMs })
  if (next.completedAt === null) return endRun(next, () => ({ isBehind: true }), parts)
  const { changes, ...counts } = await finalCounts(job, directory)
  parts.job.wrote(changes)
  return endRun({ ...next, ...counts }, (link) => recordedFailure(link, next.error, endMs), parts)
}

/**
 * The lease is released before the job is saved, so that a caller that sees the job's end also sees its outcome on the
 * link. A worker that crashes in between leaves a job that runs once more and finds nothing to do.
 */
async function endRun(
  ended: SyncJob,
  change: (link: GroupLink) => Partial<GroupLink>,
  { job, group }: SessionParts,
): Promise<SyncJob> {
  group.record.end()
  await group
    .changeLink((link) => ({ ...change(link), lease: null }))
    .catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'LinkNotFound') throw error
    })
  await job.save(ended)
  return job.value
}
