import { REFUSALS } from '../refusal.ts'
import type { WriteOutcome } from './directory.ts'
import type { SyncDependencies } from './link-dependencies.ts'
import { groupRefusal } from './linkable-group.ts'
import type { CollectionAccounts } from './linked-collections.ts'
import { planSync, type SyncStep, stepsOf } from './plan-sync.ts'
import { allUsers } from './preview-link.ts'
import { stillRecent } from './recent-writes.ts'
import { RunFault, requireHold, type SyncRun, saveJob } from './sync-run.ts'

/** More accounts that the directory does not know are a sign of something else. */
const UNRESOLVED_AT_MOST_COUNT = 1000

/** Ids that an error message names before it only counts. */
const NAMED_AT_MOST_COUNT = 5

export type SliceResult =
  | { readonly outcome: 'more' }
  | { readonly outcome: 'done'; readonly membershipVersion: number; readonly heldBackCount: number }

/**
 * Compares collection and group and writes the difference, until done or until the slice's time is up. The directory
 * itself is the record of progress: the next slice, or another worker after this one's death, compares anew.
 * At least one step is done, so that even slices that are too short come to an end.
 */
export async function syncSlice(run: SyncRun, deps: SyncDependencies): Promise<SliceResult> {
  const deadlineMs = deps.nowMs() + deps.sliceMs
  await requireLinkable(run, deps)
  const desired = await desiredAccounts(run, deps)
  const actual = await allUsers(run.tenantId, run.groupId, deps.directory, () => requireHold(run, deps))
  const plan = planSync(desired.accounts, actual, {
    withoutAccountCount: desired.withoutAccountCount,
    recentWrites: stillRecent(run.link.recentWrites, deps.nowMs()),
    unresolved: new Set(run.job.value.unresolved),
  })
  const steps = stepsOf(plan)
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'remove' && run.job.value.unresolved.length > 0) break
    await requireHold(run, deps)
    await takeStep(run, step, deps)
    if (index < steps.length - 1 && deps.nowMs() >= deadlineMs) return { outcome: 'more' }
  }
  requireAllResolved(run)
  return { outcome: 'done', membershipVersion: desired.membershipVersion, heldBackCount: plan.heldBackCount }
}

/** @throws RunFault for a group that is gone or has become one that cannot be linked. */
export async function requireLinkable(run: SyncRun, { directory }: SyncDependencies): Promise<void> {
  const group = await directory.readGroup(run.tenantId, run.groupId)
  if (group !== undefined) run.displayName = group.displayName
  const refusal = groupRefusal(group)
  if (refusal !== undefined) throw new RunFault(REFUSALS[refusal].message, { isPermanent: true })
}

async function desiredAccounts(run: SyncRun, { collections }: SyncDependencies): Promise<CollectionAccounts> {
  if ((await collections.find(run.tenantId, run.collectionId)) === undefined) {
    throw new RunFault('The collection does not exist any more', { isPermanent: true })
  }
  const desired = await collections.accountsOf(run.tenantId, run.collectionId)
  if (desired.membershipVersion < (run.link.appliedMembershipVersion ?? 0)) {
    // Writing it would undo what newer single changes have written.
    throw new RunFault('The membership could only be read as it was before the last change', { isPermanent: false })
  }
  const job = run.job.value
  run.job = { ...run.job, value: { ...job, skipped: desired.withoutAccountCount } }
  return desired
}

async function takeStep(run: SyncRun, step: SyncStep, deps: SyncDependencies): Promise<void> {
  const { tenantId, groupId } = run
  const isAdding = step.kind === 'add'
  const outcome = isAdding
    ? await deps.directory.addMembers(tenantId, groupId, step.accounts)
    : await deps.directory.removeMembers(tenantId, groupId, step.accounts)
  await keepProgress(run, step, outcome, deps)
  if (outcome.fault !== undefined) throw outcome.fault
  // A group that is gone answers every removal with "not a member".
  if (!isAdding && outcome.written.length === 0) await requireLinkable(run, deps)
}

async function keepProgress(
  run: SyncRun,
  step: SyncStep,
  outcome: WriteOutcome,
  deps: SyncDependencies,
): Promise<void> {
  const job = run.job.value
  const isAdding = step.kind === 'add'
  const list = isAdding ? run.added : run.removed
  list.push(...outcome.written)
  const unresolved = [...new Set([...job.unresolved, ...outcome.missing])]
  await saveJob(
    run,
    {
      ...job,
      added: job.added + (isAdding ? outcome.written.length : 0),
      removed: job.removed + (isAdding ? 0 : outcome.written.length),
      unresolved,
    },
    deps,
  )
  if (unresolved.length > UNRESOLVED_AT_MOST_COUNT) requireAllResolved(run)
}

/** A sync has not succeeded while someone who should be in the group is not. */
function requireAllResolved(run: SyncRun): void {
  const { unresolved } = run.job.value
  if (unresolved.length === 0) return
  const named = unresolved.slice(0, NAMED_AT_MOST_COUNT).join(', ')
  const more = unresolved.length > NAMED_AT_MOST_COUNT ? ` and ${unresolved.length - NAMED_AT_MOST_COUNT} more` : ''
  throw new RunFault(`The directory has no account ${named}${more}`, { isPermanent: false })
}
