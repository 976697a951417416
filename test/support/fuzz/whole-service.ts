import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { allRoutes } from '../../../functions/routes/all-routes.ts'
import type { HttpResponse } from '../../../shared/http/envelope.ts'
import type { RouteGroup } from '../../../shared/http/route.ts'
import { APPLICATION_ROLES, type Caller, USER_ROLES } from '../../../shared/kernel/caller.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { requestsTo } from '../api/built-service.ts'
import { equals, faults, joinableFixture, OPEN } from '../api/joinable-fixture.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { TENANT } from '../jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../jobs/link-fixture.ts'

/** The name of everything in the other tenant. No response may contain it. */
export const FOREIGN = 'foreign-tenant-secret'

const FOREIGN_TENANT = '99999999-0000-4000-8000-000000000009'

export type WireRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}
export type CallerName = 'person' | 'application' | 'nobody'

/** All routes on local databases, with a tenant that has objects of every kind and a foreign tenant. */
export type WholeService = {
  readonly groups: readonly RouteGroup[]
  /** Ids of all objects, those of the foreign tenant included. */
  readonly ids: readonly string[]
  /** Faults logged so far. */
  readonly faults: unknown[]
  send(request: WireRequest, as?: CallerName): Promise<HttpResponse>
  /** Every document of the foreign tenant, with the version that the database gave it. */
  foreign(): Promise<readonly unknown[]>
  close(): Promise<void>
}

export async function openWholeService(): Promise<WholeService> {
  const fixture = await joinableFixture(conformingDispatcher, TENANT)
  const links = await openFixture()
  const { service, container } = fixture
  const self = await fixture.person(['User'])
  const clientId = randomUUID()
  const callers: Record<string, Caller> = {
    person: callerOf('user', fixture.tenantId, self.account, clientId),
    application: callerOf('application', fixture.tenantId, randomUUID(), clientId),
  }
  const authenticate = async (authorization: string | null) => {
    const caller = callers[authorization ?? '']
    if (caller === undefined) throw new Refusal('TokenMissing')
    return caller
  }
  const groups = allRoutes({ ...service, links: { ...links.deps, log: service.log } })
  const request = requestsTo(groups, { ...service.dispatch, authenticate })
  const send: WholeService['send'] = ({ method, path, headers = {}, body = '' }, as = 'application') => {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    return request(method, path, { authorization: as, ...headers }, bytes)
  }
  const own = [...(await filled(fixture, send, clientId)), ...(await filledLinks(links))]
  const everywhere = [...KEPT.map((name) => container(name)), links.container('links'), links.container('jobs')]
  const foreign = await Promise.all(everywhere.map((each) => copiedToForeign(each, fixture.tenantId)))
  return {
    groups,
    ids: [self.identityId, self.account, ...own, ...foreign.flat()],
    faults,
    send,
    foreign: async () => (await Promise.all(everywhere.map((each) => documentsOf(each, FOREIGN_TENANT)))).flat(),
    close: () => links.close(),
  }
}

function callerOf(kind: Caller['kind'], tenantId: string, objectId: string, clientId: string): Caller {
  const roles = new Set(kind === 'user' ? USER_ROLES : APPLICATION_ROLES)
  return { kind, tenantId, objectId, clientId, roles }
}

type Fixture = Awaited<ReturnType<typeof joinableFixture>>

async function filled(fixture: Fixture, send: WholeService['send'], clientId: string): Promise<string[]> {
  const holder = await fixture.person()
  const orgUnit = await fixture.put('orgUnit', { displayName: 'Ward' })
  const position = await fixture.position(holder, { orgUnit: { objectId: orgUnit } })
  const open = await fixture.joinable(OPEN, { metadata: { tags: ['a'], attributes: { key: 'value' } } })
  const criteria = await fixture.criteria('Identity', equals('identityDisplayName', 'Somebody'))
  const post = async (path: string, body: object) =>
    JSON.parse(String((await send({ method: 'POST', path, body: JSON.stringify(body) })).body)).data
  const connector = await post('/iamcore/beta/sync/connectors', { name: 'HR', clientId })
  const object = { objectType: 'identity', externalId: 'a', data: { displayName: 'A' } }
  const connected = await post(`/iamcore/beta/sync/connectors/${connector}/data`, object)
  const request = await fixture.submit(holder, open)
  return [holder.identityId, orgUnit, position, open, criteria, connector, connected, request.data.id]
}

/** A link with its first job, and a collection and a group without a link. */
async function filledLinks(links: LinkFixture): Promise<string[]> {
  const { collectionId, groupId, linkId } = await links.linked([])
  const [job] = await links.jobsOf(collectionId)
  const free = [links.collections.make([]), await links.newGroup()]
  return [collectionId, groupId, linkId, ...(job === undefined ? [] : [job.id]), ...free]
}

/** Containers of the first fixture with documents of each tenant. Those of links and jobs are in the other fixture. */
const KEPT = ['coreObjects', 'collections', 'connectors', 'connectorObjects', 'requests'] as const

async function documentsOf(container: Container, tenantId: string) {
  const { resources } = await container.items
    .query({
      query: 'SELECT * FROM c WHERE c.tenantId = @tenantId',
      parameters: [{ name: '@tenantId', value: tenantId }],
    })
    .fetchAll()
  return resources
}

/** Copies stored documents to the foreign tenant. Returns the ids of the copies. */
async function copiedToForeign(container: Container, tenantId: string): Promise<string[]> {
  const ids: string[] = []
  for (const document of await documentsOf(container, tenantId)) {
    const id = randomUUID()
    const { _rid, _self, _etag, _attachments, _ts, ...own } = document
    const copy = JSON.parse(JSON.stringify(own, (key, value) => (NAMES.includes(key) ? FOREIGN : value)))
    await container.items.create({ ...copy, id, tenantId: FOREIGN_TENANT })
    ids.push(id)
  }
  if (ids.length === 0) throw new Error(`Container ${container.id} has nothing to be another tenant's`)
  return ids
}

const NAMES = [
  'name',
  'displayName',
  'title',
  'description',
  'notes',
  'externalId',
  'directoryGroupDisplayName',
  'error',
]
