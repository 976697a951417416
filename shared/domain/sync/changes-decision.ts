import type { AccountChanges } from '../group-links/collection-accounts.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { RemovalGuard } from '../group-links/link-settings.ts'
import { countUnaccepted } from './accepted-members.ts'
import { removedRecently } from './recorded-writes.ts'
import { decideRemovals } from './removal-guard.ts'

/** More changes are left to a job, which works in batches and reports its progress. */
const MAX_CHANGES_COUNT = 500

export type ChangesDecision =
  | { readonly outcome: 'nothing' }
  | {
      readonly outcome: 'write'
      readonly add: readonly string[]
      readonly remove: readonly string[]
      /** The removal guard does not allow the removals. A job compares and stores the plan. */
      readonly isHeld?: true
    }
  /** A full comparison is needed, or the changes are too many. */
  | { readonly outcome: 'compare' }

/** Returns what a link needs after its collection has changed, apart from the removal guard. */
export function changesDecision(link: GroupLink, changes: AccountChanges | undefined): ChangesDecision {
  if (changes === undefined || link.accountsChangedAtMs !== null) return { outcome: 'compare' }
  const { added, removed, membershipVersion } = changes
  const withoutAccountCount = skippedCountAfter(link, changes)
  if (withoutAccountCount === 0 && link.removalsDeferred) return { outcome: 'compare' }
  if (added.length + removed.length > MAX_CHANGES_COUNT) return { outcome: 'compare' }
  if (membershipVersion === link.appliedMembershipVersion) return { outcome: 'nothing' }
  return { outcome: 'write', add: added, remove: withoutAccountCount > 0 ? [] : removed }
}

/**
 * Members without an account that the link does not accept, and those whose account the last job could not add, after
 * the changes.
 */
export function skippedCountAfter(
  { unresolved }: GroupLink,
  { removed, withoutAccountCount, accepted }: AccountChanges,
): number {
  return withoutAccountCount + countUnaccepted(new Set(unresolved).difference(new Set(removed)), accepted)
}

/**
 * Returns the decision with the removal guard applied. Removals that are held already are due together with further
 * ones.
 */
export function guardedChanges(
  link: GroupLink,
  decision: ChangesDecision,
  changes: AccountChanges,
  { guard, nowMs }: { readonly guard: RemovalGuard; readonly nowMs: number },
): ChangesDecision {
  if (decision.outcome !== 'write' || !guard.enabled) return decision
  // A job finds out which of the held removals are still due.
  if (link.heldRemovals !== null) return withoutRemovals(decision)
  if (decision.remove.length === 0) return decision
  if (link.userCount === null) return { outcome: 'compare' }
  const { hold } = decideRemovals(
    {
      due: decision.remove,
      approved: new Set(),
      recentlyRemoved: removedRecently(link.recentWrites, nowMs),
      window: link.removalWindow,
      userCount: link.userCount,
      // While members without an account exist, the decision removes no accounts.
      isEmptyFromStart: changes.accountCount === 0 && !link.hasAdded,
    },
    guard,
    nowMs,
  )
  return hold === null ? decision : withoutRemovals(decision)
}

function withoutRemovals(decision: Extract<ChangesDecision, { outcome: 'write' }>): ChangesDecision {
  return decision.add.length === 0 ? { outcome: 'compare' } : { ...decision, remove: [], isHeld: true }
}
