/** The roles of users. */
export const USER_ROLES = ['collection_criteria_definition-administrator', 'User', 'Administrator'] as const

/** The roles of applications. */
export const APPLICATION_ROLES = [
  'collections-criteria.criteria.read.all',
  'collections-criteria.criteria.readwrite.all',
  'iam-core.connector-configuration.read.all',
  'iam-core.connector-configuration.readwrite.all',
  'iam-core.connector-data.readwrite.self',
  'iam-core.synchronization-configuration.read.all',
  'iam-core.synchronization-configuration.readwrite.all',
] as const

export type UserRole = (typeof USER_ROLES)[number]
export type ApplicationRole = (typeof APPLICATION_ROLES)[number]
export type Role = UserRole | ApplicationRole

/** The caller of a request, from its token. */
export type Caller = {
  readonly kind: 'user' | 'application'
  readonly tenantId: string
  /** The caller's object id in the directory (`oid`). */
  readonly objectId: string
  /** The application that the token was issued to (`azp`, `appid`). */
  readonly clientId: string | undefined
  /** Only roles that can be assigned to this kind of caller. */
  readonly roles: ReadonlySet<Role>
}

/** A caller with its core identity, if it has one and the route has looked it up. */
export type KnownCaller = Caller & { readonly identityId?: string | undefined }

/** The actor id of what the service itself does. */
export const SYSTEM_ACTOR = 'system'

/** The actor id of a caller: the core identity, else the `oid` of the token. */
export function actorIdOf({ identityId, objectId }: Pick<KnownCaller, 'identityId' | 'objectId'>): string {
  return identityId ?? objectId
}

export function isUserRole(role: string): role is UserRole {
  return (USER_ROLES as readonly string[]).includes(role)
}

export function isApplicationRole(role: string): role is ApplicationRole {
  return (APPLICATION_ROLES as readonly string[]).includes(role)
}
