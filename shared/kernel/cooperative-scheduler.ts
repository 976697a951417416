/** Work in small pieces: each `next` does one, of well below a slice. */
export type Task<T> = Generator<undefined, T, undefined>

/** Does all of the work at once. For what is known to be small, or has nobody waiting. */
export function runToCompletion<T>(steps: Task<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Milliseconds of such work between two looks at what else there is to do. */
const SLICE_MS = 10

/**
 * Lets long computations and everything else share the one thread. All work that goes through here takes turns, one slice
 * to a round of the event loop, however many computations there are; what fits into the rest of a slice does not wait.
 */
export class CooperativeScheduler {
  readonly #elapsedMs: () => number
  readonly #waiting: (() => void)[] = []
  #isOpen = false
  #endsMs = 0

  /** @param elapsedMs a clock that never jumps, from any beginning. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** Does the work, slice by slice. */
  async run<T>(steps: Task<T>): Promise<T> {
    for (;;) {
      if (this.#isOpen && (this.#waiting.length > 0 || this.#elapsedMs() >= this.#endsMs)) await this.#turn()
      else if (!this.#isOpen) this.#open()
      do {
        const step = steps.next()
        if (step.done === true) return step.value
      } while (this.#elapsedMs() < this.#endsMs)
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #open(): void {
    this.#isOpen = true
    this.#endsMs = this.#elapsedMs() + SLICE_MS
    setImmediate(() => this.#close())
  }

  /** Comes round after the event loop has seen to everything else. */
  #close(): void {
    this.#isOpen = false
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#open()
    next()
  }
}
