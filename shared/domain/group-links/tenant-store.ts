/** A tenant and its last sweep; before the first sweep, the time of its registration. */
export type KnownTenant = { readonly tenantId: string; readonly sweptAtMs: number }

/** Stored tenants, for the sweep. */
export interface TenantStore {
  /** Registers the tenant unless it is registered. Calls for a registered tenant cost little. */
  register(tenantId: string): Promise<void>
  /** Tenants whose `minuteOfTenant` is this minute, or all tenants; in pages, unordered. */
  list(minute: number | undefined): AsyncIterable<readonly KnownTenant[]>
  /** When the tenant was last swept; undefined before the first sweep. */
  lastSweepMs(tenantId: string): Promise<number | undefined>
}

const MINUTES_PER_HOUR = 60

/** The minute of every hour in which a tenant is swept. It never changes; tenants are distributed evenly. */
export function minuteOfTenant(tenantId: string): number {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5
  for (const character of tenantId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % MINUTES_PER_HOUR
}
