import type { GraphRight } from '../directory/graph/rights.ts'
import type { ApplicationSeed, DirectorySeed, TenantSeed, UserSeed } from '../directory/seed.ts'
import { demoGroups } from './demo-groups.ts'
import { demoPeople, withDemoPeople } from './demo-people.ts'
import { type Municipality, municipality } from './municipality.ts'
import { derivedGuid, derivedSecret } from './seeded-random.ts'

export type DemoEnvironment = {
  readonly directory: DirectorySeed
  /** Connector data of each tenant, including the demo people. */
  readonly municipalities: readonly Municipality[]
  /** Credentials of the service for Graph. The application is registered in the first tenant. */
  readonly service: {
    readonly clientId: string
    readonly clientSecret: string
    readonly homeTenantId: string
    /** The mailbox that mails are sent from. */
    readonly mailSender: string
  }
}

/** Graph permissions of the application `tester`: all that the local directory supports. */
const ALL_PERMISSIONS: readonly GraphRight[] = [
  'GroupMember.ReadWrite.All',
  'Group.ReadWrite.All',
  'User.ReadWrite.All',
  'Directory.ReadWrite.All',
  'RoleManagement.ReadWrite.Directory',
  'Member.Read.Hidden',
]

/** One for each set of roles of applications, and one without roles. */
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
  { name: 'tester', roles: [], graphRoles: ALL_PERMISSIONS },
]

/** Directory users without connector data. */
const UNRELATED_USERS_COUNT = 5

/**
 * Generates directory, connector data and credentials of two tenants. The second tenant has a tenth of the people. The
 * result depends only on the options. A different number of people changes only the people.
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
      redirectPaths: ['/console'],
      tenants: municipalities.map((tenant) => tenantSeed(tenant, { name: 'service', clientId, clientSecret }, seed)),
    },
    municipalities,
    service: { clientId, clientSecret, ...homeOf(municipalities[0]) },
  }
}

const SENDER_NAME = 'collections'

function homeOf(home: Municipality | undefined) {
  return { homeTenantId: home?.tenantId ?? '', mailSender: `${SENDER_NAME}@${home?.domain}` }
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
    // The least privileged permission to add and remove members, and that to send mails.
    {
      ...service,
      objectId: principalId('service'),
      roles: [],
      graphRoles: ['GroupMember.ReadWrite.All', 'Directory.Read.All', 'Mail.Send'],
    },
  ]
  const strangers = Array.from({ length: UNRELATED_USERS_COUNT }, (_, index) => ({
    id: derivedGuid(seed, tenantId, 'stranger', index),
    displayName: `Stranger ${index + 1}`,
    userPrincipalName: `stranger${index + 1}@${domain}`,
  }))
  const sender = {
    id: derivedGuid(seed, tenantId, 'mail sender'),
    displayName: 'Collections',
    userPrincipalName: `${SENDER_NAME}@${domain}`,
  }
  const strangerIds = strangers.map(({ id }) => id)
  return {
    tenantId,
    domain,
    applications,
    people: demoPeople(tenant, seed),
    users: [...strangers, sender, ...accounts(tenant)],
    groups: demoGroups({
      seed,
      tenantId,
      domain,
      strangerIds,
      servicePrincipalId: principalId('reader'),
      ownerId: principalId('service'),
    }),
  }
}

/** The users of the generated people. The users of the demo people are created from their credentials. */
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
