import type { OperationKind } from './handlers.ts'

/** Requests to throttle with 429. */
export type Throttle = {
  /** Number of requests. Infinity: all until the throttle is removed. */
  readonly count: number
  readonly operation: OperationKind
}

export class Throttling {
  readonly #throttles = new Set<{ readonly operation: OperationKind; leftCount: number }>()

  /** Adds a throttle. The returned function removes it. */
  add({ operation, count }: Throttle): () => void {
    const active = { operation, leftCount: count }
    this.#throttles.add(active)
    return () => this.#throttles.delete(active)
  }

  /** Counts a request against the first matching throttle. Returns whether there is one. */
  takes(operation: OperationKind): boolean {
    const active = [...this.#throttles].find((each) => each.leftCount > 0 && each.operation === operation)
    if (active !== undefined) active.leftCount -= 1
    return active !== undefined
  }
}
