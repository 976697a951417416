/** The kinds of group that a client of the service may meet. Decisions, section 9. */
export type GroupKind =
  | 'security'
  | 'populated'
  | 'unified'
  | 'dynamic'
  | 'dynamic-paused'
  | 'distribution'
  | 'mail-security'
  | 'on-premises'
  | 'role-assignable'
  | 'hidden-membership'

/** What the directory holds at its first start. Ids are GUIDs in lower case. */
export type DirectorySeed = {
  /** The multi-tenant application that tokens are for, and which reads and writes groups. */
  readonly serviceClientId: string
  /** The application without a secret that people sign in with. */
  readonly publicClientId: string
  readonly tenants: readonly TenantSeed[]
}

export type TenantSeed = {
  readonly tenantId: string
  /** Names the tenant beside its id, and ends its user names. */
  readonly domain: string
  /** Consented here: each has a service principal. Without the service among them, nobody gets a token for it. */
  readonly applications: readonly ApplicationSeed[]
  /** Those who can sign in with a password. Each is a user as well. */
  readonly people: readonly PersonSeed[]
  readonly users: readonly UserSeed[]
  readonly groups: readonly GroupSeed[]
}

export type ApplicationSeed = {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  /** Object id of a managed identity whose tokens stand for the secret. */
  readonly federatedSubject?: string
  /** Of its service principal in this tenant. */
  readonly objectId: string
  /** In tokens for the service. */
  readonly roles: readonly string[]
  /** In tokens for Graph. */
  readonly graphRoles: readonly string[]
}

export type PersonSeed = {
  readonly name: string
  readonly displayName: string
  readonly username: string
  readonly password: string
  readonly objectId: string
  readonly roles: readonly string[]
}

/** Further members are Graph properties of the object. */
export type UserSeed = { readonly id: string; readonly displayName: string; readonly userPrincipalName: string } & {
  readonly [property: string]: unknown
}

export type GroupSeed = {
  readonly id: string
  readonly displayName: string
  /** Only a group with a kind is told to clients. */
  readonly kind?: GroupKind
  readonly properties: Readonly<Record<string, unknown>>
  /** Users, groups and service principals of the same tenant. */
  readonly memberIds: readonly string[]
}

/** What `GET /local/demo` answers. Decisions, section 9. */
export type DemoAnswer = {
  readonly serviceClientId: string
  readonly publicClientId: string
  readonly scope: string
  readonly apiUrl: string
  readonly tenants: readonly {
    readonly tenantId: string
    readonly apps: readonly Pick<ApplicationSeed, 'name' | 'clientId' | 'clientSecret' | 'roles'>[]
    readonly people: readonly Pick<PersonSeed, 'name' | 'username' | 'password' | 'objectId' | 'roles'>[]
    readonly groups: readonly { readonly id: string; readonly displayName: string; readonly kind: GroupKind }[]
  }[]
}

/** Everything that a client needs, the service's own secret left out. */
export function demoAnswer(seed: DirectorySeed, apiUrl: string): DemoAnswer {
  const { serviceClientId, publicClientId } = seed
  return {
    serviceClientId,
    publicClientId,
    scope: `api://${serviceClientId}/.default`,
    apiUrl,
    tenants: seed.tenants.map((tenant) => ({
      tenantId: tenant.tenantId,
      apps: tenant.applications
        .filter(({ clientId }) => clientId !== serviceClientId)
        .map(({ name, clientId, clientSecret, roles }) => ({ name, clientId, clientSecret, roles })),
      people: tenant.people.map(({ name, username, password, objectId, roles }) => ({
        name,
        username,
        password,
        objectId,
        roles,
      })),
      groups: tenant.groups.flatMap(({ id, displayName, kind }) => (kind ? [{ id, displayName, kind }] : [])),
    })),
  }
}
