import type { CoreObjectDto } from '../../shared/domain/core/core-object-dto.ts'
import type { Api } from './api.ts'
import { dayAt } from './language/shown-time-zone.ts'

export const CORE_OBJECTS = '/iamcore/beta/sync/coreobjects'
export const IDENTITIES = `${CORE_OBJECTS}/identities`

/** A position of a person to read. */
export type Position = {
  readonly id: string
  readonly externalId: string
  readonly title: string | undefined
  readonly unit: string | undefined
  readonly from: string | undefined
  readonly until: string | undefined
}

const DAY = /^\d{4}-\d\d-\d\d$/

/** Whether the last day of a position is today or later, in a time zone. A position without an end is active. */
export function isActive(endDate: string | undefined, nowMs: number, zone: string | undefined): boolean {
  if (endDate === undefined) return true
  const endMs = Date.parse(endDate)
  const lastDay = DAY.test(endDate) || Number.isNaN(endMs) ? endDate : dayAt(endMs, zone)
  return lastDay >= dayAt(nowMs, zone)
}

/** The positions of a person with the names of their units. */
export async function listPositions(identityId: string, api: Api): Promise<Position[]> {
  const all = await api.all<CoreObjectDto>(`${IDENTITIES}/${identityId}/relationships`)
  const unitIds = all.flatMap(({ orgUnit }) => referenceId(orgUnit) ?? [])
  const names = await objectNames('orgunits', unitIds, api)
  return all.map(({ id, externalId, title, orgUnit, startDate, endDate }) => ({
    id,
    externalId,
    title: textOf(title),
    unit: names.get(referenceId(orgUnit) ?? ''),
    from: textOf(startDate),
    until: textOf(endDate),
  }))
}

/** Ids in one request for several objects. */
const MAX_IDS = 1000

/** The names of core objects by their ids. For those who may read them all. */
export async function objectNames(
  type: 'identities' | 'orgunits',
  ids: readonly string[],
  api: Api,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)]
  const names = new Map<string, string>()
  for (let start = 0; start < wanted.length; start += MAX_IDS) {
    const body = { ids: wanted.slice(start, start + MAX_IDS) }
    const { data } = await api.send<CoreObjectDto[]>('POST', `${CORE_OBJECTS}/${type}/multiple`, { body })
    for (const object of data) names.set(object.id, coreNameOf(object))
  }
  return names
}

export const coreNameOf = ({ displayName, externalId }: CoreObjectDto): string => textOf(displayName) ?? externalId

export function referenceId(value: unknown): string | undefined {
  const { objectId } = (value ?? {}) as { readonly objectId?: unknown }
  return typeof objectId === 'string' ? objectId : undefined
}

/** A value to read: one that is no reference. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return String(value)
  return Array.isArray(value) ? value.map(textOf).join(', ') : JSON.stringify(value)
}
