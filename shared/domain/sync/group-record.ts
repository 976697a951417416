import type { GroupMembers, WriteOutcome } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { openAccounts, type RemovalOutcomes, type RemovalWindow } from '../group-links/removal-window.ts'
import type { Progress } from './job-progress.ts'
import type { BatchPlan, SyncStep } from './plan-sync.ts'
import { withRecordedWrites, withUnseen } from './recorded-writes.ts'
import { outcomesOfStep } from './removal-guard.ts'

const NO_OUTCOMES: RemovalOutcomes = { removed: [], notRemoved: [] }

/** Accounts that are counted in one write of the link, so that its document stays small. */
const COUNTED_AT_ONCE_COUNT = 500

/**
 * What one worker has read of a group and written to it. It is recorded with the link whenever the worker changes the
 * link.
 */
export class GroupRecord {
  readonly #added: string[] = []
  readonly #removed: string[] = []
  /** Removals that an earlier worker has started, with unknown outcome. */
  readonly #openBefore: ReadonlySet<string>
  /** Removals that the plan allows, in the order of the steps. */
  #removals: readonly string[] = []
  /** Removals that this worker has counted and not sent. */
  #unsent: ReadonlySet<string> = new Set()
  /** Outcomes of open removals that are not saved with the link yet. */
  #removalOutcomes: RemovalOutcomes = NO_OUTCOMES
  /** Added accounts that no read of the group has shown yet. */
  #unseenAdditions: readonly string[]
  /** Users in the group; undefined until it is read. */
  #userCount: number | undefined
  /** As read by this worker; undefined until then. */
  #displayName: string | null | undefined

  constructor({ removalWindow, unseenAdditions }: GroupLink) {
    this.#openBefore = openAccounts(removalWindow)
    this.#unseenAdditions = unseenAdditions
  }

  /** The name of the group was read. */
  readName(displayName: string | null): void {
    this.#displayName = displayName
  }

  /** All members were read. An addition that turned out not to be a user stays until it is taken out. */
  readMembers({ users }: GroupMembers): void {
    this.#unseenAdditions = this.#unseenAdditions.filter((account) => !users.has(account))
  }

  /** A batch was planned from the members that were read last. */
  plan({ added, removed, removals, removalOutcomes, userCount, steps }: BatchPlan): void {
    this.#added.push(...added)
    this.#removed.push(...removed)
    this.#removals = removals
    this.#removalOutcomes = removalOutcomes
    this.#userCount = userCount
    // An earlier addition that no step concerns was removed again before a read showed it.
    const planned = new Set(steps.flatMap(({ accounts }) => accounts))
    this.#unseenAdditions = this.#unseenAdditions.filter((account) => planned.has(account))
  }

  /**
   * The removals to be counted before a step of removals is sent: its own and those that follow, so that one write of
   * the link counts many. None when its own are counted.
   */
  removalsToCount({ accounts }: SyncStep, window: RemovalWindow): readonly string[] {
    const open = openAccounts(window)
    if (accounts.every((account) => open.has(account))) return []
    const start = this.#removals.indexOf(accounts[0] ?? '')
    const next = this.#removals.slice(start, start + COUNTED_AT_ONCE_COUNT)
    const counted = next.filter((account) => !open.has(account))
    this.#unsent = this.#unsent.union(new Set(counted))
    return counted
  }

  /** From now on, the outcome of a step can be unknown. */
  send({ accounts }: SyncStep): void {
    this.#unsent = this.#unsent.difference(new Set(accounts))
  }

  /** No more steps are sent: removals that were counted for them do not count. */
  end(): void {
    const { removed, notRemoved } = this.#removalOutcomes
    this.#removalOutcomes = { removed, notRemoved: [...notRemoved, ...this.#unsent] }
    this.#unsent = new Set()
  }

  /** A step was written. @param progress the writes that are known by it */
  write({ kind }: SyncStep, outcome: WriteOutcome, { added, removed }: Progress): void {
    const { written } = outcome
    this.#added.push(...added)
    this.#removed.push(...removed)
    const outcomes = outcomesOfStep(kind, outcome, this.#openBefore)
    this.#removalOutcomes = {
      removed: [...this.#removalOutcomes.removed, ...outcomes.removed],
      notRemoved: [...this.#removalOutcomes.notRemoved, ...outcomes.notRemoved],
    }
    if (kind === 'add') this.#unseenAdditions = withUnseen(this.#unseenAdditions, written)
    else this.#forget(outcome)
    this.#userCount = (this.#userCount ?? 0) + (kind === 'add' ? written.length : -written.length)
  }

  /** A step was written that takes accounts that are not users out again. */
  undo(outcome: WriteOutcome): void {
    this.#removed.push(...outcome.written)
    this.#forget(outcome)
  }

  #forget({ written, unchanged }: WriteOutcome): void {
    this.#unseenAdditions = withUnseen(this.#unseenAdditions, [], [...written, ...unchanged])
  }

  /** The link with all of this recorded. Recording it again has no effect. */
  recordedWith(before: GroupLink, nowMs: number): GroupLink {
    const link = withRecordedWrites(
      before,
      {
        added: this.#added,
        removed: this.#removed,
        removalOutcomes: this.#removalOutcomes,
        userCount: this.#userCount ?? before.userCount,
        unseenAdditions: this.#unseenAdditions,
      },
      nowMs,
    )
    return this.#displayName === undefined ? link : { ...link, directoryGroupDisplayName: this.#displayName }
  }

  /** The link was saved with the record. */
  saved(): void {
    this.#removalOutcomes = NO_OUTCOMES
  }
}
