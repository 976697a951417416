/** A processed Graph request. */
export type RequestRecord = {
  readonly method: string
  /** Path with `/v1.0`, without the query. */
  readonly path: string
  readonly query?: string
  /** Null if the token was rejected. */
  readonly tenantId: string | null
  /** 0 for a dropped connection. */
  readonly status: number
  /** A DELETE of a member without `/$ref`, which deletes the user. */
  readonly deletesMember?: true
  /** The items of a batch, in request order. */
  readonly batch?: readonly RequestRecord[]
}

/** A log record of a request, without headers and tokens. */
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
