import { setDefaultCACertificates } from 'node:tls'
import {
  type DirectoryOptions,
  type LocalDirectory,
  startDirectory,
} from '../../../infra/local/directory/directory-server.ts'
import type { DirectorySeed, GroupSeed, TenantSeed } from '../../../infra/local/directory/seed.ts'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import type { GraphReply } from '../../../shared/graph/graph-calls.ts'
import { type GraphCall, graphCalls, type SendCall } from '../../../shared/graph/graph-calls.ts'
import { graphDirectory } from '../../../shared/graph/graph-directory.ts'
import { graphTokens } from '../../../shared/graph/graph-tokens.ts'

export type GraphDirectoryParts = Parameters<typeof graphDirectory>[0]

export const TENANT = '11111111-0000-4000-8000-000000000001'
export const SMALL_TENANT = '22222222-0000-4000-8000-000000000002'
export const SERVICE = 'aaaaaaaa-0000-4000-8000-000000000001'
/** Of the service itself, in the larger tenant. */
export const SERVICE_PRINCIPAL = 'cccccccc-0000-4000-8000-000000000001'
const TESTER = 'aaaaaaaa-0000-4000-8000-000000000002'
/** Its tokens can be used in place of the service's secret. */
export const MANAGED_IDENTITY = 'cccccccc-0000-4000-8000-00000000000f'
const USER_COUNT = 2_500

/** An id that is easy to recognize in the output of a failed test. */
export const user = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
export const users = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => user(from + index))

/** The local directory, with the service's adapter and a client that may change everything. */
export type TestDirectory = {
  readonly server: LocalDirectory
  readonly directory: Directory
  /** An adapter with a wrapper around its HTTP calls. */
  directoryOver(wire: (send: SendCall) => SendCall): Directory
  /** What such an adapter is made of. */
  adapterParts(wire: (send: SendCall) => SendCall): GraphDirectoryParts
  /** The delays that the adapter requested. They advance the clock only. */
  readonly waitsMs: number[]
  asTester(call: GraphCall): Promise<GraphReply>
  newGroup(properties?: Record<string, unknown>, members?: readonly string[]): Promise<string>
  /** The members that the tester reads, without service principals. */
  membersOf(groupId: string): Promise<Set<string>>
  close(): Promise<void>
}

export type TestClock = { nowMs(): number; sleep(delayMs: number): Promise<void> }

/** A clock that advances by each sleep, and by a millisecond each time it is read: no two events have the same time. */
export function testClock(startMs = Date.now()): TestClock & { waitsMs: number[] } {
  let ms = startMs
  const waitsMs: number[] = []
  return {
    waitsMs,
    nowMs() {
      ms += 1
      return ms
    },
    async sleep(delayMs) {
      waitsMs.push(delayMs)
      ms += delayMs
    },
  }
}

/**
 * The certificate authorities of the open directories: several can be open in a process, and close in any order. No
 * test calls a server that the built-in authorities vouch for, and parsing these takes a tenth of a second.
 */
const openAuthorities = new Set<string>()

function trustAuthorities(): void {
  setDefaultCACertificates([...openAuthorities])
}

export async function openDirectory(
  clock: TestClock & { waitsMs: number[] } = testClock(),
  options: Partial<DirectoryOptions> = {},
): Promise<TestDirectory> {
  const server = await startDirectory({
    port: 0,
    httpPort: 0,
    folder: ':memory:',
    seed: directorySeed(USER_COUNT),
    apiUrl: 'http://localhost:7071',
    ...options,
  })
  openAuthorities.add(server.caPem)
  trustAuthorities()
  const tokensOf = (clientId: string, clientSecret: string) =>
    graphTokens(
      {
        authorityUrl: server.url,
        homeTenantId: TENANT,
        clientId,
        clientSecret,
        graphIdentityClientId: undefined,
      },
      clock.nowMs,
    )
  const testerCalls = graphCalls(server.url, tokensOf(TESTER, 'tester-secret'), clock.nowMs)
  const asTester = (call: GraphCall) => testerCalls(TENANT, call)
  const tokens = tokensOf(SERVICE, 'service-secret')
  const send = graphCalls(server.url, tokens, clock.nowMs)
  const { nowMs, sleep } = clock
  const adapterParts = (wire: (send: SendCall) => SendCall): GraphDirectoryParts => ({
    graphUrl: server.url,
    send: wire(send),
    servicePrincipalOf: tokens.servicePrincipalId,
    sleep,
    nowMs,
    random: () => 0.5,
  })
  const directoryOver = (wire: (send: SendCall) => SendCall) => graphDirectory(adapterParts(wire))
  return {
    server,
    waitsMs: clock.waitsMs,
    asTester,
    directory: directoryOver((wire) => wire),
    directoryOver,
    adapterParts,
    newGroup: (properties = {}, members = []) => newGroup(asTester, server.url, properties, members),
    membersOf: (groupId) => membersOf(asTester, groupId),
    async close() {
      openAuthorities.delete(server.caPem)
      trustAuthorities()
      await server.close()
    },
  }
}

type AsTester = TestDirectory['asTester']

async function newGroup(
  asTester: AsTester,
  url: string,
  properties: Record<string, unknown>,
  members: readonly string[],
): Promise<string> {
  const body = {
    displayName: 'A group',
    mailNickname: 'group',
    groupTypes: [],
    mailEnabled: false,
    securityEnabled: true,
    ...properties,
  }
  const reply = await asTester({ method: 'POST', path: '/groups', body })
  if (reply.status !== 201) throw new Error(`The group was not made: ${JSON.stringify(reply)}`)
  const { id } = reply.body as { id: string }
  for (let start = 0; start < members.length; start += 20) {
    const bound = members.slice(start, start + 20).map((member) => `${url}/v1.0/directoryObjects/${member}`)
    const added = await asTester({ method: 'PATCH', path: `/groups/${id}`, body: { 'members@odata.bind': bound } })
    if (added.status !== 204) throw new Error(`The members were not added: ${JSON.stringify(added)}`)
  }
  return id
}

async function membersOf(asTester: AsTester, groupId: string): Promise<Set<string>> {
  const ids = new Set<string>()
  let path: string | undefined = `/groups/${groupId}/members?$select=id&$top=999`
  while (path !== undefined) {
    const reply: GraphReply = await asTester({ method: 'GET', path })
    const page = reply.body as { value: { id: string }[]; '@odata.nextLink'?: string }
    for (const { id } of page.value) ids.add(id)
    const next: string | undefined = page['@odata.nextLink']
    path = next === undefined ? undefined : next.slice(next.indexOf('/v1.0') + '/v1.0'.length)
  }
  return ids
}

const SERVICE_RIGHTS = ['GroupMember.ReadWrite.All', 'Directory.Read.All', 'Mail.Send']
const TESTER_RIGHTS = ['GroupMember.ReadWrite.All', 'Group.ReadWrite.All', 'User.ReadWrite.All']

function tenantSeed(tenantId: string, domain: string, userCount: number): TenantSeed {
  const application = (name: string, clientId: string, objectId: string, graphRoles: string[]) => ({
    name,
    clientId,
    clientSecret: `${name}-secret`,
    objectId,
    roles: [],
    graphRoles,
  })
  return {
    tenantId,
    domain,
    applications: [
      {
        ...application('service', SERVICE, SERVICE_PRINCIPAL, SERVICE_RIGHTS),
        federatedSubject: MANAGED_IDENTITY,
      },
      application('tester', TESTER, 'cccccccc-0000-4000-8000-000000000002', TESTER_RIGHTS),
    ],
    people: [],
    users: Array.from({ length: userCount }, (_, index) => ({
      id: user(index),
      displayName: `User ${index}`,
      userPrincipalName: `user${index}@${domain}`,
    })),
    groups: [],
  }
}

/** Two tenants; the users of the first, which has the groups, are `user(0)` and on. */
export const directorySeed = (userCount: number, groups: readonly GroupSeed[] = []): DirectorySeed => ({
  serviceClientId: SERVICE,
  publicClientId: 'aaaaaaaa-0000-4000-8000-000000000004',
  redirectPaths: ['/console'],
  tenants: [{ ...tenantSeed(TENANT, 'one.example', userCount), groups }, tenantSeed(SMALL_TENANT, 'two.example', 5)],
})
