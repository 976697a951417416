import { toTimestamp } from '../../kernel/timestamp.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { HeldRemovals } from '../group-links/removal-plan.ts'
import { rejectionOf, underRejection } from '../group-links/removal-rejection.ts'
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
  /** Of the last rejection, as of the comparison. */
  readonly rejectedAt?: string | undefined
}

/** What a link records of a run that has made its group equal to its collection. */
export function changesByRun(
  link: GroupLink,
  { unresolved, skipped, held }: SyncJob,
  { membershipVersion, removals, deferredRemovalCount, ...plan }: BatchPlan,
  { startMs, endMs, accountsChangedAtMs, heldRemovals, rejectedAt }: CompletedRun,
): Partial<GroupLink> {
  const hasRemovals = deferredRemovalCount + removals.length + held > 0
  const removalsDeferred = skipped > 0 && hasRemovals
  return {
    lastSyncedAt: toTimestamp(endMs),
    lastSyncOutcome: 'Succeeded',
    lastSyncError: null,
    appliedMembershipVersion: membershipVersion,
    removalsDeferred,
    ...(!removalsDeferred && { enabledBy: null }),
    // Accounts may have changed again during the run.
    accountsChangedAtMs: link.accountsChangedAtMs === accountsChangedAtMs ? null : link.accountsChangedAtMs,
    comparedAtMs: startMs,
    heldRemovals: afterRun(heldRemovals, link.heldRemovals, { rejectedAt, isDeferred: deferredRemovalCount > 0 }),
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
 * The held removals after a run, during which a person can have rejected others: their accounts may be due. While all
 * removals are deferred, none is held, and a rejection counts until they are due again.
 * @param rejectedAt Of the last rejection that the run has known.
 */
function afterRun(
  held: HeldRemovals | null,
  stored: HeldRemovals | null,
  { rejectedAt, isDeferred }: { readonly rejectedAt: string | undefined; readonly isDeferred: boolean },
): HeldRemovals | null {
  const rejection = rejectionOf(stored)
  const isNew = rejection !== undefined && rejection.rejectedAt !== rejectedAt
  if (held !== null) return isNew ? underRejection(held, rejection) : held
  return isNew || (isDeferred && rejection !== undefined) ? stored : null
}
