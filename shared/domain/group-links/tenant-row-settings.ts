import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import { type TimeZone, timeZoneOf } from '../../kernel/time-zone.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import type { RowSettingsSource, TimeZoneSource } from '../tenant-index/row-settings.ts'
import type { LinkSettingsStore } from './link-settings.ts'

const TENANTS_CACHED_COUNT = 10_000

/** An instance reads rows by former settings for at most this time after another one has changed them. */
const ROW_SETTINGS_CACHED_MS = 20_000

/** The settings by which rows are read. `forgetTypes`: this instance has changed the types. */
export type ForgettableRowSettings = RowSettingsSource & TimeZoneSource & { forgetTypes(tenantId: string): void }

/**
 * The settings by which rows are read, from those of the tenant and its connectors. They are read with each use of rows,
 * and hardly ever change: an instance reads them from the stores three times a minute. A change through the returned
 * store is seen at once in this instance; in the others, an evaluation that is enqueued for later follows:
 * `updateLinkSettings`, `updateConnector`.
 * @param typesOf The types of a tenant's custom attributes, including all earlier writes.
 * @param elapsedMs A monotonic clock.
 */
export function withRowSettings<Store extends Pick<LinkSettingsStore, 'find' | 'replace'>>(
  store: Store,
  typesOf: (tenantId: string) => Promise<CustomTypes>,
  elapsedMs: () => number,
): { readonly store: Store; readonly rowSettings: ForgettableRowSettings } {
  const options = {
    ...upToEntries(TENANTS_CACHED_COUNT),
    ttl: ROW_SETTINGS_CACHED_MS,
    ttlResolution: 0,
    perf: { now: elapsedMs },
  }
  const zones = new LRUCache<string, TimeZone>(options)
  const types = new LRUCache<string, CustomTypes>(options)
  const replace: Store['replace'] = async (tenantId, ...change) => {
    const replaced = await store.replace(tenantId, ...change)
    zones.delete(tenantId)
    return replaced
  }
  const find: Store['find'] = async (tenantId) => {
    const found = await store.find(tenantId)
    zones.set(tenantId, timeZoneOf(found.value.timeZone))
    return found
  }
  const readTypes = async (tenantId: string): Promise<CustomTypes> => {
    const read = await typesOf(tenantId)
    types.set(tenantId, read)
    return read
  }
  const zoneOf = async (tenantId: string): Promise<TimeZone> =>
    zones.get(tenantId) ?? timeZoneOf((await find(tenantId)).value.timeZone)
  const rowSettings: ForgettableRowSettings = {
    async of(tenantId) {
      const [knownZone, knownTypes] = [zones.get(tenantId), types.get(tenantId)]
      if (knownZone !== undefined && knownTypes !== undefined) return { zone: knownZone, types: knownTypes }
      const [zone, read] = await Promise.all([zoneOf(tenantId), knownTypes ?? readTypes(tenantId)])
      return { zone, types: read }
    },
    zoneOf,
    forgetTypes: (tenantId) => void types.delete(tenantId),
  }
  return { store: { ...store, find, replace }, rowSettings }
}
