/**
 * Orders concurrent actions on the same people and collections, so that the model knows the order of their effects. An
 * action on everything runs alone.
 */
export class ActionLocks {
  readonly #held = new Set<string>()
  #runningCount = 0
  #waitingForAll = 0
  #isAllHeld = false
  #changed = Promise.withResolvers<void>()

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    while (this.#isAllHeld || this.#waitingForAll > 0 || keys.some((key) => this.#held.has(key))) {
      await this.#changed.promise
    }
    for (const key of keys) this.#held.add(key)
    this.#runningCount += 1
    try {
      return await work()
    } finally {
      this.#runningCount -= 1
      for (const key of keys) this.#held.delete(key)
      this.#notify()
    }
  }

  async runAlone<T>(work: () => Promise<T>): Promise<T> {
    this.#waitingForAll += 1
    while (this.#isAllHeld || this.#runningCount > 0) await this.#changed.promise
    this.#waitingForAll -= 1
    this.#isAllHeld = true
    try {
      return await work()
    } finally {
      this.#isAllHeld = false
      this.#notify()
    }
  }

  #notify(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}
