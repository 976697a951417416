import { chunk } from '../../kernel/chunk.ts'
import type { AcceptedMembers, CollectionAccounts } from '../group-links/collection-accounts.ts'
import type { Directory, GroupMembers } from '../group-links/directory.ts'
import type { GroupLink, RecentWrite } from '../group-links/group-link.ts'
import type { RemovalGuard } from '../group-links/link-settings.ts'
import type { WithoutAccount } from '../group-links/removal-pause.ts'
import { openAccounts, type RemovalOutcomes } from '../group-links/removal-window.ts'
import type { SyncJob, WriteJournal } from '../group-links/sync-job.ts'
import { countUnaccepted, NO_ACCEPTED } from './accepted-members.ts'
import { type Progress, progress, reconciledByRead } from './job-progress.ts'
import { asRecentWrites, removedRecently, unexpiredWrites } from './recorded-writes.ts'
import {
  type DueRemovals,
  decideRemovals,
  outcomesOfRead,
  type RemovalDecision,
  type RemovalHold,
} from './removal-guard.ts'

export type SyncPlanOptions = {
  /** Members of the collection without an account. While it is above zero, all removals are deferred. */
  readonly withoutAccountCount: number
  readonly recentWrites?: readonly RecentWrite[]
  /**
   * Accounts that the directory does not know or refuses. They are not added, and defer all removals unless they are
   * accepted.
   */
  readonly unresolved?: ReadonlySet<string>
  readonly accepted?: AcceptedMembers
}

export type SyncPlan = {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  /** Members that would be removed if every member of the collection had an account. */
  readonly deferredRemovalCount: number
}

/**
 * The writes that make the group's users equal to the desired accounts. Planned again after they are carried out, the
 * result is empty.
 *
 * Reads of the directory lag behind its writes. Where a read contradicts a recent write, the account is written as
 * desired; if only the read was stale, the directory answers that nothing has changed. Trusting the recent write
 * instead would hide a change made by hand since then.
 */
export function planSync(
  desired: ReadonlySet<string>,
  actual: ReadonlySet<string>,
  { withoutAccountCount, recentWrites = [], unresolved = new Set<string>(), accepted }: SyncPlanOptions,
): SyncPlan {
  const recently = (kind: RecentWrite['kind']) =>
    new Set(recentWrites.filter((write) => write.kind === kind).map(({ account }) => account))
  const certain = actual.difference(recently('removed'))
  const possible = actual.union(recently('added'))
  const surplus = [...possible.difference(desired)].sort()
  const isDeferred = withoutAccountCount + countUnaccepted(unresolved, accepted) > 0
  return {
    add: [...desired.difference(certain).difference(unresolved)].sort(),
    remove: isDeferred ? [] : surplus,
    deferredRemovalCount: isDeferred ? surplus.length : 0,
  }
}

/** Accounts that are written together. */
export type SyncStep = {
  readonly kind: 'add' | 'remove'
  readonly accounts: readonly string[]
  /** Writes that the directory counts for the step, without retries. */
  readonly writeCount: number
  /** Removes accounts that are not users and that this service has added. Not subject to the removal guard. */
  readonly undoesAdditions?: true
}

/**
 * The steps of a plan in order. All additions come first, so that a fault never removes a member before others are
 * added.
 */
export function stepsOf({ add, remove }: Pick<SyncPlan, 'add' | 'remove'>, limits: Directory['limits']): SyncStep[] {
  const steps = (kind: SyncStep['kind'], all: readonly string[]) => {
    const { accountsPerStep, accountsPerWrite } = limits[kind]
    return chunk(all, accountsPerStep).map(
      (accounts): SyncStep => ({ kind, accounts, writeCount: Math.ceil(accounts.length / accountsPerWrite) }),
    )
  }
  return [...steps('add', add), ...steps('remove', remove)]
}

/** What a batch does, decided from the collection's accounts and the group's members. */
export type BatchPlan = Progress & {
  /** Writes of earlier workers that the read of the group has neither confirmed nor refuted. */
  readonly earlier: WriteJournal
  /** Accounts for which the read of the group is not trusted. */
  readonly uncertain: ReadonlySet<string>
  readonly steps: readonly SyncStep[]
  /** Accounts that the steps remove from the group because they are not in the collection. */
  readonly removals: readonly string[]
  /** Removals that the removal guard does not allow. */
  readonly hold: RemovalHold | null
  /** What the read of the group shows about open removals. */
  readonly removalOutcomes: RemovalOutcomes
  /** Users in the group. */
  readonly userCount: number
  readonly deferredRemovalCount: number
  /** Members without an account that are not accepted. */
  readonly withoutAccount: WithoutAccount
  /** What the link accepts without an account, and the members among these with their accounts. */
  readonly acceptedIds: readonly string[]
  readonly accepted: AcceptedMembers
  /** Membership version that the group has once the steps are written. */
  readonly membershipVersion: number
  /** As of `CollectionAccounts`. */
  readonly leavesOut: boolean
}

/** What a batch is planned from, apart from the collection's accounts and the group's members. */
export type BatchState = {
  readonly job: SyncJob
  readonly link: GroupLink
  readonly guard: RemovalGuard
  /** Accounts whose removal a person has approved. */
  readonly approved: ReadonlySet<string>
  /** Accounts whose removal a person has rejected. */
  readonly rejected?: DueRemovals['rejected']
}

export function planBatch(
  { accounts, membershipVersion, leavesOut = false, ...members }: CollectionAccounts,
  { users, others }: GroupMembers,
  state: BatchState,
  { limits, nowMs }: { readonly limits: Directory['limits']; readonly nowMs: number },
): BatchPlan {
  const { link } = state
  const { withoutAccountCount, withoutAccountIds = [], accepted = NO_ACCEPTED } = members
  const job = { ...state.job, userCountAtStart: state.job.userCountAtStart ?? users.size }
  const reconciliation = reconciledByRead(job.journal, users)
  const earlier = reconciliation.open
  // Wrong source data can name a group, a device or the linked group itself as an account.
  const notUsers = accounts.intersection(new Set([...others, job.directoryGroupId]))
  const unresolved = notUsers.union(new Set(job.unresolved))
  const recentWrites = [...unexpiredWrites(link.recentWrites, nowMs), ...asRecentWrites(earlier, nowMs)]
  // The collection has these accounts again. Only adding them shows whether they were removed.
  const returned = [...openAccounts(link.removalWindow).intersection(accounts)]
  const untrusted = [...recentWrites, ...asRecentWrites({ added: [], removed: returned }, nowMs)]
  const plan = planSync(accounts, users, { withoutAccountCount, recentWrites: untrusted, unresolved, accepted })
  const { remove, hold } = guarded(plan.remove, { ...state, job }, accounts, nowMs)
  const possibleMembers = users.union(new Set([...plan.remove, ...returned]))
  // The version before added accounts first, and then found those that are not users.
  const undone = [...notUsers.intersection(new Set(link.unseenAdditions))]
  return {
    ...progress(
      { ...job, unresolved: [...unresolved], skipped: withoutAccountCount + countUnaccepted(unresolved, accepted) },
      reconciliation,
    ),
    earlier,
    uncertain: new Set(untrusted.map(({ account }) => account)),
    steps: [...stepsOf({ add: plan.add, remove }, limits), ...stepsThatUndo(undone, limits)],
    removals: remove,
    hold,
    removalOutcomes: outcomesOfRead(link.removalWindow, possibleMembers),
    userCount: users.size,
    deferredRemovalCount: plan.deferredRemovalCount,
    withoutAccount: { count: withoutAccountCount, identityIds: withoutAccountIds },
    acceptedIds: link.acceptedWithoutAccount,
    accepted,
    membershipVersion,
    leavesOut,
  }
}

function guarded(
  due: readonly string[],
  { job, link, guard, approved, rejected }: BatchState & { readonly job: { readonly userCountAtStart: number } },
  accounts: ReadonlySet<string>,
  nowMs: number,
): RemovalDecision {
  return decideRemovals(
    {
      due,
      approved,
      ...(rejected && { rejected }),
      recentlyRemoved: removedRecently(link.recentWrites, nowMs),
      window: link.removalWindow,
      userCount: job.userCountAtStart,
      // While members without an account exist, no removals are due.
      isEmptyFromStart: accounts.size === 0 && !link.hasAdded,
    },
    guard,
    nowMs,
  )
}

/** The steps that remove accounts which turned out not to be users. */
function stepsThatUndo(accounts: readonly string[], limits: Directory['limits']): SyncStep[] {
  return stepsOf({ add: [], remove: accounts }, limits).map((step) => ({ ...step, undoesAdditions: true }))
}

/** Whether a step removes members of the group that are not in the collection. */
export function isRemoval({ kind, undoesAdditions }: SyncStep): boolean {
  return kind === 'remove' && undoesAdditions !== true
}
