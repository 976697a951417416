import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import { type TimeZone, timeZoneOf } from '../../kernel/time-zone.ts'
import type { RowSettings, RowSettingsSource, TimeZoneSource } from '../tenant-index/row-settings.ts'
import type { LinkSettingsStore } from './link-settings.ts'

const TENANTS_CACHED_COUNT = 10_000

/** An instance reads rows by former settings for at most this time after another one has changed them. */
const ROW_SETTINGS_CACHED_MS = 20_000

/** The settings by which rows are read. After `forget`, they include all earlier writes. */
export type ForgettableRowSettings = RowSettingsSource & TimeZoneSource & { forget(tenantId: string): void }

/** What the connectors of a tenant decide. */
type ConnectorRowSettings = Omit<RowSettings, 'zone'>

/**
 * The settings by which rows are read, from those of the tenant and its connectors. They are read with each use of rows,
 * and hardly ever change: an instance reads them from the stores three times a minute. A change through the returned
 * store is seen at once in this instance; in the others, an evaluation that is enqueued for later follows:
 * `updateLinkSettings`, `updateConnector`.
 * @param ofConnectors Includes all earlier writes.
 * @param elapsedMs A monotonic clock.
 */
export function withRowSettings<Store extends Pick<LinkSettingsStore, 'find' | 'replace'>>(
  store: Store,
  ofConnectors: (tenantId: string) => Promise<ConnectorRowSettings>,
  elapsedMs: () => number,
): { readonly store: Store; readonly rowSettings: ForgettableRowSettings } {
  const options = {
    ...upToEntries(TENANTS_CACHED_COUNT),
    ttl: ROW_SETTINGS_CACHED_MS,
    ttlResolution: 0,
    perf: { now: elapsedMs },
  }
  const zones = new LRUCache<string, TimeZone>(options)
  const connectors = new LRUCache<string, ConnectorRowSettings>(options)
  // What was being read when settings were forgotten is possibly older than the change.
  let forgottenCount = 0
  const forget = (tenantId: string): void => {
    forgottenCount += 1
    zones.delete(tenantId)
    connectors.delete(tenantId)
  }
  const replace: Store['replace'] = async (tenantId, ...change) => {
    const replaced = await store.replace(tenantId, ...change)
    forget(tenantId)
    return replaced
  }
  const find: Store['find'] = async (tenantId) => {
    const countBefore = forgottenCount
    const found = await store.find(tenantId)
    if (forgottenCount === countBefore) zones.set(tenantId, timeZoneOf(found.value.timeZone))
    return found
  }
  const readConnectors = async (tenantId: string): Promise<ConnectorRowSettings> => {
    const countBefore = forgottenCount
    const read = await ofConnectors(tenantId)
    if (forgottenCount === countBefore) connectors.set(tenantId, read)
    return read
  }
  const zoneOf = async (tenantId: string): Promise<TimeZone> =>
    zones.get(tenantId) ?? timeZoneOf((await find(tenantId)).value.timeZone)
  const rowSettings: ForgettableRowSettings = {
    async of(tenantId) {
      const known = connectors.get(tenantId)
      const [zone, read] = await Promise.all([zoneOf(tenantId), known ?? readConnectors(tenantId)])
      return { zone, ...read }
    },
    zoneOf,
    forget,
  }
  return { store: { ...store, find, replace }, rowSettings }
}
