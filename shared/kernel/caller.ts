/** The roles that count for users: statement, "Authentication". */
export const USER_ROLES = ['collection_criteria_definition-administrator', 'User', 'Administrator'] as const

/** The roles that count for applications. */
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

/** Who sent the request, as its token says. */
export type Caller = {
  readonly kind: 'user' | 'application'
  readonly tenantId: string
  /** The caller's object id in the directory (`oid`). */
  readonly objectId: string
  /** The application that the token was issued to (`azp`, `appid`); the calling application itself for its own token. */
  readonly clientId: string | undefined
  /** Only roles assignable to this kind of caller: decisions, section 2. */
  readonly roles: ReadonlySet<Role>
}

/** Whether a role of a token is one that the service knows for users. */
export function isUserRole(role: string): role is UserRole {
  return (USER_ROLES as readonly string[]).includes(role)
}

/** Whether a role of a token is one that the service knows for applications. */
export function isApplicationRole(role: string): role is ApplicationRole {
  return (APPLICATION_ROLES as readonly string[]).includes(role)
}
