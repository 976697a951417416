/** A session that a receiver holds. */
export type SessionLock = { readonly sessionId: string; untilMs: number }

/** The held sessions of a queue. In memory only: a restart ends all locks. */
export class SessionLocks {
  readonly #durationMs: number
  readonly #byId = new Map<string, SessionLock>()

  constructor(durationMs: number) {
    this.#durationMs = durationMs
  }

  /** Ends the locks that are due. */
  expire(nowMs: number): void {
    for (const lock of this.#byId.values()) if (lock.untilMs <= nowMs) this.release(lock)
  }

  /** The lock of a session. Undefined for a free session. */
  find(sessionId: string): SessionLock | undefined {
    return this.#byId.get(sessionId)
  }

  hold(sessionId: string, nowMs: number): SessionLock {
    const lock = { sessionId, untilMs: nowMs + this.#durationMs }
    this.#byId.set(sessionId, lock)
    return lock
  }

  renew(lock: SessionLock, nowMs: number): void {
    lock.untilMs = nowMs + this.#durationMs
  }

  release({ sessionId }: SessionLock): void {
    this.#byId.delete(sessionId)
  }

  /** The end of the lock that expires first. Infinite without locks. */
  nextInstantMs(): number {
    return Math.min(...this.#byId.values().map(({ untilMs }) => untilMs))
  }

  /** Moves all instants `durationMs` into the past. */
  shift(durationMs: number): void {
    for (const lock of this.#byId.values()) lock.untilMs -= durationMs
  }
}
