import { instantIn, type TimeZone } from '../../kernel/time-zone.ts'
import type { CoreObject, ObjectType } from '../core/core-object.ts'
import type { RowSettingsSource } from '../tenant-index/row-settings.ts'
import type { VisibleObjects } from './visible-objects.ts'

/** A relationship with the identity and org unit that it refers to. */
type Position = { readonly id: string; readonly identityId?: string; readonly orgUnitId?: string }

/** A relationship that names a manager. */
type LedPosition = { readonly id: string; readonly identityId?: string; readonly endDate?: string }

/** The references between a tenant's live core objects, read from the database one query at a time. */
export interface CoreObjectReferences {
  /** The identities that have a directory account, ignoring case; ascending. */
  identitiesOfAccount(tenantId: string, account: string): Promise<string[]>
  /** The org units that an identity manages or is deputy of, at most `limitCount`. */
  unitsLedBy(tenantId: string, identityId: string, limitCount: number): Promise<string[]>
  /** The relationships that name an identity as their manager, at most `limitCount`. */
  positionsLedBy(tenantId: string, identityId: string, limitCount: number): Promise<LedPosition[]>
  /** The org units directly below some, at most `limitCount`. */
  unitsBelow(tenantId: string, orgUnitIds: readonly string[], limitCount: number): Promise<string[]>
  /** The relationships of these objects, at most `limitCount`. */
  positionsOf(
    tenantId: string,
    end: 'identity' | 'orgUnit',
    ids: readonly string[],
    limitCount: number,
  ): Promise<Position[]>
  /** The ids that exist, with their types. */
  existing(
    tenantId: string,
    ids: readonly string[],
  ): Promise<{ readonly id: string; readonly objectType: ObjectType }[]>
}

/** Access to a tenant whose rows are not in memory. */
export type ColdTenantAccess = {
  /** Whether the tenant's rows are in memory. */
  readonly holds: (tenantId: string) => boolean
  /** Starts loading them and does not wait. */
  readonly load: (tenantId: string) => void
  readonly references: CoreObjectReferences
  readonly settings: RowSettingsSource
}

/** A caller with access to more objects needs the rows in memory. A search among this many ids fits in one query. */
const MAX_OBJECTS = 2000

/** Levels of org units that are followed; each costs a query. */
const MAX_LEVELS = 12

/**
 * The objects that `visibleObjects` finds, by a few queries to the database. Undefined for a user who may read more
 * than `MAX_OBJECTS`: loading the rows costs less.
 */
export async function visibleByReferences(
  account: string,
  tenantId: string,
  { references, settings }: Pick<ColdTenantAccess, 'references' | 'settings'>,
  nowMs: number,
): Promise<VisibleObjects | undefined> {
  const [self] = await references.identitiesOfAccount(tenantId, account)
  if (self === undefined) return new VisibleIds([])
  const [{ zone }, own, ledPositions, led] = await Promise.all([
    settings.of(tenantId),
    references.positionsOf(tenantId, 'identity', [self], MAX_OBJECTS + 1),
    references.positionsLedBy(tenantId, self, MAX_OBJECTS + 1),
    references.unitsLedBy(tenantId, self, MAX_OBJECTS + 1),
  ])
  const delegated = await withUnitsBelow(led, tenantId, references)
  if (delegated === undefined || Math.max(own.length, ledPositions.length) > MAX_OBJECTS) return undefined
  const reports = ledPositions.filter((position) => isActive(position, zone, nowMs))
  const held = await references.positionsOf(tenantId, 'orgUnit', [...delegated], MAX_OBJECTS + 1)
  if (held.length > MAX_OBJECTS) return undefined
  const positions = new Set([...own, ...held, ...reports].map(({ id }) => id))
  // A reference may name an object that does not exist or has another type.
  const units = new Set(idsOf(own, 'orgUnitId'))
  const holders = new Set([...held, ...reports].flatMap(({ identityId }) => identityId ?? []))
  const present = (await references.existing(tenantId, [...units, ...holders])).filter(
    ({ id, objectType }) =>
      (objectType === 'orgUnit' && units.has(id)) || (objectType === 'identity' && holders.has(id)),
  )
  const visible = new VisibleIds([
    { objectType: 'identity', id: self },
    ...present,
    ...[...delegated].map((id) => ({ objectType: 'orgUnit', id }) as const),
    ...[...positions].map((id) => ({ objectType: 'relationship', id }) as const),
  ])
  return visible.totalCount > MAX_OBJECTS ? undefined : visible
}

function isActive({ endDate }: LedPosition, zone: TimeZone, nowMs: number): boolean {
  const endMs = endDate === undefined ? undefined : instantIn(zone, endDate)
  return endMs === undefined || endMs >= zone.startOfDay(nowMs)
}

/** The units and all below them, each once, also where the data have cycles; undefined when there are too many. */
async function withUnitsBelow(
  led: readonly string[],
  tenantId: string,
  references: CoreObjectReferences,
): Promise<ReadonlySet<string> | undefined> {
  const delegated = new Set(led)
  let level: readonly string[] = led
  for (let depth = 0; level.length > 0; depth += 1) {
    if (delegated.size > MAX_OBJECTS || depth === MAX_LEVELS) return undefined
    // The limit is one more than allowed: a full result is too many.
    const below = await references.unitsBelow(tenantId, level, MAX_OBJECTS + 1)
    level = below.filter((id) => !delegated.has(id))
    for (const id of level) delegated.add(id)
  }
  return delegated
}

const idsOf = (positions: readonly Position[], end: 'identityId' | 'orgUnitId'): string[] =>
  positions.flatMap((position) => position[end] ?? [])

/** A small set of objects, by id. */
class VisibleIds implements VisibleObjects {
  readonly #ids: Readonly<Record<ObjectType, ReadonlySet<string>>>

  constructor(objects: readonly Pick<CoreObject, 'objectType' | 'id'>[]) {
    const ids = (wanted: ObjectType): ReadonlySet<string> =>
      new Set(objects.flatMap(({ objectType, id }) => (objectType === wanted ? [id] : [])).sort())
    this.#ids = { identity: ids('identity'), orgUnit: ids('orgUnit'), relationship: ids('relationship') }
  }

  get totalCount(): number {
    return Object.values(this.#ids).reduce((sum, { size }) => sum + size, 0)
  }

  has({ objectType, id }: Pick<CoreObject, 'objectType' | 'id'>): boolean {
    return this.#ids[objectType].has(id)
  }

  count(objectType: ObjectType): number {
    return this.#ids[objectType].size
  }

  idsAfter(objectType: ObjectType, after: string | undefined, limitCount: number): string[] {
    const following = [...this.#ids[objectType]].filter((id) => after === undefined || id > after)
    return following.slice(0, limitCount)
  }
}
