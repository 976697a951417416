import { answered, errorBody, type GraphAnswer, type GraphCaller, type GraphRequest } from './exchange.ts'
import type { GraphRoute } from './routes.ts'

/** Per application and tenant. https://learn.microsoft.com/graph/throttling-limits */
export type Quotas = {
  /** By number of users: up to 50, up to 500, above. */
  readonly unitsPer10S: readonly [small: number, medium: number, large: number]
  readonly writesPer150S: number
  /** Members per write in a PATCH. The documentation has no limit; public reports indicate 3. */
  readonly membersPerWrite: number
}

export const DOCUMENTED_QUOTAS: Quotas = {
  unitsPer10S: [3500, 5000, 8000],
  writesPer150S: 3000,
  membersPerWrite: Number.POSITIVE_INFINITY,
}

/** Share of a quota from which responses contain its use. */
const WARNED_FROM = 0.8
const UNITS_WINDOW_MS = 10_000
const WRITES_WINDOW_MS = 150_000

export type Cost = { readonly units: number; readonly writes: number }

type Bucket = { used: number; limit: number; startMs: number; readonly windowMs: number }
type Buckets = { readonly units: Bucket; readonly writes: Bucket }

export type Throttle = {
  /** Charges the cost. Returns a 429 response if a quota is exceeded, otherwise the headers of the response. */
  take(caller: GraphCaller, cost: Cost): { refusal: GraphAnswer } | { headers: Record<string, string> }
}

/** Counts requests by application and tenant, and rejects those beyond the quotas with 429. */
export function throttle(quotas: Quotas, userCount: (tenantId: string) => number, nowMs: () => number): Throttle {
  const all = new Map<string, Buckets>()

  function bucketsOf(caller: GraphCaller): Buckets {
    const name = `${caller.clientId} ${caller.tenantId}`
    let buckets = all.get(name)
    if (buckets === undefined) {
      buckets = {
        units: { used: 0, limit: 0, startMs: Number.NEGATIVE_INFINITY, windowMs: UNITS_WINDOW_MS },
        writes: { used: 0, limit: quotas.writesPer150S, startMs: Number.NEGATIVE_INFINITY, windowMs: WRITES_WINDOW_MS },
      }
      all.set(name, buckets)
    }
    if (renewed(buckets.units, nowMs())) buckets.units.limit = unitsLimit(quotas, userCount(caller.tenantId))
    renewed(buckets.writes, nowMs())
    return buckets
  }

  return {
    take(caller, cost) {
      const { units, writes } = bucketsOf(caller)
      // Throttled requests count, too.
      units.used += cost.units
      writes.used += cost.writes
      const full = units.used > units.limit ? units : cost.writes > 0 && writes.used > writes.limit ? writes : undefined
      if (full !== undefined) {
        const information = full === writes ? 'WriteLimitExceeded' : 'ResourceUnitLimitExceeded'
        return { refusal: tooMany(full, information, caller, cost, nowMs()) }
      }
      const share = Math.max(units.used / units.limit, cost.writes > 0 ? writes.used / writes.limit : 0)
      const warning = share < WARNED_FROM ? {} : { 'x-ms-throttle-limit-percentage': share.toFixed(2) }
      return { headers: { 'x-ms-resource-unit': String(cost.units), ...warning } }
    },
  }
}

function renewed(bucket: Bucket, nowMs: number): boolean {
  if (nowMs < bucket.startMs + bucket.windowMs) return false
  bucket.startMs = nowMs
  bucket.used = 0
  return true
}

function unitsLimit({ unitsPer10S: [small, medium, large] }: Quotas, userCount: number): number {
  if (userCount < 50) return small
  return userCount <= 500 ? medium : large
}

function tooMany(full: Bucket, information: string, caller: GraphCaller, cost: Cost, nowMs: number): GraphAnswer {
  const body = errorBody('TooManyRequests', 'Please retry again later.', nowMs, {
    code: 'TooManyRequests',
    status: '429',
  })
  return {
    ...answered(429, body),
    headers: {
      'retry-after': String(Math.max(1, Math.ceil((full.startMs + full.windowMs - nowMs) / 1000))),
      'x-ms-resource-unit': String(cost.units),
      'x-ms-throttle-scope': `Tenant_Application/ReadWrite/${caller.clientId}/${caller.tenantId}`,
      'x-ms-throttle-information': information,
    },
  }
}

/** Cost of a request: `$select` and a `$top` below 20 reduce it by one unit each, to a minimum of one. */
export function costOf(
  { method, units, isRead = false }: Pick<GraphRoute, 'method' | 'units' | 'isRead'>,
  { query, body }: Pick<GraphRequest, 'query' | 'body'>,
  quotas: Quotas,
): Cost {
  const top = query.get('$top')
  const reductions = (query.has('$select') ? 1 : 0) + (top !== null && Number(top) < 20 ? 1 : 0)
  if (isRead || method === 'GET') return { units: Math.max(1, units - reductions), writes: 0 }
  const bound = (body as { 'members@odata.bind'?: unknown } | null | undefined)?.['members@odata.bind']
  const memberCount = Array.isArray(bound) ? bound.length : 1
  return { units, writes: Math.max(1, Math.ceil(memberCount / quotas.membersPerWrite)) }
}
