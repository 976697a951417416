import type { Versioned } from '../../kernel/versioned.ts'
import type { AcceptedMembers } from '../group-links/collection-accounts.ts'
import type { DirectoryFault, WriteOutcome } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { type ClaimDecision, yielded } from '../group-links/job-transitions.ts'
import { rejectedAccounts, rejectionOf } from '../group-links/removal-rejection.ts'
import { withOpenRemovals } from '../group-links/removal-window.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { countUnaccepted, NO_ACCEPTED } from './accepted-members.ts'
import { progressOfStep } from './job-progress.ts'
import { type BatchPlan, type BatchState, isRemoval, planBatch, type SyncStep, stepsOf } from './plan-sync.ts'
import { completeRun, failRun } from './run-end.ts'
import { unresolvedFault } from './run-failure.ts'
import { approvedAccounts, verifyOwnership } from './run-requirements.ts'
import { SessionAccounts } from './session-accounts.ts'
import { SessionGroup } from './session-group.ts'
import { SessionJob } from './session-job.ts'
import { SessionLink } from './session-link.ts'
import { SessionTime, YIELD_TO_CHANGES, type Yield } from './session-time.ts'
import type { SyncDependencies } from './sync-dependencies.ts'
import { reserveForJob, writeStep } from './write-budget.ts'

/**
 * One worker's batch of a job, from its start until it yields or the run ends. The session owns all state of the batch:
 * the lease, the job's progress, and the record of the group. Other code passes values to it and receives values from
 * it.
 */
export class SyncSession {
  readonly #deps: SyncDependencies
  readonly #time: SessionTime
  readonly #accountsChangedAtMs: number | null
  readonly #accounts: SessionAccounts
  readonly #group: SessionGroup
  readonly #link: SessionLink
  readonly #job: SessionJob
  /** Members that the link accepts without an account. */
  #accepted: AcceptedMembers = NO_ACCEPTED
  /** When the held removals had been rejected, as of the comparison. */
  #rejectedAt: string | undefined
  /** Why single accounts were not written. The run fails after the others are written. */
  #accountFault: DirectoryFault | undefined

  private constructor(link: SessionLink, job: SessionJob, time: SessionTime, deps: SyncDependencies) {
    this.#deps = deps
    this.#time = time
    this.#accountsChangedAtMs = link.value.accountsChangedAtMs
    this.#link = link
    this.#job = job
    this.#accounts = new SessionAccounts(deps)
    this.#group = new SessionGroup(link, deps)
  }

  /**
   * Acquires the lease and saves the job as started.
   * @throws Refusal, LeaseLost after a conflict; nothing is acquired then.
   */
  static async start(
    { lease, job }: Extract<ClaimDecision, { outcome: 'run' }>,
    jobVersion: string,
    link: Versioned<GroupLink>,
    deps: SyncDependencies,
  ): Promise<SyncSession> {
    const leased = await SessionLink.acquire(link, lease, deps)
    const time = new SessionTime(deps)
    try {
      return new SyncSession(leased, await SessionJob.start(job, jobVersion, deps), time, deps)
    } catch (error) {
      await leased.change((current) => ({ ...current, lease: null }))
      throw error
    }
  }

  /**
   * Reads the collection's accounts and the group's members and plans the batch.
   * @throws RunFault, LeaseLost, DirectoryFault, Refusal `LinkNotFound`.
   */
  async compare(): Promise<BatchPlan> {
    const { directory, nowMs } = this.#deps
    await this.#link.assertLease()
    await this.#group.verify()
    await verifyOwnership(this.#link.value, this.#link.settings, this.#deps)
    const desired = await this.#accounts.read(this.#link.value)
    const members = await this.#group.readMembers()
    const { value: link, settings } = this.#link
    const approved = await approvedAccounts(this.#job.value, link, this.#deps)
    const rejected = await rejectedAccounts(link, this.#deps)
    this.#rejectedAt = rejectionOf(link.heldRemovals)?.rejectedAt
    const state: BatchState = { job: this.#job.value, link, guard: settings.removalGuard, approved, rejected }
    const plan = planBatch(desired, members, state, { limits: directory.limits, nowMs: nowMs() })
    this.#accepted = plan.accepted
    this.#group.record.plan(plan)
    this.#job.plan(plan)
    this.#time.compared()
    return plan
  }

  /**
   * Asks the directory which of the accounts to add are users: nothing else is added, not for a moment.
   * @returns The steps that add the users, or how to yield when there are none and the time is up. The other accounts
   *   are unresolved.
   * @throws as `compare`.
   */
  async verifyAdditions(steps: readonly SyncStep[]): Promise<readonly SyncStep[] | Yield> {
    const { directory } = this.#deps
    await this.#link.keepLease()
    const accounts = steps.flatMap((step) => step.accounts)
    const users = await directory.usersAmong(this.#link.value.tenantId, accounts)
    const others = accounts.filter((account) => !users.has(account))
    if (others.length === 0) return steps
    const job = this.#job.value
    const unresolved = [...new Set([...job.unresolved, ...others])]
    const newly = unresolved.slice(job.unresolved.length)
    this.#job.change({ unresolved, skipped: job.skipped + countUnaccepted(newly, this.#accepted) })
    if (users.size === 0 && this.#time.isUp()) return { delayMs: 0, releasesLease: false }
    return stepsOf({ add: [...users], remove: [] }, directory.limits)
  }

  /**
   * Writes one step and saves its outcome, without removals that are deferred, or not due any more.
   * @param next the step that follows. It is journaled in the same write.
   * @returns Undefined to continue with the next step; otherwise the session has to yield.
   * @throws RunFault, LeaseLost, DirectoryFault, Refusal `LinkNotFound`.
   */
  async apply(step: SyncStep, next: SyncStep | undefined): Promise<Yield | undefined> {
    if (isDeferred(this.#job.value, step)) return undefined
    await this.#link.assertLease()
    const { tenantId, changesPending } = this.#link.value
    if (changesPending && this.#time.isUpForOthers()) return YIELD_TO_CHANGES
    const waitMs = await reserveForJob(tenantId, step.writeCount, this.#deps, () => this.#link.assertLease())
    if (waitMs > 0) return { delayMs: waitMs, releasesLease: true }
    const due = isRemoval(step) ? await this.#stillDue(step) : step
    if (due === undefined) return { delayMs: 0, releasesLease: false }
    if (due.accounts.length === 0) return undefined
    if (isRemoval(due)) await this.#countRemovals(due)
    await this.#job.journal(due)
    return this.#write(due, next)
  }

  /** @returns Undefined when the next batch must compare again, also because a person has rejected removals since. */
  async #stillDue(step: SyncStep): Promise<SyncStep | undefined> {
    const link = this.#link.value
    if (rejectionOf(link.heldRemovals)?.rejectedAt !== this.#rejectedAt) return undefined
    return this.#accounts.stillDue(step, link)
  }

  /** No crash leaves a removal that is not counted. */
  async #countRemovals(step: SyncStep): Promise<void> {
    const counted = this.#group.record.removalsToCount(step, this.#link.value.removalWindow)
    if (counted.length === 0) return
    const size = this.#job.value.userCountAtStart ?? 0
    await this.#group.changeLink(({ removalWindow }) => ({
      removalWindow: withOpenRemovals(removalWindow, counted, size),
    }))
  }

  async #write(step: SyncStep, next: SyncStep | undefined): Promise<Yield | undefined> {
    const { tenantId, directoryGroupId: groupId, unresolved } = this.#link.value
    const write = { tenantId, groupId, step, deadlineMs: this.#link.lease.expiresAtMs, unresolved } as const
    this.#group.record.send(step)
    const outcome = await writeStep(write, this.#deps)
    const job = this.#afterStep(step, outcome)
    this.#time.wrote()
    const isTimeUp = this.#time.isUp()
    const continues = !isTimeUp && outcome.fault === undefined && next !== undefined && !isDeferred(job, next)
    await this.#job.save(job, continues ? next : undefined)
    if (outcome.fault !== undefined) throw outcome.fault
    this.#accountFault ??= outcome.accountFault
    // The directory answers every removal from a deleted group with "not a member".
    if (step.kind === 'remove' && outcome.written.length === 0) await this.#group.verify()
    return isTimeUp && next !== undefined ? { delayMs: 0, releasesLease: false } : undefined
  }

  /** @returns The job to be saved. */
  #afterStep(step: SyncStep, outcome: WriteOutcome): SyncJob {
    const job = this.#job.value
    if (step.undoesAdditions === true) {
      this.#group.record.undo(outcome)
      return job
    }
    const progress = progressOfStep(job, step, outcome, this.#job.earlier, this.#accepted)
    this.#group.record.write(step, outcome, progress)
    this.#job.wrote(progress)
    return progress.job
  }

  /**
   * Ends the batch.
   * @returns The saved job.
   * @throws LeaseLost, Refusal `LinkNotFound`, RunFault or DirectoryFault when the next batch would try the same accounts as
   *   this one.
   */
  async yield({ delayMs, releasesLease }: Yield): Promise<SyncJob> {
    if (this.#isStuck()) throw unresolvedFault(this.#job.value)
    if (!this.#job.hasWritten) this.throwAccountFault()
    const nowMs = this.#deps.nowMs()
    const lease = releasesLease ? null : { ...this.#link.lease, expiresAtMs: nowMs + this.#deps.leaseMs }
    await this.#job.save(yielded(this.#job.value, nowMs + delayMs))
    this.#group.record.end()
    await this.#group.changeLink(() => ({ lease, changesPending: false }))
    return this.#job.value
  }

  /** Whether the batch has added no one, and found more unresolved accounts than the next one would know. */
  #isStuck(): boolean {
    const hasTried = this.#time.hasWritten || this.#time.isUp()
    return hasTried && this.#job.hasTooManyUnresolved && !this.#job.hasAdded
  }

  /** @throws DirectoryFault when single accounts could not be written. */
  throwAccountFault(): void {
    if (this.#accountFault !== undefined) throw this.#accountFault
  }

  /**
   * Ends the run successfully.
   * @returns The saved job.
   * @throws LeaseLost, RunFault after too many unresolved accounts, DirectoryFault after one of single accounts.
   */
  async complete(plan: BatchPlan): Promise<SyncJob> {
    this.throwAccountFault()
    if (this.#job.hasTooManyUnresolved) throw unresolvedFault(this.#job.value)
    const compared = {
      startMs: this.#time.startMs,
      accountsChangedAtMs: this.#accountsChangedAtMs,
      rejectedAt: this.#rejectedAt,
    }
    return completeRun(plan, compared, this.#parts, this.#deps)
  }

  /**
   * Ends the run with a failure: the job is queued for a retry, or fails.
   * @returns The saved job.
   * @throws LeaseLost.
   */
  async fail(error: unknown): Promise<SyncJob> {
    return failRun(error, this.#parts, this.#deps)
  }

  get #parts() {
    return { link: this.#link, job: this.#job, group: this.#group }
  }
}

/** No member is removed while an account that belongs in the group cannot be added. */
function isDeferred({ skipped }: SyncJob, step: SyncStep): boolean {
  return isRemoval(step) && skipped > 0
}
