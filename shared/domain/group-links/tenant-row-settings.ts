import { timeZoneOf } from '../../kernel/time-zone.ts'
import type { RowSettingsSource } from '../tenant-index/row-settings.ts'
import type { LinkSettingsStore } from './link-settings.ts'

/** The settings by which rows are read, from those of the tenant. */
export function tenantRowSettings(settings: Pick<LinkSettingsStore, 'find'>): RowSettingsSource {
  return {
    async of(tenantId) {
      const { value } = await settings.find(tenantId)
      return { zone: timeZoneOf(value.timeZone) }
    },
  }
}
