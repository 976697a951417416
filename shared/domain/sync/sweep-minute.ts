/** Minutes over which the tenants' sweeps are spread. */
const MINUTES_PER_HOUR = 60

/** The minute of every hour in which a tenant is swept: the same one always, spread evenly over the tenants. */
export function minuteOfTenant(tenantId: string): number {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5
  for (const character of tenantId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % MINUTES_PER_HOUR
}
