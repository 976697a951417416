import type { OperationKind } from './handlers.ts'

/** Requests to throttle with 429. All specified members must match. */
export type Throttle = {
  /** Number of requests. Infinity: all until the throttle is removed. */
  readonly count: number
  readonly operation?: OperationKind
  readonly method?: string
  /** Matches the decoded path, `/dbs/d/colls/c/docs/id`. */
  readonly path?: RegExp
  /** Value of x-ms-retry-after-ms. Default 1. */
  readonly retryAfterMs?: number
}

type Request = { readonly operation: OperationKind; readonly method: string; readonly path: string }

export class Throttling {
  readonly #throttles = new Set<{ throttle: Throttle; leftCount: number }>()

  /** Adds a throttle. The returned function removes it. */
  add(throttle: Throttle): () => void {
    const active = { throttle, leftCount: throttle.count }
    this.#throttles.add(active)
    return () => this.#throttles.delete(active)
  }

  /**
   * Counts the request against the first matching throttle. Returns the delay in milliseconds, or undefined to
   * continue.
   */
  delayMsOf(request: Request): number | undefined {
    for (const active of this.#throttles) {
      if (active.leftCount <= 0 || !matches(active.throttle, request)) continue
      active.leftCount--
      return active.throttle.retryAfterMs ?? 1
    }
    return undefined
  }
}

const matches = ({ operation, method, path }: Throttle, request: Request): boolean =>
  (operation ?? request.operation) === request.operation &&
  (method ?? request.method) === request.method &&
  (path === undefined || path.test(request.path))
