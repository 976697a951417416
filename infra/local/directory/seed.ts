/** The kinds of demo groups: each is treated differently by Graph or by the service. */
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
  | 'owned'

/** Initial content of the directory. IDs are lower-case GUIDs. */
export type DirectorySeed = {
  /** Client ID of the service: audience of tokens, and application that reads and writes groups. */
  readonly serviceClientId: string
  /** Client ID of the public client for user sign-in. */
  readonly publicClientId: string
  /**
   * Redirect URIs of the public client for pages, as paths of the service. Programs are returned to `http://localhost`
   * with any port and path.
   */
  readonly redirectPaths: readonly string[]
  readonly tenants: readonly TenantSeed[]
}

export type TenantSeed = {
  readonly tenantId: string
  /** Domain of the tenant and of its user names. */
  readonly domain: string
  /** Applications with consent and service principal. Without the service, no tokens are issued for it. */
  readonly applications: readonly ApplicationSeed[]
  /** Users who can sign in with a password. */
  readonly people: readonly PersonSeed[]
  readonly users: readonly UserSeed[]
  readonly groups: readonly GroupSeed[]
}

export type ApplicationSeed = {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  /** Object ID of a managed identity that is a federated credential of the application. */
  readonly federatedSubject?: string
  /** Object ID of its service principal in this tenant. */
  readonly objectId: string
  /** App roles in tokens for the service. */
  readonly roles: readonly string[]
  /** App roles in tokens for Graph. */
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

/** Other members are Graph properties of the object. */
export type UserSeed = { readonly id: string; readonly displayName: string; readonly userPrincipalName: string } & {
  readonly [property: string]: unknown
}

export type GroupSeed = {
  readonly id: string
  readonly displayName: string
  /** `/local/demo` lists only groups with a kind. */
  readonly kind?: GroupKind
  readonly properties: Readonly<Record<string, unknown>>
  /** Users, groups and service principals of the same tenant. */
  readonly memberIds: readonly string[]
  /** Users and service principals of the same tenant. */
  readonly ownerIds?: readonly string[]
}

/** Response of `GET /local/demo`. */
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

/** All data that a client needs, without the secret of the service. */
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
