import { chunk } from '../../kernel/chunk.ts'
import type { RecentWrite } from './recent-writes.ts'

export type SyncPlanOptions = {
  /** Members of the collection without an account. While there are any, nothing is removed. */
  readonly withoutAccountCount: number
  readonly recentWrites?: readonly RecentWrite[]
  /** Accounts that the directory does not know: not asked for again, and nothing is removed while there are any. */
  readonly unresolved?: ReadonlySet<string>
}

export type SyncPlan = {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  /** Group members that would go if every member of the collection had an account. */
  readonly heldBackCount: number
}

/**
 * What has to be written so that the group's users become the desired accounts. Carried out and planned again, it is
 * empty.
 *
 * Reads of the directory lag behind its writes. Where one contradicts a recent write, neither is believed: the account
 * is written as desired, which the directory answers with "already so" if it was the read that was stale. A memory
 * that were believed instead would hide that someone has changed the group by hand since.
 */
export function planSync(
  desired: ReadonlySet<string>,
  actual: ReadonlySet<string>,
  options: SyncPlanOptions,
): SyncPlan {
  const { withoutAccountCount, recentWrites = [], unresolved = new Set<string>() } = options
  const lately = (kind: RecentWrite['kind']) =>
    new Set(recentWrites.filter((write) => write.kind === kind).map(({ account }) => account))
  const certain = actual.difference(lately('removed'))
  const possible = actual.union(lately('added'))
  const surplus = [...possible.difference(desired)].sort()
  const holdBack = withoutAccountCount > 0 || unresolved.size > 0
  return {
    add: [...desired.difference(certain).difference(unresolved)].sort(),
    remove: holdBack ? [] : surplus,
    heldBackCount: holdBack ? surplus.length : 0,
  }
}

/** Accounts that one step of a run adds: five PATCHes of twenty in one call. */
const ADDS_PER_STEP_COUNT = 100

/** Accounts that one step of a run removes: one call of twenty DELETEs. */
const REMOVALS_PER_STEP_COUNT = 20

export type SyncStep = { readonly kind: 'add' | 'remove'; readonly accounts: readonly string[] }

/** The plan in the order it is carried out: whatever goes wrong, nobody is removed before all are in who should be. */
export function stepsOf({ add, remove }: Pick<SyncPlan, 'add' | 'remove'>): SyncStep[] {
  return [
    ...chunk(add, ADDS_PER_STEP_COUNT).map((accounts): SyncStep => ({ kind: 'add', accounts })),
    ...chunk(remove, REMOVALS_PER_STEP_COUNT).map((accounts): SyncStep => ({ kind: 'remove', accounts })),
  ]
}
