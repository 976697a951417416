import type { GroupMembers, WriteOutcome } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { openAccounts, type RemovalOutcomes } from '../group-links/removal-window.ts'
import type { BatchPlan, Progress, SyncStep } from './plan-sync.ts'
import { withRecordedWrites, withUnseen } from './recorded-writes.ts'
import { outcomesOfStep } from './removal-guard.ts'

const NO_OUTCOMES: RemovalOutcomes = { removed: [], notRemoved: [] }

/** Additions that no read of the group has shown yet. */
type UnverifiedAdditions = {
  /** By this worker since it read the group. */
  readonly added: ReadonlySet<string>
  /** Accounts that the directory said are members already, although the read did not show them. */
  readonly unchanged: ReadonlySet<string>
  /** By this worker and those before it. */
  readonly own: ReadonlySet<string>
}

/**
 * What one worker has read of a group and written to it. It is recorded with the link whenever the worker changes the
 * link.
 */
export class GroupRecord {
  readonly #added: string[] = []
  readonly #removed: string[] = []
  /** Removals that an earlier worker has started, with unknown outcome. */
  readonly #openBefore: ReadonlySet<string>
  /** Outcomes of open removals that are not saved with the link yet. */
  #removalOutcomes: RemovalOutcomes = NO_OUTCOMES
  #addedSinceRead: string[] = []
  #unchangedSinceRead: string[] = []
  /** Accounts in the collection that turned out not to be users. */
  #notUsers: readonly string[]
  /** Added accounts that no read of the group has shown yet. */
  #unseenAdditions: readonly string[]
  /** Users in the group; undefined until it is read. */
  #userCount: number | undefined
  /** As read by this worker; undefined until then. */
  #displayName: string | null | undefined

  constructor({ removalWindow, unseenAdditions, notUsers }: GroupLink) {
    this.#openBefore = openAccounts(removalWindow)
    this.#unseenAdditions = unseenAdditions
    this.#notUsers = notUsers
  }

  /** The name of the group was read. */
  readName(displayName: string | null): void {
    this.#displayName = displayName
  }

  /** All members were read. An addition that turned out not to be a user stays until it is taken out. */
  readMembers({ users }: GroupMembers): void {
    this.#addedSinceRead = []
    this.#unchangedSinceRead = []
    this.#unseenAdditions = this.#unseenAdditions.filter((account) => !users.has(account))
  }

  /** A batch was planned from the members that were read last. */
  plan({ added, removed, removalOutcomes, userCount, notUsers, steps }: BatchPlan): void {
    this.#added.push(...added)
    this.#removed.push(...removed)
    this.#removalOutcomes = removalOutcomes
    this.#userCount = userCount
    this.#notUsers = notUsers
    // An earlier addition that no step concerns was removed again before a read showed it.
    const planned = new Set(steps.flatMap(({ accounts }) => accounts))
    this.#unseenAdditions = this.#unseenAdditions.filter((account) => planned.has(account))
  }

  /** A step was written. @param progress the writes that are known by it */
  write({ kind }: SyncStep, outcome: WriteOutcome, { added, removed }: Progress): void {
    const { written, unchanged } = outcome
    this.#added.push(...added)
    this.#removed.push(...removed)
    const outcomes = outcomesOfStep(kind, outcome, this.#openBefore)
    this.#removalOutcomes = {
      removed: [...this.#removalOutcomes.removed, ...outcomes.removed],
      notRemoved: [...this.#removalOutcomes.notRemoved, ...outcomes.notRemoved],
    }
    if (kind === 'add') {
      this.#addedSinceRead.push(...written)
      this.#unchangedSinceRead.push(...unchanged)
      this.#unseenAdditions = withUnseen(this.#unseenAdditions, written)
    } else this.#forget(outcome)
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

  get unverifiedAdditions(): UnverifiedAdditions {
    const added = new Set(this.#addedSinceRead)
    const own = new Set(this.#unseenAdditions).union(added)
    return { added, unchanged: new Set(this.#unchangedSinceRead), own }
  }

  /** Members turned out not to be users. @param addedCount of them were counted as users when they were added */
  exclude(notUsers: ReadonlySet<string>, addedCount: number): void {
    this.#notUsers = [...new Set([...this.#notUsers, ...notUsers])]
    this.#userCount = (this.#userCount ?? 0) - addedCount
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
        notUsers: this.#notUsers,
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
