import type { WriteOutcome } from '../group-links/directory.ts'
import type { RemovalGuard } from '../group-links/link-settings.ts'
import type { HoldReason } from '../group-links/removal-plan.ts'
import {
  countRemovals,
  groupSizeOf,
  openAccounts,
  type RemovalOutcomes,
  type RemovalWindow,
} from '../group-links/removal-window.ts'

export type DueRemovals = {
  /** Accounts that are in the group and not in the collection. */
  readonly due: readonly string[]
  /** Accounts among them that a person has approved. */
  readonly approved: ReadonlySet<string>
  /** While one of these is due, which a person has rejected, removals are held also within the limit. */
  readonly rejected?: ReadonlySet<string> | 'all'
  /** Removed a short time ago, and counted. A read of the directory may still show them. */
  readonly recentlyRemoved: ReadonlySet<string>
  /** Removals from the group within the last 24 hours. */
  readonly window: RemovalWindow
  /** Users in the group now. */
  readonly userCount: number
  /** The collection is empty, and the link has not added anybody to the group. */
  readonly isEmptyFromStart: boolean
}

/** Removals that are held, and the figures of the decision. */
export type RemovalHold = {
  readonly accounts: readonly string[]
  /** Whether a person has rejected some of them. */
  readonly includesRejected: boolean
  readonly reason: HoldReason
  readonly limit: number
  readonly removedInWindow: number
  readonly groupSize: number
}

export type RemovalDecision = { readonly remove: readonly string[]; readonly hold: RemovalHold | null }

/**
 * Which of the due removals are carried out: all, or the approved ones only. An account that is removed again because an
 * earlier attempt was interrupted counts once.
 */
export function decideRemovals(
  { due, approved, rejected = NONE, recentlyRemoved, window, userCount, isEmptyFromStart }: DueRemovals,
  guard: RemovalGuard,
  nowMs: number,
): RemovalDecision {
  const subject = due.filter((account) => !approved.has(account) && !recentlyRemoved.has(account))
  if (subject.length === 0) return { remove: due, hold: null }
  const counted = new Set(due)
  const includesRejected = rejected === 'all' || subject.some((account) => rejected.has(account))
  const removals = { due: counted, includesRejected, recentlyRemoved, window, userCount, isEmptyFromStart }
  const hold = removalHold(removals, guard, nowMs)
  if (hold === null) return { remove: due, hold: null }
  const held = { accounts: subject, includesRejected, ...hold }
  return { remove: due.filter((account) => approved.has(account)), hold: held }
}

const NONE: ReadonlySet<string> = new Set()

/** Due removals as a set that is only asked for its size and for single accounts: there may be very many. */
export type CountedRemovals = Omit<DueRemovals, 'due' | 'approved' | 'rejected'> & {
  readonly due: AccountSet
  readonly includesRejected?: boolean
}
type AccountSet = { readonly size: number; has(account: string): boolean }

/** The figures of a hold when the guard does not allow these removals without an approval; null when it does. */
export function removalHold(
  { due, includesRejected = false, recentlyRemoved, window, userCount, isEmptyFromStart }: CountedRemovals,
  guard: RemovalGuard,
  nowMs: number,
): Omit<RemovalHold, 'accounts' | 'includesRejected'> | null {
  const repeatedCount = [...recentlyRemoved].filter((account) => due.has(account)).length
  const dueCount = due.size - repeatedCount
  if (!guard.enabled || dueCount === 0) return null
  const groupSize = groupSizeOf(window, userCount, nowMs)
  const limit = Math.max(guard.minimum, Math.floor((groupSize * guard.percent) / 100))
  const dueNow = { has: (account: string) => due.has(account) && !recentlyRemoved.has(account) }
  const removedInWindow = countRemovals(window, dueNow, nowMs)
  if (!includesRejected && !isEmptyFromStart && removedInWindow + dueCount <= limit) return null
  return { reason: isEmptyFromStart ? 'EmptyCollection' : 'TooMany', limit, removedInWindow, groupSize }
}

/** What the outcome of a step shows about open removals. @param earlier those that an earlier worker has started. */
export function outcomesOfStep(
  kind: 'add' | 'remove',
  { written, unchanged, missing, refused }: WriteOutcome,
  earlier: ReadonlySet<string>,
): RemovalOutcomes {
  // An account that could be added had been removed. A member may have been removed and added again by another client.
  if (kind === 'add') return { removed: [...written, ...missing, ...unchanged], notRemoved: [] }
  return {
    removed: [...written, ...unchanged.filter((account) => earlier.has(account))],
    notRemoved: [...unchanged, ...refused].filter((account) => !earlier.has(account)),
  }
}

/** What a read of the group shows about open removals. A read can be stale, so members stay open. */
export function outcomesOfRead(window: RemovalWindow, members: ReadonlySet<string>): RemovalOutcomes {
  return { removed: [...openAccounts(window).difference(members)], notRemoved: [] }
}
