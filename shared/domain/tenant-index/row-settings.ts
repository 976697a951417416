import { type TimeZone, UTC } from '../../kernel/time-zone.ts'
import { type CustomTypes, fingerprintOf, isSameCustomTypes, NO_CUSTOM_TYPES } from '../core/custom-types.ts'

/** The settings of a tenant by which the values of its rows are read. Rows are loaded again when they change. */
export type RowSettings = {
  /** Where dates without a time begin. */
  readonly zone: TimeZone
  /** The types of the tenant's custom attributes. */
  readonly types: CustomTypes
  readonly deletions: KeptDeletions
}

/** How long the deleted objects of a tenant can be read as changes. */
export type KeptDeletions = {
  /** The shortest time for which one of its connectors keeps deleted objects. */
  readonly keptDays: number
  /** Differs after each change of a connector: for some time, deletions were possibly kept for fewer days. */
  readonly connectors: string
}

/** Those of a tenant without connectors. No connector keeps deleted objects for less than a day. */
export const LEAST_KEPT_DELETIONS: KeptDeletions = { keptDays: 1, connectors: '' }

export const DEFAULT_ROW_SETTINGS: RowSettings = { zone: UTC, types: NO_CUSTOM_TYPES, deletions: LEAST_KEPT_DELETIONS }

/** The settings by which the rows of tenants are read. */
export interface RowSettingsSource {
  /** Includes all earlier writes of this instance, and what others wrote more than 20 seconds ago. */
  of(tenantId: string): Promise<RowSettings>
  /** The next settings include all earlier writes of all instances. Absent where settings do not change. */
  forget?(tenantId: string): void
}

/** The time zones of tenants, for what needs no other of the settings. */
export interface TimeZoneSource {
  /** As current as `RowSettingsSource`. */
  zoneOf(tenantId: string): Promise<TimeZone>
}

/** Equal for settings by which rows are read alike. Undefined for those of a tenant without settings. */
export function settingsIdOf(
  { zone, types }: RowSettings,
  { deriveId }: { deriveId(...parts: string[]): string },
): string | undefined {
  return zone === UTC && types.size === 0 ? undefined : deriveId(zone.name, fingerprintOf(types))
}

export function isSameSettings(left: RowSettings, right: RowSettings): boolean {
  return left.zone === right.zone && isSameCustomTypes(left.types, right.types)
}
