import { type TimeZone, UTC } from '../../kernel/time-zone.ts'

/** The settings of a tenant by which the values of its rows are read. Rows are loaded again when they change. */
export type RowSettings = {
  /** Where dates without a time begin. */
  readonly zone: TimeZone
}

export const DEFAULT_ROW_SETTINGS: RowSettings = { zone: UTC }

/** The settings by which the rows of tenants are read. */
export interface RowSettingsSource {
  /** Includes all earlier writes of this instance, and what others wrote more than 20 seconds ago. */
  of(tenantId: string): Promise<RowSettings>
}

export function isSameSettings(left: RowSettings, right: RowSettings): boolean {
  return left.zone === right.zone
}
