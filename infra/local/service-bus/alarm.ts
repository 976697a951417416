/** Node takes a longer delay for 1 ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** One timer for the next due thing of all queues. It rings at or after the instant; whoever is rung sets it again. */
export class Alarm {
  readonly #nowMs: () => number
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined
  #instantMs = Number.POSITIVE_INFINITY

  constructor(nowMs: () => number, enqueue: () => void) {
    this.#nowMs = nowMs
    this.#ring = enqueue
  }

  /** Rings by this instant, or earlier when it was set to. */
  setFor(instantMs: number | undefined): void {
    if (instantMs === undefined || instantMs >= this.#instantMs) return
    this.stop()
    this.#instantMs = instantMs
    const delayMs = Math.min(Math.max(instantMs - this.#nowMs(), 1), LONGEST_DELAY_MS)
    this.#timer = setTimeout(() => {
      this.#instantMs = Number.POSITIVE_INFINITY
      this.#ring()
    }, delayMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#instantMs = Number.POSITIVE_INFINITY
  }
}
