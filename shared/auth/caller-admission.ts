import { LRUCache } from 'lru-cache'
import type { Caller } from '../kernel/caller.ts'
import { Refusal } from '../kernel/refusals.ts'

export type AdmissionSettings = {
  /** Tenants that may use the service, in lower case. */
  readonly tenants: ReadonlySet<string> | 'any'
  /** Requests of one caller to this instance; 0: unlimited. */
  readonly requestsPerCallerPerMinute: number
}

/** Callers whose requests are counted. A caller that is evicted, the longest without a request, starts anew. */
const CALLERS_COUNTED = 10_000

const MINUTE_MS = 60_000

/** Requests that a caller still has at a time, in milliseconds. */
type Bucket = { remaining: number; atMs: number }

/**
 * Returns the function that admits the caller of a verified token, or throws Refusal `TenantNotAllowed` or
 * `TooManyRequests`. Each caller has a token bucket for this instance: it holds the requests of one minute and refills
 * evenly.
 * @param elapsedMs Milliseconds since an arbitrary start.
 */
export function callerAdmission(
  { tenants, requestsPerCallerPerMinute: limit }: AdmissionSettings,
  elapsedMs: () => number,
): (caller: Caller) => void {
  const buckets = new LRUCache<string, Bucket>({ max: CALLERS_COUNTED })
  const msPerRequest = MINUTE_MS / limit
  return ({ tenantId, objectId }) => {
    if (tenants !== 'any' && !tenants.has(tenantId)) {
      throw new Refusal('TenantNotAllowed', `The service is not available to tenant ${tenantId}`)
    }
    if (limit === 0) return
    const nowMs = elapsedMs()
    const key = `${tenantId} ${objectId}`
    const bucket = buckets.get(key)
    if (bucket === undefined) return void buckets.set(key, { remaining: limit - 1, atMs: nowMs })
    bucket.remaining = Math.min(limit, bucket.remaining + (nowMs - bucket.atMs) / msPerRequest)
    bucket.atMs = nowMs
    if (bucket.remaining < 1) {
      const retryAfterS = Math.ceil(((1 - bucket.remaining) * msPerRequest) / 1000)
      throw Refusal.retryAfter(
        'TooManyRequests',
        retryAfterS,
        `The caller may send ${limit} requests a minute. Try again in ${retryAfterS} s`,
      )
    }
    bucket.remaining -= 1
  }
}
