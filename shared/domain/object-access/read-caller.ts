import { type Static, Type } from 'typebox'
import { APPLICATION_ROLES, type Caller, USER_ROLES } from '../../kernel/caller.ts'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { CoreObjectReader } from '../core/core-object-store.ts'
import type { TimeZoneSource } from '../tenant-index/row-settings.ts'

/** A caller as the API returns it. */
export const CallerDto = Closed({
  tenantId: Guid,
  objectId: Described(Guid, 'The object id of the caller in the directory (`oid`).'),
  kind: OneOf(['User', 'Application']),
  identityId: Described(Nullable(Guid), "The core identity of the caller's account; null when there is none."),
  displayName: Described(
    Nullable(Type.String()),
    'The display name of the core identity; null for an application and for a user without a core identity.',
  ),
  roles: Described(
    Type.Array(OneOf([...USER_ROLES, ...APPLICATION_ROLES])),
    "The roles of the token that count for the caller's kind.",
  ),
  timeZone: Described(
    Type.String(),
    'The IANA name of the time zone of the tenant, in which dates without a time begin. An instance of the service ' +
      'may answer with the former one for 20 seconds after a change.',
  ),
})
export type CallerDto = Static<typeof CallerDto>

type CallerSources = { readonly coreObjects: CoreObjectReader; readonly timeZones: TimeZoneSource }

/** Describes the caller. Reads one object and never waits for the tenant's rows. */
export async function readCaller(
  { tenantId, objectId, kind, roles }: Caller,
  identityId: string | undefined,
  { coreObjects, timeZones }: CallerSources,
): Promise<CallerDto> {
  const [[identity], zone] = await Promise.all([
    identityId === undefined ? [] : coreObjects.ofIds(tenantId, 'identity', [identityId]),
    timeZones.zoneOf(tenantId),
  ])
  const { displayName } = identity?.attributes ?? {}
  return {
    tenantId,
    objectId,
    kind: kind === 'user' ? 'User' : 'Application',
    identityId: identityId ?? null,
    displayName: typeof displayName === 'string' ? displayName : null,
    roles: [...roles].sort(),
    timeZone: zone.name,
  }
}
