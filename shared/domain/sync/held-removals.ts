import { toTimestamp } from '../../kernel/timestamp.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import { type HeldRemovals, PLAN_STORED_AGAIN_AFTER_MS } from '../group-links/removal-plan.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import type { RemovalHold } from './removal-guard.ts'

/**
 * Stores the accounts of a new plan before the link refers to it.
 * @returns What the link records about the held removals; null without any.
 */
export async function saveHeldRemovals(
  { id, tenantId, heldRemovals }: GroupLink,
  hold: RemovalHold | null,
  { deriveId, nowMs, removalPlans }: LinkDependencies,
): Promise<HeldRemovals | null> {
  if (hold === null) return null
  const { accounts, ...decision } = hold
  const planId = deriveId(id, accounts.join())
  const earlier = heldRemovals?.planId === planId ? heldRemovals : undefined
  const figures = { ...decision, planId, count: accounts.length }
  const startMs = nowMs()
  if (earlier !== undefined && startMs - earlier.storedAtMs < PLAN_STORED_AGAIN_AFTER_MS) {
    return { ...figures, createdAt: earlier.createdAt, storedAtMs: earlier.storedAtMs }
  }
  await removalPlans.save({ tenantId, planId }, accounts)
  return { ...figures, createdAt: earlier?.createdAt ?? toTimestamp(startMs), storedAtMs: startMs }
}

export function reportHeldRemovals(
  { id: jobId, tenantId, linkId }: SyncJob,
  { planId, reason, count, limit, removedInWindow, groupSize }: HeldRemovals,
  { log, metrics }: LinkDependencies,
): void {
  const figures = { planId, reason, count, limit, removedInWindow, groupSize }
  log.warn('removals.held', { tenantId, linkId, jobId, ...figures })
  metrics.record('removals.held', count, { reason })
}
