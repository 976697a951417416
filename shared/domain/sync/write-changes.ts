import type { Versioned } from '../../kernel/versioned.ts'
import type { AccountChanges } from '../group-links/collection-accounts.ts'
import type { GroupLink, Lease } from '../group-links/group-link.ts'
import { changeLeasedLink, renewLease } from '../group-links/link-lease.ts'
import { recordMemberWrites } from '../group-links/queue-job.ts'
import { openAccounts, type RemovalOutcomes } from '../group-links/removal-window.ts'
import { NO_ACCEPTED, stillAccepted } from './accepted-members.ts'
import { type ChangesDecision, skippedCountAfter } from './changes-decision.ts'
import { type SyncStep, stepsOf } from './plan-sync.ts'
import { type RecordedWrites, withRecordedWrites, withUnseen } from './recorded-writes.ts'
import { outcomesOfStep } from './removal-guard.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { writeStep } from './write-budget.ts'

/** A lease, and the link as the write of the lease has left it. */
export type AcquiredLease = { readonly lease: Lease; readonly leasedLink: Versioned<GroupLink> }

type DueChanges = AcquiredLease & {
  readonly decision: Extract<ChangesDecision, { outcome: 'write' }>
  readonly changes: AccountChanges
  readonly changedAtMs: number | undefined
}

/**
 * Writes the changes to the group, records them with the link and releases its lease.
 * @returns Whether a job must write what is left.
 * @throws LeaseLost, Refusal `LinkNotFound`.
 */
export async function writeChanges(
  link: GroupLink,
  { lease, leasedLink, decision, changes, changedAtMs }: DueChanges,
  deps: SyncDependencies,
): Promise<boolean> {
  const { tenantId, id: linkId } = link
  const leased = { tenantId, linkId, lease }
  const written = await writeSteps(link, { lease, decision, changes }, deps)
  const { isComplete } = written
  const counts = { added: written.added.length, removed: written.removed.length }
  recordChange(counts, changedAtMs, deps)
  const isHeld = decision.isHeld === true
  const defersRemovals = !isHeld && decision.remove.length < changes.removed.length
  const isDone = isComplete && !isHeld
  const nowMs = deps.nowMs()
  const { value: released } = await changeLeasedLink(
    leased,
    (current) => ({
      ...withRecordedWrites(current, recordedWrites(current, written), nowMs),
      lease: null,
      changesPending: false,
      appliedMembershipVersion: isDone ? changes.membershipVersion : current.appliedMembershipVersion,
      removalsDeferred: current.removalsDeferred || defersRemovals,
      ...changesOfMembers(current, link, changes),
      isBehind: current.isBehind || !isDone,
    }),
    deps,
    leasedLink,
  )
  deps.log.info('link.changes-applied', { tenantId, linkId, ...counts, isComplete, isHeld })
  return !isDone && released.state === 'Enabled'
}

/**
 * What the link records of members without an account, or with an unknown one. @param read The link that the changes
 * were read for.
 */
function changesOfMembers(current: GroupLink, read: GroupLink, changes: AccountChanges): Partial<GroupLink> {
  const { withoutAccountCount: count, withoutAccountIds, accepted = NO_ACCEPTED } = changes
  const identityIds = withoutAccountIds ?? (count === 0 ? [] : undefined)
  const left = new Set(changes.removed)
  const unresolved = current.unresolved.filter((account) => !left.has(account))
  return {
    unresolved,
    skippedCount: skippedCountAfter(current, changes),
    withoutAccount: identityIds === undefined ? null : { count, identityIds },
    acceptedWithoutAccount: stillAccepted(current.acceptedWithoutAccount, {
      considered: read.acceptedWithoutAccount,
      accepted,
      unresolved,
    }),
  }
}

function recordChange(
  written: { readonly added: number; readonly removed: number },
  changedAtMs: number | undefined,
  { metrics, nowMs }: Pick<SyncDependencies, 'metrics' | 'nowMs'>,
): void {
  recordMemberWrites(written, 'change', metrics)
  const isWritten = written.added + written.removed > 0
  if (isWritten && changedAtMs !== undefined) metrics.record('sync.change.latency', nowMs() - changedAtMs, {})
}

type WrittenChanges = {
  readonly added: string[]
  readonly removed: string[]
  /** Accounts to remove that the group did not have. */
  readonly absent: string[]
  /** What is known about open removals. */
  readonly outcomes: RemovalOutcomes
  readonly isComplete: boolean
}

function recordedWrites(
  { userCount, unseenAdditions }: GroupLink,
  { added, removed, absent, outcomes }: WrittenChanges,
): RecordedWrites {
  return {
    added,
    removed,
    removalOutcomes: outcomes,
    userCount: userCount === null ? null : userCount + added.length - removed.length,
    unseenAdditions: withUnseen(unseenAdditions, added, [...removed, ...absent]),
  }
}

/** Whether the collection has not changed since the changes were read, its condition included. */
async function areNewest(
  { membershipVersion }: AccountChanges,
  { tenantId, collectionId }: GroupLink,
  { collections }: Pick<SyncDependencies, 'collections'>,
): Promise<boolean> {
  return (await collections.currentVersion(tenantId, collectionId)) === membershipVersion
}

const acceptedIdsOf = ({ acceptedWithoutAccount }: GroupLink) => acceptedWithoutAccount.join()

async function writeSteps(
  link: GroupLink,
  { lease: acquired, decision, changes }: Pick<DueChanges, 'lease' | 'decision' | 'changes'>,
  deps: SyncDependencies,
): Promise<WrittenChanges> {
  const { tenantId, id: linkId, directoryGroupId: groupId, unresolved } = link
  const earlier = openAccounts(link.removalWindow)
  const added: string[] = []
  const removed: string[] = []
  const absent: string[] = []
  const outcomes = { removed: [] as string[], notRemoved: [] as string[] }
  let lease = acquired
  let isComplete = true
  const steps = stepsOf(decision, deps.directory.limits)
  for (const [index, step] of steps.entries()) {
    const { kind } = step
    // The directory may have been slow: a person can be a member again since then. A job removes those who are not.
    if (kind === 'remove' && !(await areNewest(changes, link, deps))) return incomplete(steps.slice(index))
    if (index > 0 || kind === 'remove') {
      const renewed = await renewLease({ tenantId, linkId, lease }, deps)
      if (renewed.link.state === 'Disabled') return incomplete(steps.slice(index))
      // A member that is accepted no longer keeps others from being removed.
      if (kind === 'remove' && acceptedIdsOf(renewed.link) !== acceptedIdsOf(link))
        return incomplete(steps.slice(index))
      lease = renewed.lease
    }
    const write = { tenantId, groupId, step, deadlineMs: lease.expiresAtMs, unresolved } as const
    const outcome = await writeStep(write, deps)
    const written = kind === 'add' ? added : removed
    written.push(...outcome.written)
    if (kind === 'remove') absent.push(...outcome.unchanged)
    const known = outcomesOfStep(kind, outcome, earlier)
    outcomes.removed.push(...known.removed)
    outcomes.notRemoved.push(...known.notRemoved)
    const { fault, accountFault } = outcome
    if (fault === undefined && accountFault === undefined && outcome.missing.length === 0) continue
    const reason = (fault ?? accountFault)?.message ?? outcome.refusal ?? 'The directory has no such account.'
    deps.log.warn('link.change-not-written', { tenantId, linkId, kind, reason })
    isComplete = false
    // After a refusal of single removals, the others do not wait. A job finds out why a whole step is refused.
    const acceptsOthers = outcome.written.length + outcome.unchanged.length > 0
    if (kind === 'remove' && fault === undefined && acceptsOthers) continue
    return incomplete(steps.slice(index + 1))
  }
  return { added, removed, absent, outcomes, isComplete }

  /** The removals of steps that were not sent no longer count. */
  function incomplete(unsent: readonly SyncStep[]): WrittenChanges {
    const accounts = unsent.filter(({ kind }) => kind === 'remove').flatMap((step) => step.accounts)
    outcomes.notRemoved.push(...accounts.filter((account) => !earlier.has(account)))
    return { added, removed, absent, outcomes, isComplete: false }
  }
}
