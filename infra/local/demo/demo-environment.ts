import type { GraphRight } from '../directory/graph/rights.ts'
import type { ApplicationSeed, DirectorySeed, TenantSeed, UserSeed } from '../directory/seed.ts'
import { demoGroups } from './demo-groups.ts'
import { demoPeople, withDemoPeople } from './demo-people.ts'
import { type Municipality, municipality } from './municipality.ts'
import { derivedGuid, derivedSecret } from './seeded-random.ts'

export type DemoEnvironment = {
  readonly directory: DirectorySeed
  /** What the connector of each tenant is to hold, the demo people included. */
  readonly municipalities: readonly Municipality[]
  /** The service's own credentials for Graph. It is registered in the first tenant. */
  readonly service: { readonly clientId: string; readonly clientSecret: string; readonly homeTenantId: string }
}

/** What the application `tester` may do in Graph: everything that is served. */
const EVERY_RIGHT: readonly GraphRight[] = [
  'GroupMember.ReadWrite.All',
  'Group.ReadWrite.All',
  'User.ReadWrite.All',
  'Directory.ReadWrite.All',
  'RoleManagement.ReadWrite.Directory',
  'Member.Read.Hidden',
]

/** Decisions, section 9. */
const APPLICATIONS: readonly Pick<ApplicationSeed, 'name' | 'roles' | 'graphRoles'>[] = [
  { name: 'reader', roles: ['collections-criteria.criteria.read.all'], graphRoles: [] },
  { name: 'writer', roles: ['collections-criteria.criteria.readwrite.all'], graphRoles: [] },
  { name: 'connector', roles: ['iam-core.connector-data.readwrite.self'], graphRoles: [] },
  {
    name: 'operator',
    roles: ['iam-core.connector-configuration.readwrite.all', 'iam-core.synchronization-configuration.readwrite.all'],
    graphRoles: [],
  },
  { name: 'nobody', roles: [], graphRoles: [] },
  { name: 'tester', roles: [], graphRoles: EVERY_RIGHT },
]

/** Users that are in no municipality's data. */
const STRANGERS_COUNT = 5

/**
 * Two tenants, the second with a tenth of the people: directory, connector data and credentials. The same for the same
 * options; with another number of people, everything but them stays.
 */
export function demoEnvironment(options: { readonly identityCount: number; readonly seed: string }): DemoEnvironment {
  const { identityCount, seed } = options
  const municipalities = [identityCount, Math.floor(identityCount / 10)].map((count, index) =>
    withDemoPeople(municipality({ tenantNumber: index + 1, identityCount: count, seed }), seed),
  )
  const clientId = derivedGuid(seed, 'service')
  const clientSecret = derivedSecret(seed, 'secret', 'service')
  return {
    directory: {
      serviceClientId: clientId,
      publicClientId: derivedGuid(seed, 'public client'),
      tenants: municipalities.map((tenant) => tenantSeed(tenant, { name: 'service', clientId, clientSecret }, seed)),
    },
    municipalities,
    service: { clientId, clientSecret, homeTenantId: municipalities[0]?.tenantId ?? '' },
  }
}

function tenantSeed(
  tenant: Municipality,
  service: Pick<ApplicationSeed, 'name' | 'clientId' | 'clientSecret'>,
  seed: string,
): TenantSeed {
  const { tenantId, domain } = tenant
  const principalId = (name: string) => derivedGuid(seed, tenantId, 'service principal', name)
  const applications = [
    ...APPLICATIONS.map((application) => ({
      ...application,
      clientId: derivedGuid(seed, tenantId, 'application', application.name),
      clientSecret: derivedSecret(seed, tenantId, 'secret', application.name),
      objectId: principalId(application.name),
    })),
    // The least that adding and removing members needs.
    { ...service, objectId: principalId('service'), roles: [], graphRoles: ['GroupMember.ReadWrite.All'] },
  ]
  const strangers = Array.from({ length: STRANGERS_COUNT }, (_, index) => ({
    id: derivedGuid(seed, tenantId, 'stranger', index),
    displayName: `Stranger ${index + 1}`,
    userPrincipalName: `stranger${index + 1}@${domain}`,
  }))
  const strangerIds = strangers.map(({ id }) => id)
  return {
    tenantId,
    domain,
    applications,
    people: demoPeople(tenant, seed),
    users: [...strangers, ...accounts(tenant)],
    groups: demoGroups({ seed, tenantId, domain, strangerIds, servicePrincipalId: principalId('reader') }),
  }
}

/** The users of the generated people; the demo people's come from their credentials. */
function accounts(tenant: Municipality): UserSeed[] {
  return tenant.identities.flatMap(({ externalId, data }) => {
    const { directoryObjectId, directoryUserPrincipalName, displayName, firstName, lastName, mobile } = data
    if (typeof directoryObjectId !== 'string' || externalId.startsWith('demo-')) return []
    return [
      {
        id: directoryObjectId,
        displayName: String(displayName),
        userPrincipalName: String(directoryUserPrincipalName),
        givenName: firstName,
        surname: lastName,
        mail: data.email,
        mobilePhone: mobile,
        accountEnabled: true,
      },
    ]
  })
}
