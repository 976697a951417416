/** A computation in small steps: each `next` runs one, of much less than a slice. */
export type Task<T> = Generator<undefined, T, undefined>

/** Runs the task at once. For small tasks, or where blocking does no harm. */
export function runToCompletion<T>(task: Task<T>): T {
  for (;;) {
    const step = task.next()
    if (step.done === true) return step.value
  }
}

/** Maps each entry to a list, one entry in each step, and joins the lists. */
export function* flatMapTask<T, Result>(all: Iterable<T>, map: (entry: T) => readonly Result[]): Task<Result[]> {
  const results: Result[] = []
  for (const entry of all) {
    yield
    results.push(...map(entry))
  }
  return results
}

/** Milliseconds of computation per round of the event loop. A request waits for two rounds at least. */
const SLICE_MS = 5

/**
 * Yields to the event loop during long computations. All tasks together get one slice per round of the event loop,
 * however many there are. A task that fits into the rest of a slice does not wait.
 */
export class CooperativeScheduler {
  readonly #elapsedMs: () => number
  readonly #waiting: (() => void)[] = []
  #isOpen = false
  #endsMs = 0

  /** @param elapsedMs A monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** Runs the task, slice by slice. */
  async run<T>(task: Task<T>): Promise<T> {
    for (;;) {
      if (this.#isOpen && (this.#waiting.length > 0 || this.#elapsedMs() >= this.#endsMs)) await this.#nextSlice()
      else if (!this.#isOpen) this.#open()
      do {
        const step = task.next()
        if (step.done === true) return step.value
      } while (this.#elapsedMs() < this.#endsMs)
    }
  }

  #nextSlice(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #open(): void {
    this.#isOpen = true
    this.#endsMs = this.#elapsedMs() + SLICE_MS
    setImmediate(() => this.#close())
  }

  /** Runs after the event loop has handled all other events. */
  #close(): void {
    this.#isOpen = false
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#open()
    next()
  }
}
