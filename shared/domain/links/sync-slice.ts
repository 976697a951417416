import { REFUSALS } from '../refusal.ts'
import type { DirectoryGroup } from './directory.ts'
import { allMembers } from './group-members.ts'
import type { SyncDependencies } from './link-dependencies.ts'
import { groupRefusal } from './linkable-group.ts'
import type { CollectionAccounts } from './linked-collections.ts'
import { planSync, type SyncStep, stepsOf } from './plan-sync.ts'
import { type RecentWrite, stillRecent } from './recent-writes.ts'
import type { JobRecord } from './sync-job.ts'
import { RunFault, requireHold, type SyncRun, saveJob, withCounted } from './sync-run.ts'
import { begun, settledByAnswers, settledByRead } from './unconfirmed-writes.ts'
import { writesOf } from './write-budget.ts'
import { writeStep } from './write-step.ts'

/** More accounts that the directory does not know are a sign of something else. */
const UNRESOLVED_AT_MOST_COUNT = 1000

/** A wait for the budget that is longer is the queue's: whoever goes on then reads the group anew. */
const WAIT_IN_PLACE_MS = 10_000

/** Single changes wait this long for a job at most, and for as long again as the queue takes. */
const UNDISTURBED_MS = 15_000

/** The single changes that wait ring again within this time. */
const LET_OTHERS_MS = 5_000

/** By then every read of the directory finds a group that was created before it was linked. */
const SHOWN_EVERYWHERE_MS = 10 * 60_000

/** Before each further look for a group that was linked shortly before and is not found. */
const READ_AGAIN_AFTER_MS = [2_000, 5_000, 15_000]

/** Ids that an error message names before it only counts. */
const NAMED_AT_MOST_COUNT = 5

export type SliceResult =
  /** There is more to do: for the next slice, at once or after a delay, and with the group left to others if need be. */
  | { readonly outcome: 'more'; readonly delayMs: number; readonly letsOthers: boolean }
  | { readonly outcome: 'done'; readonly membershipVersion: number; readonly heldBackCount: number }

/**
 * Compares collection and group and writes the difference, until done or until the slice's time is up. The directory
 * itself is the record of progress: the next slice, or another worker after this one's death, compares anew.
 * At least one step is done, so that even slices that are too short come to an end.
 */
export async function syncSlice(run: SyncRun, deps: SyncDependencies): Promise<SliceResult> {
  const startMs = deps.nowMs()
  const deadlineMs = startMs + deps.sliceMs
  await requireLinkable(run, deps)
  const desired = await desiredAccounts(run, deps)
  const { users, others } = await allMembers(run.tenantId, run.groupId, deps.directory, () => requireHold(run, deps))
  countWhatIsSeen(run, users)
  leaveOutWhoIsNoUser(run, desired.accounts, others)
  const recentWrites = [...stillRecent(run.link.recentWrites, deps.nowMs()), ...maybeWritten(run, deps.nowMs())]
  const plan = planSync(desired.accounts, users, {
    withoutAccountCount: desired.withoutAccountCount,
    recentWrites,
    unresolved: new Set(run.job.value.unresolved),
  })
  const steps = stepsOf(plan)
  const inDoubt = new Set(recentWrites.map(({ account }) => account))
  for (const [index, step] of steps.entries()) {
    if (isHeldBack(run.job.value, step)) break
    await requireHold(run, deps)
    if (run.link.changesWait && deps.nowMs() >= startMs + UNDISTURBED_MS) {
      return { outcome: 'more', delayMs: LET_OTHERS_MS, letsOthers: true }
    }
    const waitMs = await budgetWaitMs(run, step, deps)
    if (waitMs > 0) return { outcome: 'more', delayMs: waitMs, letsOthers: true }
    if (index === 0) await saveJob(run, withBegun(run.job.value, step, inDoubt), deps)
    const isTimeUp = await takeStep(run, step, deadlineMs, { next: steps[index + 1], inDoubt }, deps)
    if (index < steps.length - 1 && isTimeUp) return { outcome: 'more', delayMs: 0, letsOthers: false }
  }
  requireAllResolved(run)
  return { outcome: 'done', membershipVersion: desired.membershipVersion, heldBackCount: plan.heldBackCount }
}

/** Waits for the budget if that is soon told. @returns Milliseconds that are too long to wait here, or 0. */
async function budgetWaitMs(run: SyncRun, step: SyncStep, deps: SyncDependencies): Promise<number> {
  for (;;) {
    const waitMs = await deps.budget.ask(run.tenantId, writesOf(step), 'bulk')
    if (waitMs === 0 || waitMs > WAIT_IN_PLACE_MS) return waitMs
    await deps.sleep(waitMs)
    await requireHold(run, deps)
  }
}

/** Counts what earlier workers have written without living to tell. It is saved with the next step, or the end. */
function countWhatIsSeen(run: SyncRun, actual: ReadonlySet<string>): void {
  const settlement = settledByRead(run.job.value.unconfirmed, actual)
  run.earlier = settlement.open
  run.job = { ...run.job, value: withCounted(run, settlement) }
}

/** Accounts that turn out to be groups, devices or the like are as good as none: somebody's data are wrong. */
function leaveOutWhoIsNoUser(run: SyncRun, accounts: ReadonlySet<string>, others: ReadonlySet<string>): void {
  const noUsers = accounts.intersection(new Set([...others, run.groupId]))
  const job = run.job.value
  run.job = { ...run.job, value: { ...job, unresolved: [...noUsers.union(new Set(job.unresolved))] } }
}

/** What earlier workers may have written although the group does not show it, to be doubted as recent writes are. */
function maybeWritten({ earlier }: SyncRun, atMs: number): RecentWrite[] {
  return [
    ...earlier.added.map((account): RecentWrite => ({ account, kind: 'added', atMs })),
    ...earlier.removed.map((account): RecentWrite => ({ account, kind: 'removed', atMs })),
  ]
}

/** @throws RunFault for a group that is gone or has become one that cannot be linked. */
export async function requireLinkable(run: SyncRun, deps: SyncDependencies): Promise<void> {
  const group = await readGroup(run, deps)
  if (group !== undefined) run.displayName = group.displayName
  const refusal = groupRefusal(group)
  if (refusal !== undefined) throw new RunFault(REFUSALS[refusal].message, { isPermanent: true })
}

/** One that is not found shortly after it was linked need not be gone: it was there then, and the directory's reads lag. */
async function readGroup(run: SyncRun, deps: SyncDependencies): Promise<DirectoryGroup | undefined> {
  const read = () => deps.directory.readGroup(run.tenantId, run.groupId)
  let group = await read()
  const isFresh = deps.nowMs() - Date.parse(run.link.createdAt) < SHOWN_EVERYWHERE_MS
  for (const delayMs of isFresh ? READ_AGAIN_AFTER_MS : []) {
    if (group !== undefined) return group
    await deps.sleep(delayMs)
    await requireHold(run, deps)
    group = await read()
  }
  return group
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

type Ahead = { readonly next: SyncStep | undefined; readonly inDoubt: ReadonlySet<string> }

/**
 * Writes a step that is written down as begun, and with its outcome writes down that the next one is.
 * @returns Whether the slice's time is up, so that the next step was not begun.
 */
async function takeStep(
  run: SyncRun,
  step: SyncStep,
  deadlineMs: number,
  { next, inDoubt }: Ahead,
  deps: SyncDependencies,
): Promise<boolean> {
  const { tenantId, groupId } = run
  const outcome = await writeStep({ tenantId, groupId, step, purpose: 'bulk', untilMs: run.lease.untilMs }, deps)
  const counted = withCounted(run, settledByAnswers(step, outcome, run.earlier, run.job.value.unconfirmed))
  const unresolved = [...new Set([...counted.unresolved, ...outcome.missing])]
  const isTimeUp = deps.nowMs() >= deadlineMs
  const kept: JobRecord = { ...counted, unresolved }
  const goesOn = !isTimeUp && outcome.fault === undefined && next !== undefined && !isHeldBack(kept, next)
  await saveJob(run, goesOn ? withBegun(kept, next, inDoubt) : kept, deps)
  if (unresolved.length > UNRESOLVED_AT_MOST_COUNT) requireAllResolved(run)
  if (outcome.fault !== undefined) throw outcome.fault
  // A group that is gone answers every removal with "not a member".
  if (step.kind === 'remove' && outcome.written.length === 0) await requireLinkable(run, deps)
  return isTimeUp
}

/** Nobody is removed while someone who should be in the group is not. */
function isHeldBack(job: JobRecord, step: SyncStep): boolean {
  return step.kind === 'remove' && job.unresolved.length > 0
}

function withBegun(job: JobRecord, step: SyncStep, inDoubt: ReadonlySet<string>): JobRecord {
  return { ...job, unconfirmed: begun(job.unconfirmed, step, inDoubt) }
}

/** A sync has not succeeded while someone who should be in the group is not. */
function requireAllResolved(run: SyncRun): void {
  const { unresolved } = run.job.value
  if (unresolved.length === 0) return
  const named = unresolved.slice(0, NAMED_AT_MOST_COUNT).join(', ')
  const more = unresolved.length > NAMED_AT_MOST_COUNT ? ` and ${unresolved.length - NAMED_AT_MOST_COUNT} more` : ''
  throw new RunFault(`The directory has no account ${named}${more}`, { isPermanent: false })
}
