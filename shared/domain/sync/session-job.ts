import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { JobChanges } from '../group-links/job-changes.ts'
import { LeaseLost } from '../group-links/link-lease.ts'
import type { SyncJob, WriteJournal } from '../group-links/sync-job.ts'
import { journaled, type Progress } from './job-progress.ts'
import type { BatchPlan, SyncStep } from './plan-sync.ts'
import type { SyncDependencies } from './sync-dependencies.ts'

/** Unknown or refused accounts that a job stores, so that its document stays small. A run that finds more fails. */
const MAX_UNRESOLVED_COUNT = 1000

type JobDependencies = Pick<SyncDependencies, 'jobs' | 'nowMs'>

/** The job of a session, as this worker last saved it, with what is saved next, and its journal of writes. */
export class SessionJob {
  readonly #jobs: SyncDependencies['jobs']
  #value: SyncJob
  #version: string
  /** Writes of earlier workers that are still open after this session's read of the group. */
  #earlier: WriteJournal
  #uncertain: ReadonlySet<string> = new Set()
  #journaledStep: SyncStep | undefined
  /** What the job had added and removed when the batch was planned. */
  #addedBeforeCount = 0
  #removedBeforeCount = 0
  /** Written accounts that are not saved yet. */
  #added: string[] = []
  #removed: string[] = []
  readonly #nowMs: () => number

  private constructor(job: Versioned<SyncJob>, { jobs, nowMs }: JobDependencies) {
    this.#jobs = jobs
    this.#nowMs = nowMs
    this.#value = job.value
    this.#version = job.version
    this.#earlier = job.value.journal
  }

  /** Saves the job as started. @throws Refusal `StaleVersion` when another worker has changed it. */
  static async start(job: SyncJob, version: string, deps: JobDependencies): Promise<SessionJob> {
    return new SessionJob(await deps.jobs.replace(job, version), deps)
  }

  get value(): SyncJob {
    return this.#value
  }

  /** Whether the run has found more unknown or refused accounts than are stored. */
  get hasTooManyUnresolved(): boolean {
    return this.#value.unresolved.length > MAX_UNRESOLVED_COUNT
  }

  /** Whether this session has added an account. */
  get hasAdded(): boolean {
    return this.#value.added > this.#addedBeforeCount
  }

  /** Whether this session has added or removed an account. */
  get hasWritten(): boolean {
    return this.hasAdded || this.#value.removed > this.#removedBeforeCount
  }

  get earlier(): WriteJournal {
    return this.#earlier
  }

  /** Takes over the plan. The job is saved with the next step, or with the end of the run. */
  plan({ job, earlier, uncertain, ...counted }: BatchPlan): void {
    this.#value = job
    this.#addedBeforeCount = job.added
    this.#removedBeforeCount = job.removed
    this.wrote(counted)
    this.#earlier = earlier
    this.#uncertain = uncertain
  }

  /** Accounts that the job's counts have gained. They are saved together with the counts. */
  wrote({ added, removed }: Pick<Progress, 'added' | 'removed'>): void {
    this.#added.push(...added)
    this.#removed.push(...removed)
  }

  /** Changes what is saved next. */
  change(changes: Partial<SyncJob>): void {
    this.#value = { ...this.#value, ...changes }
  }

  /** Saves the step as started, unless it is saved as such already. @throws LeaseLost as `save`. */
  async journal(step: SyncStep): Promise<void> {
    if (this.#journaledStep !== step) await this.save(this.#value, step)
  }

  #unsavedChanges(): JobChanges | undefined {
    if (this.#added.length + this.#removed.length === 0) return undefined
    return { added: this.#added, removed: this.#removed, atMs: this.#nowMs() }
  }

  /**
   * Saves the job, with `step` journaled as started. Unresolved accounts beyond the limit are not stored: this worker
   * keeps them, and the next one finds them again.
   * @throws LeaseLost when another worker has changed the job.
   */
  async save(job: SyncJob, step?: SyncStep): Promise<void> {
    const journal = step === undefined ? job.journal : journaled(job.journal, step, this.#uncertain)
    try {
      const changes = this.#unsavedChanges()
      const changeRecordCount = job.changeRecordCount + (changes === undefined ? 0 : 1)
      const { unresolved } = job
      const stored = unresolved.slice(0, MAX_UNRESOLVED_COUNT)
      const saved = { ...job, journal, changeRecordCount, unresolved: stored }
      const { value, version } = await this.#jobs.replace(saved, this.#version, changes)
      this.#value = { ...value, unresolved }
      this.#version = version
      this.#added = []
      this.#removed = []
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new LeaseLost(`Sync job ${job.id} was changed by another worker.`, { cause: error })
    }
    this.#journaledStep = step
  }
}
