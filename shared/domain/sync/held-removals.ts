import { toTimestamp } from '../../kernel/timestamp.ts'
import type { RemovalCauses } from '../group-links/collection-accounts.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import {
  type HeldRemovals,
  heldSinceMs,
  PLAN_STORED_AGAIN_AFTER_MS,
  toChangeCause,
} from '../group-links/removal-plan.ts'
import { rejectionOf, underRejection } from '../group-links/removal-rejection.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import type { RemovalHold } from './removal-guard.ts'

/**
 * Stores the accounts of a new plan before the link refers to it.
 * @returns What the link records about the held removals; null without any.
 */
export async function saveHeldRemovals(
  link: GroupLink,
  hold: RemovalHold | null,
  { collections, deriveId, nowMs, removalPlans }: LinkDependencies,
): Promise<HeldRemovals | null> {
  if (hold === null) return null
  const { id, tenantId, collectionId, heldRemovals } = link
  const { accounts, includesRejected, ...decision } = hold
  const planId = deriveId(id, accounts.join())
  const earlier = heldRemovals?.planId === planId ? heldRemovals : undefined
  const figures = { ...decision, planId, count: accounts.length }
  const rejection = includesRejected ? rejectionOf(heldRemovals) : undefined
  const startMs = nowMs()
  if (earlier !== undefined && startMs - earlier.storedAtMs < PLAN_STORED_AGAIN_AFTER_MS) {
    return underRejection({ ...earlier, ...figures, ...(earlier.cause === undefined ? await causes() : {}) }, rejection)
  }
  await removalPlans.save({ tenantId, planId }, accounts)
  if (rejection !== undefined && rejection.planId !== planId) {
    const plan = { tenantId, planId: rejection.planId }
    const others = await removalPlans.accountsOf(plan)
    if (others.size > 0) await removalPlans.save(plan, [...others].sort())
  }
  const since = heldRemovals === null ? {} : { heldSince: toTimestamp(heldSinceMs(heldRemovals)) }
  const createdAt = toTimestamp(startMs)
  const held = { createdAt, ...earlier, ...figures, ...since, storedAtMs: startMs, ...(await causes()) }
  return underRejection(held, rejection)

  async function causes(): Promise<Pick<HeldRemovals, 'cause' | 'actorIds'>> {
    const found = await collections.removalCauses(link, accounts)
    const actorIds = found.explainsAll ? found.actorIds : new Set([...found.actorIds, ...linkActors(link, found)])
    return { cause: toChangeCause(found.newest, collectionId), actorIds: [...actorIds] }
  }
}

/**
 * Who stands behind removals that no history explains: until a run has removed all that is due, or has held it, the link
 * itself can be their cause, with the definition that does not have these people. Those behind a plan stand behind the
 * plans that follow it without a break.
 */
function linkActors(
  { appliedMembershipVersion, createdBy, enabledBy = null, heldRemovals, removalsDeferred }: GroupLink,
  { definedBy }: Pick<RemovalCauses, 'definedBy'>,
): readonly string[] {
  const isFirst = appliedMembershipVersion === null || removalsDeferred
  const beginners = isFirst ? [createdBy, enabledBy] : [enabledBy]
  const beginnerIds = beginners.filter((id) => id !== null)
  const definerIds = beginnerIds.length > 0 && definedBy !== null ? [definedBy] : []
  return [...beginnerIds, ...definerIds, ...(heldRemovals?.actorIds ?? [])]
}

export function reportHeldRemovals(
  { id: jobId, tenantId, linkId }: SyncJob,
  { planId, reason, count, limit, removedInWindow, groupSize }: HeldRemovals,
  { log, metrics }: Pick<LinkDependencies, 'log' | 'metrics'>,
): void {
  const figures = { planId, reason, count, limit, removedInWindow, groupSize }
  log.warn('removals.held', { tenantId, linkId, jobId, ...figures })
  metrics.record('removals.held', count, { reason })
}
