import type { Caller, Role } from '../caller.ts'
import type { CoreObject, ObjectType } from './core-object.ts'
import type { CoreObjectReader, RelationshipEnds } from './core-object-reader.ts'

/** What a caller may see. */
export type Sight = {
  /** Those of these objects that the caller may see, in their order. Costs what the objects cost, not the tenant. */
  seen(objects: readonly CoreObject[]): Promise<readonly CoreObject[]>
  /** The ids of all objects of a type that the caller may see. */
  idsOf(objectType: ObjectType): Promise<ReadonlySet<string> | 'all'>
}

const ALL: Sight = { seen: async (objects) => objects, idsOf: async () => 'all' }
const NOTHING: Sight = { seen: async () => [], idsOf: async () => new Set() }

/** Who sees all core objects of the tenant: decisions, section 2. */
const SEES_ALL: readonly Role[] = [
  'Administrator',
  'iam-core.synchronization-configuration.read.all',
  'iam-core.synchronization-configuration.readwrite.all',
]

/** Everyone who may read core objects, if only their own. */
export const CORE_OBJECT_READERS: readonly Role[] = ['User', ...SEES_ALL]

export function seesAll({ roles }: Caller): boolean {
  return SEES_ALL.some((role) => roles.has(role))
}

/**
 * What the caller may see. A user: oneself, one's relationships and their org units (the unit itself only), and the org
 * units that one manages or is deputy of, with all below them, their relationships and the identities holding them.
 * Nothing for a user without a core identity. Decisions, section 2.
 */
export async function sightOf(caller: Caller, reader: CoreObjectReader): Promise<Sight> {
  if (seesAll(caller)) return ALL
  const { tenantId } = caller
  const self = await reader.identityOfAccount(tenantId, caller.objectId)
  if (self === undefined) return NOTHING
  const [own, delegated] = await Promise.all([
    reader.relationshipEnds(tenantId, 'identity', [self]),
    unitsDelegatedTo(self, tenantId, reader),
  ])
  const orgUnits = new Set([...delegated, ...own.flatMap(({ orgUnitId }) => orgUnitId ?? [])])
  const seesRelationship = ({ identityId, orgUnitId }: RelationshipEnds): boolean =>
    identityId === self || (orgUnitId !== undefined && delegated.has(orgUnitId))
  const isHolder = ({ orgUnitId }: RelationshipEnds): boolean => orgUnitId !== undefined && delegated.has(orgUnitId)
  return {
    async seen(objects) {
      const identities = objects.filter(({ objectType }) => objectType === 'identity').map(({ id }) => id)
      const held = await reader.relationshipEnds(tenantId, 'identity', identities)
      const holders = new Set([self, ...held.filter(isHolder).map(({ identityId }) => identityId)])
      return objects.filter((object) => {
        if (object.objectType === 'identity') return holders.has(object.id)
        return object.objectType === 'orgUnit' ? orgUnits.has(object.id) : seesRelationship(endsOf(object))
      })
    },
    async idsOf(objectType) {
      if (objectType === 'orgUnit') return orgUnits
      const held = await reader.relationshipEnds(tenantId, 'orgUnit', [...delegated])
      return objectType === 'identity'
        ? new Set([self, ...held.flatMap(({ identityId }) => identityId ?? [])])
        : new Set([...own, ...held].map(({ id }) => id))
    },
  }
}

function endsOf({ id, attributes: { identity, orgUnit } }: CoreObject): RelationshipEnds {
  return { id, identityId: idIn(identity)[0], orgUnitId: idIn(orgUnit)[0] }
}

/** Level by level. A unit already seen is not gone below again, whatever circle the data may hold. */
async function unitsDelegatedTo(identityId: string, tenantId: string, reader: CoreObjectReader): Promise<Set<string>> {
  const units = new Set<string>()
  let level = await reader.unitsLedBy(tenantId, identityId)
  while (level.length > 0) {
    for (const id of level) units.add(id)
    level = (await reader.unitsBelow(tenantId, level)).filter((id) => !units.has(id))
  }
  return units
}

/** The id in a reference; none when it is unknown. */
export function idIn(value: unknown): string[] {
  const { objectId } = (value ?? {}) as { objectId?: unknown }
  return typeof objectId === 'string' ? [objectId] : []
}
