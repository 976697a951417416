import { derivedGuid, derivedSecret } from '../../../infra/local/demo/seeded-random.ts'
import type { DirectorySeed } from '../../../infra/local/directory/seed.ts'

/** The one tenant of a run: its directory and its callers. */
export type SoakTenant = {
  readonly tenantId: string
  readonly serviceClientId: string
  readonly connectorClientId: string
  readonly testerClientId: string
  /** Ids of the users of people, by number of the person. */
  readonly accounts: readonly string[]
  /** Users whom no source knows. */
  readonly strangers: readonly string[]
  readonly groupIds: readonly string[]
  readonly seed: DirectorySeed
  /** Settings of the hosts. */
  readonly settings: Readonly<Record<string, string>>
  readonly testerSecret: string
}

const STRANGER_COUNT = 5

export function soakTenant(seed: number, personCount: number, groupCount: number): SoakTenant {
  const guid = (...parts: (string | number)[]) => derivedGuid('soak', seed, ...parts)
  const guids = (kind: string, count: number) => Array.from({ length: count }, (_, index) => guid(kind, index))
  const [tenantId, serviceClientId, publicClientId] = [guid('tenant'), guid('service'), guid('public')]
  const [connectorClientId, testerClientId] = [guid('connector'), guid('tester')]
  // One account for each person, and two that a person can get by a merge.
  const accounts = guids('account', 3 * personCount)
  const strangers = guids('stranger', STRANGER_COUNT)
  const groupIds = guids('group', groupCount)
  const clientSecret = derivedSecret('soak', seed, 'service')
  const testerSecret = derivedSecret('soak', seed, 'tester')
  const users = [...accounts, ...strangers].map((id, index) => ({
    id,
    displayName: `User ${index}`,
    userPrincipalName: `user${index}@soak.example`,
  }))
  const groups = groupIds.map((id, index) => ({
    id,
    displayName: `Group ${index}`,
    properties: { groupTypes: [], mailEnabled: false, securityEnabled: true },
    memberIds: [],
  }))
  const application = (name: string, clientId: string, secret: string, graphRoles: readonly string[]) => ({
    name,
    clientId,
    clientSecret: secret,
    objectId: guid('principal', name),
    roles: [],
    graphRoles,
  })
  return {
    tenantId,
    serviceClientId,
    connectorClientId,
    testerClientId,
    testerSecret,
    accounts,
    strangers,
    groupIds,
    seed: {
      serviceClientId,
      publicClientId,
      redirectPaths: [],
      tenants: [
        {
          tenantId,
          domain: 'soak.example',
          applications: [
            application('service', serviceClientId, clientSecret, [
              'GroupMember.ReadWrite.All',
              'Directory.Read.All',
              'Mail.Send',
            ]),
            application('tester', testerClientId, testerSecret, ['Group.ReadWrite.All', 'GroupMember.ReadWrite.All']),
          ],
          people: [],
          users,
          groups,
        },
      ],
    },
    settings: {
      SERVICE_CLIENT_ID: serviceClientId,
      HOME_TENANT_ID: tenantId,
      GRAPH_CLIENT_SECRET: clientSecret,
      CONSOLE_CLIENT_ID: publicClientId,
      MAIL_SENDER: `user${users.length - 1}@soak.example`,
    },
  }
}
