/** Node.js treats a longer delay as 1 ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** A timer for the next due event of all queues. It fires at or after the instant. The callback sets it again. */
export class Alarm {
  readonly #nowMs: () => number
  readonly #onDue: () => void
  #timer: NodeJS.Timeout | undefined
  #instantMs = Number.POSITIVE_INFINITY

  constructor(nowMs: () => number, onDue: () => void) {
    this.#nowMs = nowMs
    this.#onDue = onDue
  }

  /** Fires at this instant, or earlier if it was set to an earlier one. */
  setFor(instantMs: number | undefined): void {
    if (instantMs === undefined || instantMs >= this.#instantMs) return
    this.stop()
    this.#instantMs = instantMs
    const delayMs = Math.min(Math.max(instantMs - this.#nowMs(), 1), LONGEST_DELAY_MS)
    this.#timer = setTimeout(() => {
      this.#instantMs = Number.POSITIVE_INFINITY
      this.#onDue()
    }, delayMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#instantMs = Number.POSITIVE_INFINITY
  }
}
