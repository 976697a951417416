import { LRUCache } from 'lru-cache'
import { upToEntries } from '../kernel/cache-size.ts'
import type { Caller } from '../kernel/caller.ts'
import { Refusal } from '../kernel/refusals.ts'

export type AdmissionSettings = {
  /** Tenants that may use the service, in lower case. */
  readonly tenants: ReadonlySet<string> | 'any'
  /** Requests of one caller to this instance; 0: unlimited. */
  readonly requestsPerCallerPerMinute: number
  /** Requests of all callers of one tenant to this instance; 0: unlimited. */
  readonly requestsPerTenantPerMinute: number
}

/** Callers or tenants whose requests are counted. One that is evicted, the longest without a request, starts anew. */
const NAMES_COUNTED = 10_000

const MINUTE_MS = 60_000

/** Requests that a caller or tenant still has at a time, in milliseconds. */
type Bucket = { remaining: number; atMs: number }

/**
 * Token buckets of this instance by name. Each holds the requests of one minute and refills evenly.
 * @returns The function that returns a name's bucket at a time; undefined without a limit.
 */
function tokenBuckets(limit: number): (name: string, nowMs: number) => Bucket | undefined {
  const buckets = new LRUCache<string, Bucket>(upToEntries(NAMES_COUNTED))
  return (name, nowMs) => {
    if (limit === 0) return undefined
    const bucket = buckets.get(name) ?? { remaining: limit, atMs: nowMs }
    bucket.remaining = Math.min(limit, bucket.remaining + ((nowMs - bucket.atMs) * limit) / MINUTE_MS)
    bucket.atMs = nowMs
    buckets.set(name, bucket)
    return bucket
  }
}

/**
 * Returns the function that admits the caller of a verified token, or throws Refusal `TenantNotAllowed` or
 * `TooManyRequests`. A refused request uses up nothing.
 * @param elapsedMs Milliseconds since an arbitrary start.
 */
export function callerAdmission(
  { tenants, requestsPerCallerPerMinute, requestsPerTenantPerMinute }: AdmissionSettings,
  elapsedMs: () => number,
): (caller: Caller) => void {
  const ofCallers = tokenBuckets(requestsPerCallerPerMinute)
  const ofTenants = tokenBuckets(requestsPerTenantPerMinute)
  return ({ tenantId, objectId }) => {
    if (tenants !== 'any' && !tenants.has(tenantId)) {
      throw new Refusal('TenantNotAllowed', `The service is not available to tenant ${tenantId}`)
    }
    const nowMs = elapsedMs()
    const ofCaller = ofCallers(`${tenantId} ${objectId}`, nowMs)
    const ofTenant = ofTenants(tenantId, nowMs)
    requireRoom('caller', ofCaller, requestsPerCallerPerMinute)
    requireRoom('tenant', ofTenant, requestsPerTenantPerMinute)
    if (ofCaller !== undefined) ofCaller.remaining -= 1
    if (ofTenant !== undefined) ofTenant.remaining -= 1
  }
}

function requireRoom(who: 'caller' | 'tenant', bucket: Bucket | undefined, limit: number): void {
  if (bucket === undefined || bucket.remaining >= 1) return
  const retryAfterS = Math.ceil(((1 - bucket.remaining) * MINUTE_MS) / limit / 1000)
  const message = `The ${who} may send ${limit} requests a minute. Try again in ${retryAfterS} s`
  throw Refusal.retryAfter('TooManyRequests', retryAfterS, message)
}
