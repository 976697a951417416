/** One Graph request as served. Decisions, section 9. */
export type RequestRecord = {
  readonly method: string
  /** With `/v1.0`, without the query. */
  readonly path: string
  readonly query?: string
  /** Null when the token was refused. */
  readonly tenantId: string | null
  /** 0 for a connection that was dropped. */
  readonly status: number
  /** A DELETE of a member without `/$ref`: its address is the member's own, so it deletes the user. */
  readonly deletesMember?: true
  /** The items of a batch, in the order asked. */
  readonly batch?: readonly RequestRecord[]
}

/** Older records are forgotten. */
const KEPT_COUNT = 50_000

export type RequestLog = {
  add(record: RequestRecord): void
  all(): readonly RequestRecord[]
  clear(): void
}

/** Keeps the latest requests alone: a benchmark sends very many. */
export function requestLog(): RequestLog {
  let records: RequestRecord[] = []
  return {
    add(record) {
      records.push(record)
      if (records.length > 2 * KEPT_COUNT) records = records.slice(-KEPT_COUNT)
    },
    all: () => records.slice(-KEPT_COUNT),
    clear: () => void records.splice(0),
  }
}

/** A request as the log keeps it: without headers, so without tokens. */
export function requestRecord(
  request: { readonly method: string; readonly path: string; readonly query: URLSearchParams },
  tenantId: string | null,
  status: number,
  batch?: readonly RequestRecord[],
): RequestRecord {
  const { method, path } = request
  const query = decodeURIComponent(request.query.toString().replaceAll('+', ' '))
  const deletesMember = method === 'DELETE' && /^\/v1\.0\/groups\/[^/]+\/members\/[^/$][^/]*\/?$/.test(path)
  return {
    method,
    path,
    ...(query === '' ? {} : { query }),
    tenantId,
    status,
    ...(deletesMember ? { deletesMember } : {}),
    ...(batch === undefined ? {} : { batch }),
  }
}
