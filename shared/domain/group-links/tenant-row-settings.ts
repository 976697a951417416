import { LRUCache } from 'lru-cache'
import { timeZoneOf } from '../../kernel/time-zone.ts'
import type { RowSettings, RowSettingsSource } from '../tenant-index/row-settings.ts'
import type { LinkSettingsStore } from './link-settings.ts'

const TENANTS_CACHED_COUNT = 10_000

/** An instance reads rows by former settings for at most this time after another one has changed them. */
const ROW_SETTINGS_CACHED_MS = 20_000

/**
 * The settings by which rows are read, from those of the tenant. They are read with each use of rows, and hardly ever
 * change: an instance reads them from the store three times a minute. A change through the returned store is seen at
 * once in this instance; in the others, an evaluation that is enqueued for later follows: `updateLinkSettings`.
 * @param elapsedMs A monotonic clock.
 */
export function withRowSettings<Store extends Pick<LinkSettingsStore, 'find' | 'replace'>>(
  store: Store,
  elapsedMs: () => number,
): { readonly store: Store; readonly rowSettings: RowSettingsSource } {
  const cached = new LRUCache<string, RowSettings>({
    max: TENANTS_CACHED_COUNT,
    ttl: ROW_SETTINGS_CACHED_MS,
    ttlResolution: 0,
    perf: { now: elapsedMs },
  })
  const replace: Store['replace'] = async (tenantId, ...change) => {
    const replaced = await store.replace(tenantId, ...change)
    cached.delete(tenantId)
    return replaced
  }
  const find: Store['find'] = async (tenantId) => {
    const found = await store.find(tenantId)
    cached.set(tenantId, { zone: timeZoneOf(found.value.timeZone) })
    return found
  }
  const rowSettings: RowSettingsSource = {
    async of(tenantId) {
      const known = cached.get(tenantId)
      return known ?? { zone: timeZoneOf((await find(tenantId)).value.timeZone) }
    },
  }
  return { store: { ...store, find, replace }, rowSettings }
}
