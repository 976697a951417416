import { toTimestamp } from '../../kernel/timestamp.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { type HeldRemovals, rejectedPlanIdOf } from '../group-links/removal-plan.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { stillAccepted } from './accepted-members.ts'
import type { BatchPlan } from './plan-sync.ts'

type CompletedRun = {
  /** Before the accounts were read. */
  readonly startMs: number
  readonly endMs: number
  /** As of the beginning of the run. */
  readonly accountsChangedAtMs: number | null
  readonly heldRemovals: HeldRemovals | null
}

/** What a link records of a run that has made its group equal to its collection. */
export function changesByRun(
  link: GroupLink,
  { unresolved, skipped, held }: SyncJob,
  { membershipVersion, removals, deferredRemovalCount, ...plan }: BatchPlan,
  { startMs, endMs, accountsChangedAtMs, heldRemovals }: CompletedRun,
): Partial<GroupLink> {
  const hasRemovals = deferredRemovalCount + removals.length + held > 0
  return {
    lastSyncedAt: toTimestamp(endMs),
    lastSyncOutcome: 'Succeeded',
    lastSyncError: null,
    appliedMembershipVersion: membershipVersion,
    removalsDeferred: skipped > 0 && hasRemovals,
    // Accounts may have changed again during the run.
    accountsChangedAtMs: link.accountsChangedAtMs === accountsChangedAtMs ? null : link.accountsChangedAtMs,
    comparedAtMs: startMs,
    heldRemovals: withRejection(heldRemovals, link.heldRemovals, deferredRemovalCount > 0),
    unresolved,
    skippedCount: skipped,
    withoutAccount: plan.withoutAccount,
    acceptedWithoutAccount: stillAccepted(link.acceptedWithoutAccount, {
      considered: plan.acceptedIds,
      accepted: plan.accepted,
      unresolved,
    }),
    // What was accepted during the run is considered by the next one, and so are positions that were left out.
    isBehind: plan.leavesOut || link.acceptedWithoutAccount.join() !== plan.acceptedIds.join(),
  }
}

/**
 * The plan can have been rejected during the run. While all removals are deferred, none is held, and a rejection counts
 * until they are due again.
 */
function withRejection(
  held: HeldRemovals | null,
  stored: HeldRemovals | null,
  isDeferred: boolean,
): HeldRemovals | null {
  const rejectedPlanId = rejectedPlanIdOf(stored)
  if (stored === null || rejectedPlanId === undefined) return held
  if (held === null) return isDeferred ? stored : null
  if (held.planId !== stored.planId) return { rejectedPlanId, ...held }
  const { rejectedBy = null, rejectedAt = null } = stored
  return { ...held, rejectedPlanId, rejectedBy, rejectedAt }
}
