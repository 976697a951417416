import type { SyncDependencies } from './sync-dependencies.ts'

/**
 * An incremental sync waits for a running job at most this long after the job's comparison or, if that is later, until
 * its first step is written, plus the delay of its message.
 */
const UNDISTURBED_MS = 15_000

/** How a job waits for its next batch: for how long, and whether other workers may write to the group meanwhile. */
export type Yield = { readonly delayMs: number; readonly releasesLease: boolean }

/** Pending incremental syncs are enqueued again within this time. */
export const YIELD_TO_CHANGES: Yield = { delayMs: 5_000, releasesLease: true }

/**
 * No session begins another step later, unless its batch is set to be longer. An invocation must end well before
 * `functionTimeout` in host.json, 10 min.
 */
const MAX_SESSION_MS = 8 * 60 * 1000

/**
 * How long a session may write. The time begins with the end of the comparison: otherwise a comparison that takes long
 * leaves none for the steps that it has found, and the next batch compares again.
 */
export class SessionTime {
  /** Before the accounts were read. */
  readonly startMs: number
  readonly #deps: Pick<SyncDependencies, 'batchMs' | 'nowMs'>
  #comparedMs: number
  #hasWritten = false

  constructor(deps: Pick<SyncDependencies, 'batchMs' | 'nowMs'>) {
    this.#deps = deps
    this.startMs = deps.nowMs()
    this.#comparedMs = this.startMs
  }

  /** The comparison has ended. */
  compared(): void {
    this.#comparedMs = this.#deps.nowMs()
  }

  get hasWritten(): boolean {
    return this.#hasWritten
  }

  /** A step was written. */
  wrote(): void {
    this.#hasWritten = true
  }

  /** Whether the rest is left to the next batch. */
  isUp(): boolean {
    const { batchMs, nowMs } = this.#deps
    const endMs = Math.min(this.#comparedMs + batchMs, this.startMs + Math.max(batchMs, MAX_SESSION_MS))
    return nowMs() >= endMs
  }

  /** Whether incremental syncs that wait for the session have waited long enough. */
  isUpForOthers(): boolean {
    return this.#hasWritten && this.#deps.nowMs() >= this.#comparedMs + UNDISTURBED_MS
  }
}
