/** Remembers ids for a while. Kept in memory only: after a restart nothing has been seen. */
export class DuplicateWindow {
  readonly #windowMs: number
  /** When each id is forgotten; in that order, as the window is the same for all. */
  readonly #untilMs = new Map<string, number>()

  /** @param windowMs 0 finds no duplicates at all */
  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Whether the id was seen within the window; from the first time on it counts as seen. */
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

  /** Moves every instant `durationMs` into the past. */
  shift(durationMs: number): void {
    for (const [id, untilMs] of this.#untilMs) this.#untilMs.set(id, untilMs - durationMs)
  }
}
