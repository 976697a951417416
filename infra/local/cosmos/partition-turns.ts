/**
 * Runs work in turns between partitions: requests of one partition do not wait for all that was sent to another one
 * before. In the cloud, partitions do not share a thread.
 */
export class PartitionTurns {
  readonly #waiting = new Map<string, (() => void)[]>()
  /** The partition of the last turn. It waits for one that sent its request during that turn. */
  #last: string | undefined

  /** Runs the work after other work of the partition that waits. */
  run<Result>(partition: string, work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) setImmediate(() => this.#runNext())
      const waiting = this.#waiting.get(partition) ?? []
      this.#waiting.set(partition, waiting)
      waiting.push(() => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #runNext(): void {
    const [first, second] = this.#waiting
    const next = first?.[0] === this.#last ? (second ?? first) : first
    if (next === undefined) return
    const [partition, [work, ...others]] = next
    this.#last = partition
    this.#waiting.delete(partition)
    if (others.length > 0) this.#waiting.set(partition, others)
    // The requests that arrive in between take part in the next turn.
    if (this.#waiting.size > 0) setImmediate(() => this.#runNext())
    work?.()
  }
}
