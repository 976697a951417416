import type { OperationKind } from './operation.ts'

/** Requests that are to be answered 429. Every member that is given has to match. */
export type Throttle = {
  /** How many; Infinity for all until the throttle is lifted. */
  readonly count: number
  readonly operation?: OperationKind
  readonly method?: string
  /** Tested against the decoded path, `/dbs/d/colls/c/docs/id`. */
  readonly path?: RegExp
  /** What the answer's x-ms-retry-after-ms says: 1 unless given. */
  readonly retryAfterMs?: number
}

type Request = { readonly operation: OperationKind; readonly method: string; readonly path: string }

/** The throttles in force. */
export class Throttling {
  readonly #throttles = new Set<{ throttle: Throttle; leftCount: number }>()

  /** Puts a throttle in force; the function given back lifts it. */
  add(throttle: Throttle): () => void {
    const active = { throttle, leftCount: throttle.count }
    this.#throttles.add(active)
    return () => this.#throttles.delete(active)
  }

  /** Counts the request against the first throttle it matches. Milliseconds to wait, or undefined to go ahead. */
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
