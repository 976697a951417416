import type { CoreObject, ObjectType } from '../core/core-object.ts'
import type { VisibleObjects } from './visible-objects.ts'

/** A relationship's two ends, as far as it names them. */
export type Position = { readonly id: string; readonly identityId?: string; readonly orgUnitId?: string }

/** How a tenant's live core objects hang together: what their references say, read one question at a time. */
export interface CoreObjectReferences {
  /** The identities that have a directory account, whatever its case; ascending. */
  identitiesOfAccount(tenantId: string, account: string): Promise<string[]>
  /** The org units that an identity manages or is deputy of, at most `limitCount`. */
  unitsLedBy(tenantId: string, identityId: string, limitCount: number): Promise<string[]>
  /** The org units directly below some, at most `limitCount`. */
  unitsBelow(tenantId: string, orgUnitIds: readonly string[], limitCount: number): Promise<string[]>
  /** The relationships that one of these objects has, at most `limitCount`. */
  positionsOf(
    tenantId: string,
    end: 'identity' | 'orgUnit',
    ids: readonly string[],
    limitCount: number,
  ): Promise<Position[]>
  /** Those of the ids that are there, by type. */
  existing(
    tenantId: string,
    ids: readonly string[],
  ): Promise<{ readonly id: string; readonly objectType: ObjectType }[]>
}

/** What answers for a tenant while its rows are not in memory, without loading them. */
export type ColdTenantAccess = {
  /** Whether the tenant's rows are in memory. */
  readonly holds: (tenantId: string) => boolean
  /** Begins to read them into memory, and does not wait. */
  readonly load: (tenantId: string) => void
  readonly links: CoreObjectReferences
}

/** Who may see more than this is told by the rows in memory, and a search among so many ids goes with one query. */
const OBJECTS_AT_MOST = 2000

/** Units above one another that are gone through; each level costs a question. */
const LEVELS_AT_MOST = 12

/**
 * What a user may see, as `visibleObjects` has it, from a handful of questions to the database: for a tenant whose rows
 * are not in memory. Undefined for one who may see so much that the rows are the better way.
 */
export async function visibleByLinks(
  account: string,
  tenantId: string,
  links: CoreObjectReferences,
): Promise<VisibleObjects | undefined> {
  const [self] = await links.identitiesOfAccount(tenantId, account)
  if (self === undefined) return new VisibleIds([])
  const [own, led] = await Promise.all([
    links.positionsOf(tenantId, 'identity', [self], OBJECTS_AT_MOST + 1),
    links.unitsLedBy(tenantId, self, OBJECTS_AT_MOST + 1),
  ])
  const delegated = await withUnitsBelow(led, tenantId, links)
  if (delegated === undefined || own.length > OBJECTS_AT_MOST) return undefined
  const held = await links.positionsOf(tenantId, 'orgUnit', [...delegated], OBJECTS_AT_MOST + 1)
  if (held.length > OBJECTS_AT_MOST) return undefined
  const positions = new Set([...own, ...held].map(({ id }) => id))
  const named = new Set([...idsOf(own, 'orgUnitId'), ...idsOf(held, 'identityId')])
  // A reference may name what is not there, or what is not of its type.
  const units = new Set(idsOf(own, 'orgUnitId'))
  const holders = new Set(idsOf(held, 'identityId'))
  const present = (await links.existing(tenantId, [...named])).filter(
    ({ id, objectType }) =>
      (objectType === 'orgUnit' && units.has(id)) || (objectType === 'identity' && holders.has(id)),
  )
  const visible = new VisibleIds([
    { objectType: 'identity', id: self },
    ...present,
    ...[...delegated].map((id) => ({ objectType: 'orgUnit', id }) as const),
    ...[...positions].map((id) => ({ objectType: 'relationship', id }) as const),
  ])
  return visible.totalCount > OBJECTS_AT_MOST ? undefined : visible
}

/** The units and all below them, each once, whatever circles there are; undefined when there are too many. */
async function withUnitsBelow(
  led: readonly string[],
  tenantId: string,
  links: CoreObjectReferences,
): Promise<ReadonlySet<string> | undefined> {
  const delegated = new Set(led)
  let level: readonly string[] = led
  for (let depth = 0; level.length > 0; depth += 1) {
    if (delegated.size > OBJECTS_AT_MOST || depth === LEVELS_AT_MOST) return undefined
    // More than that are not asked for: a level that comes out full is one too many.
    const below = await links.unitsBelow(tenantId, level, OBJECTS_AT_MOST + 1)
    level = below.filter((id) => !delegated.has(id))
    for (const id of level) delegated.add(id)
  }
  return delegated
}

const idsOf = (positions: readonly Position[], end: 'identityId' | 'orgUnitId'): string[] =>
  positions.flatMap((position) => position[end] ?? [])

/** Few enough objects to be named one by one. */
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
