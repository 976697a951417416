import { setDefaultCACertificates } from 'node:tls'
import { ClientSecretCredential } from '@azure/identity'
import { Client } from '@microsoft/microsoft-graph-client'
import {
  type DirectoryOptions,
  type LocalDirectory,
  startDirectory,
} from '../../../infra/local/directory/directory-server.ts'
import type { DirectorySeed, TenantSeed } from '../../../infra/local/directory/seed.ts'

export const TENANT = '11111111-0000-4000-8000-000000000001'
export const OTHER_TENANT = '22222222-0000-4000-8000-000000000002'
export const UNCONSENTED_TENANT = '33333333-0000-4000-8000-000000000003'
export const SERVICE = 'aaaaaaaa-0000-4000-8000-000000000001'
export const TESTER = 'aaaaaaaa-0000-4000-8000-000000000002'
export const READER = 'aaaaaaaa-0000-4000-8000-000000000003'
export const PUBLIC_CLIENT = 'aaaaaaaa-0000-4000-8000-000000000004'
export const PERSON = 'bbbbbbbb-0000-4000-8000-000000000001'
export const PRINCIPAL = 'cccccccc-0000-4000-8000-000000000003'
export const GRAPH_SCOPE = 'https://graph.microsoft.com/.default'
export const SERVICE_SCOPE = `api://${SERVICE}/.default`

/** `user(7)` and `group('x')` are recognizable ids. */
export const user = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
export const GROUPS = {
  plain: 'dddddddd-0000-4000-8000-000000000001',
  unified: 'dddddddd-0000-4000-8000-000000000002',
  dynamic: 'dddddddd-0000-4000-8000-000000000003',
  distribution: 'dddddddd-0000-4000-8000-000000000004',
  onPremises: 'dddddddd-0000-4000-8000-000000000005',
  roleAssignable: 'dddddddd-0000-4000-8000-000000000006',
  hidden: 'dddddddd-0000-4000-8000-000000000007',
  populated: 'dddddddd-0000-4000-8000-000000000008',
} as const

const USER_COUNT = 60

function tenant(tenantId: string, domain: string, isConsented = true): TenantSeed {
  const users = Array.from({ length: USER_COUNT }, (_, index) => ({
    id: user(index),
    displayName: `User ${index}`,
    userPrincipalName: `user${index}@${domain}`,
  }))
  const secret = (name: string) => `${name}-secret`
  const service = {
    name: 'service',
    clientId: SERVICE,
    clientSecret: secret('service'),
    objectId: 'cccccccc-0000-4000-8000-000000000001',
    roles: [],
    graphRoles: ['GroupMember.ReadWrite.All'],
  }
  return {
    tenantId,
    domain,
    applications: [
      ...(isConsented ? [service] : []),
      {
        name: 'tester',
        clientId: TESTER,
        clientSecret: secret('tester'),
        objectId: 'cccccccc-0000-4000-8000-000000000002',
        roles: [],
        graphRoles: [
          'GroupMember.ReadWrite.All',
          'Group.ReadWrite.All',
          'User.ReadWrite.All',
          'Directory.ReadWrite.All',
        ],
      },
      {
        name: 'reader',
        clientId: READER,
        clientSecret: secret('reader'),
        objectId: PRINCIPAL,
        roles: ['collections-criteria.criteria.read.all'],
        graphRoles: [],
      },
    ],
    people: [
      {
        name: 'admin',
        displayName: 'Ada Åsheim',
        username: `admin@${domain}`,
        password: 'right',
        objectId: PERSON,
        roles: ['Administrator'],
      },
    ],
    users,
    groups: [
      group('plain', {}),
      group('unified', { groupTypes: ['Unified'], mailEnabled: true, securityEnabled: false }),
      group('dynamic', { groupTypes: ['DynamicMembership'] }),
      group('distribution', { mailEnabled: true, securityEnabled: false }),
      group('onPremises', { onPremisesSyncEnabled: true }),
      group('roleAssignable', { isAssignableToRole: true }),
      group('hidden', { visibility: 'HiddenMembership' }, [user(1)]),
      group('populated', {}, [user(1), user(2), user(3), GROUPS.plain, PRINCIPAL]),
    ],
  }
}

const group = (name: keyof typeof GROUPS, properties: Record<string, unknown>, memberIds: readonly string[] = []) => ({
  id: GROUPS[name],
  displayName: `Group ${name}`,
  kind: 'security' as const,
  properties: { groupTypes: [], mailEnabled: false, securityEnabled: true, ...properties },
  memberIds,
})

export const SEED: DirectorySeed = {
  serviceClientId: SERVICE,
  publicClientId: PUBLIC_CLIENT,
  redirectPaths: ['/console'],
  tenants: [
    tenant(TENANT, 'one.example'),
    tenant(OTHER_TENANT, 'two.example'),
    tenant(UNCONSENTED_TENANT, 'three.example', false),
  ],
}

/** Starts a directory that this process trusts. The caller closes it. */
export async function openDirectory(options: Partial<DirectoryOptions> = {}): Promise<LocalDirectory> {
  const directory = await startDirectory({
    port: 0,
    httpPort: 0,
    folder: ':memory:',
    seed: SEED,
    apiUrl: 'http://localhost:7071',
    ...options,
  })
  trust(directory)
  return directory
}

export function trust(directory: LocalDirectory): void {
  setDefaultCACertificates([directory.caPem])
}

export function credential(directory: LocalDirectory, clientId: string, secret: string, tenantId = TENANT) {
  return new ClientSecretCredential(tenantId, clientId, secret, {
    authorityHost: directory.url,
    disableInstanceDiscovery: true,
    retryOptions: { maxRetries: 0 },
  })
}

/** The Graph client for the directory. */
export function graphClient(
  directory: LocalDirectory,
  name: 'service' | 'tester' | 'reader',
  tenantId = TENANT,
): Client {
  const clientId = { service: SERVICE, tester: TESTER, reader: READER }[name]
  const source = credential(directory, clientId, `${name}-secret`, tenantId)
  return Client.initWithMiddleware({
    baseUrl: `${directory.url}/`,
    customHosts: new Set(['localhost']),
    authProvider: { getAccessToken: async () => (await source.getToken(GRAPH_SCOPE)).token },
  })
}

export const reference = (id: string) => `https://graph.microsoft.com/v1.0/directoryObjects/${id}`
export const binding = (ids: readonly string[]) => ({ 'members@odata.bind': ids.map(reference) })

/** Ids of all members, page by page. */
export async function memberIds(client: Client, groupId: string, top = 999): Promise<string[]> {
  const ids: string[] = []
  let next: string | undefined = `/groups/${groupId}/members?$select=id&$top=${top}`
  while (next !== undefined) {
    const page: { value: { id: string }[]; '@odata.nextLink'?: string } = await client.api(next).get()
    ids.push(...page.value.map(({ id }) => id))
    next = page['@odata.nextLink']
  }
  return ids
}

/** Sends without retries or middleware. */
export async function send(directory: LocalDirectory, method: string, path: string, body?: unknown, token?: string) {
  const response = await fetch(`${directory.url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

export async function graphToken(directory: LocalDirectory, name: 'service' | 'tester' | 'reader'): Promise<string> {
  const clientId = { service: SERVICE, tester: TESTER, reader: READER }[name]
  return (await credential(directory, clientId, `${name}-secret`).getToken(GRAPH_SCOPE)).token
}
