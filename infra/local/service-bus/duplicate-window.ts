/** Remembers message ids for the duplicate detection window. In memory only: a restart clears it. */
export class DuplicateWindow {
  readonly #windowMs: number
  /** Expiry of each id, in ascending order because the window is constant. */
  readonly #untilMs = new Map<string, number>()

  /** @param windowMs 0 disables duplicate detection */
  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Whether the id was seen within the window. Records a new id. */
  hasSeen(id: string, nowMs: number): boolean {
    if (this.#windowMs === 0) return false
    for (const [oldest, untilMs] of this.#untilMs) {
      if (untilMs > nowMs) break
      this.#untilMs.delete(oldest)
    }
    if (this.#untilMs.has(id)) return true
    this.#untilMs.set(id, nowMs + this.#windowMs)
    return false
  }

  /** Moves all instants `durationMs` into the past. */
  shift(durationMs: number): void {
    for (const [id, untilMs] of this.#untilMs) this.#untilMs.set(id, untilMs - durationMs)
  }
}
