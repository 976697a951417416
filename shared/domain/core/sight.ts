import type { Caller, Role } from '../caller.ts'
import type { ObjectType } from './core-object.ts'
import type { CoreObjectReader } from './core-object-reader.ts'

/** What a caller may see: everything, or these ids. */
export type Sight = 'all' | Readonly<Record<ObjectType, ReadonlySet<string>>>

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
  if (seesAll(caller)) return 'all'
  const { tenantId } = caller
  const self = await reader.identityOfAccount(tenantId, caller.objectId)
  if (self === undefined) return { identity: new Set(), orgUnit: new Set(), relationship: new Set() }
  const [own, delegated] = await Promise.all([
    reader.relationshipsOf(tenantId, 'identity', [self]),
    unitsDelegatedTo(self, tenantId, reader),
  ])
  const held = await reader.relationshipsOf(tenantId, 'orgUnit', [...delegated])
  return {
    identity: new Set([self, ...held.flatMap(({ attributes }) => idIn(attributes.identity))]),
    orgUnit: new Set([...delegated, ...own.flatMap(({ attributes }) => idIn(attributes.orgUnit))]),
    relationship: new Set([...own, ...held].map(({ id }) => id)),
  }
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
