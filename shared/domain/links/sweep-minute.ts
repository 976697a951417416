/** Minutes over which the tenants' sweeps are spread. */
const MINUTES_PER_HOUR = 60

/** The minute of every hour in which a tenant is swept: the same one always, spread evenly over the tenants. */
export function minuteOfTenant(tenantId: string): number {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5
  for (const character of tenantId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % MINUTES_PER_HOUR
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The host runs a timer up to a second before its time. */
export const EARLY_MS = 2_000

/**
 * The minutes whose tenants are due: all that have begun since the timer last ran, so that those of a run that came late
 * or not at all are swept now. Each once, the latest hour at most.
 * @param lastMs when the timer last ran; undefined for the first time: then the minute that it is.
 */
export function minutesSince(lastMs: number | undefined, nowMs: number): number[] {
  const until = Math.floor((nowMs + EARLY_MS) / MINUTE_MS)
  const from = lastMs === undefined ? until : Math.floor(Math.max(lastMs, nowMs - HOUR_MS) / MINUTE_MS) + 1
  const minutes = Array.from({ length: Math.max(0, until - from + 1) }, (_, index) => (from + index) % MINUTES_PER_HOUR)
  return [...new Set(minutes)]
}
