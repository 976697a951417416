import { createHash, randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { type AllRouteDependencies, allRoutes } from '../../functions/routes/all-routes.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core-object-references.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { freshOrgChart } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { ObjectAccessResolver } from '../../shared/domain/object-access/object-access.ts'
import { cursors } from '../../shared/http/cursor.ts'
import type { HttpAnswer } from '../../shared/http/envelope.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { APPLICATION_ROLES, type Caller, USER_ROLES } from '../../shared/kernel/caller.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { equals, joinableWorld, OPEN } from '../api/joinable-world.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { onceOn } from '../http/once-dependencies.ts'
import { TENANT } from '../jobs/link-directory.ts'
import { type LinkWorld, openWorld } from '../jobs/link-world.ts'

/** What no answer may hold: everything of the other tenant is called so. */
export const FOREIGN = 'foreign-tenant-secret'

const FOREIGN_TENANT = '99999999-0000-4000-8000-000000000009'

export type WireRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}
export type CallerName = 'person' | 'application' | 'nobody'

/** All routes on local databases, one tenant with a little of everything and a foreign one beside it. */
export type WholeService = {
  readonly groups: readonly RouteGroup[]
  /** Ids of what there is, the foreign tenant's among them. */
  readonly ids: readonly string[]
  /** Faults logged so far. */
  readonly faults: unknown[]
  send(request: WireRequest, as?: CallerName): Promise<HttpAnswer>
  /** Every document of the foreign tenant, with the version that the database gave it. */
  foreign(): Promise<readonly unknown[]>
  close(): Promise<void>
}

export async function openWholeService(): Promise<WholeService> {
  const world = await joinableWorld(conformingDispatcher, TENANT)
  const links = await openWorld()
  const faults: unknown[] = []
  const log = { info() {}, warn() {}, error: (_event: string, error: unknown) => void faults.push(error) }
  const { container, nowMs } = world
  const coreData = {
    coreObjects: cosmosCoreObjectStore(container('coreObjects')),
    objectAccess: new ObjectAccessResolver((tenantId) => world.deps.snapshots.fresh(tenantId), {
      load: () => undefined,
      holds: (tenantId) => world.deps.snapshots.holds(tenantId),
      references: cosmosCoreObjectReferences(container('coreObjects')),
    }),
    cursors: async () => cursors([createHash('sha256').update('fuzz').digest('base64')]),
  }
  const deps: AllRouteDependencies = {
    requests: { ...world.deps, log },
    links: { ...links.deps, log },
    coreObjects: coreData,
    connectors: {
      ...coreData,
      connectors: cosmosConnectorStore(container('connectors')),
      objects: cosmosConnectorObjectStore(container('connectorObjects')),
      messageQueue: { enqueue: async () => undefined },
      log,
      evaluationDelayMs: 0,
      deriveId: derivedId,
      newId: randomUUID,
      nowMs,
    },
  }
  const self = await world.person(['User'])
  const clientId = randomUUID()
  const callers: Record<string, Caller> = {
    person: callerOf('user', world.tenantId, self.account, clientId),
    application: callerOf('application', world.tenantId, randomUUID(), clientId),
  }
  const groups = allRoutes(deps)
  const dispatchers = groups.map((group) => ({
    prefix: `/${group.prefix}`,
    dispatch: conformingDispatcher(group, {
      authenticate: async (authorization) => {
        const caller = callers[authorization ?? '']
        if (caller === undefined) throw new Refusal('TokenMissing')
        return caller
      },
      findIdentity: async ({ tenantId, objectId }) =>
        (await freshOrgChart(tenantId, world.deps)).identityOfAccount(objectId),
      once: onceOn(container('idempotencyKeys'), nowMs, log),
      log,
      newId: randomUUID,
      nowMs,
    }),
  }))
  const send: WholeService['send'] = async ({ method, path, headers = {}, body = '' }, as = 'application') => {
    const found = dispatchers.find(
      ({ prefix }) => path === prefix || (/^[/?]/.test(path.slice(prefix.length)) && path.startsWith(prefix)),
    )
    if (found === undefined) throw new Error(`No group answers ${path}`)
    const all: Record<string, string> = { authorization: as, 'content-type': 'application/json', ...headers }
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
    return found.dispatch({
      method,
      url: `http://localhost${path}`,
      header: (name) => all[name] ?? null,
      bytes: async () => bytes,
    })
  }
  const own = [...(await filled(world, send, clientId)), ...(await filledLinks(links))]
  const everywhere = [...KEPT.map((name) => container(name)), links.container('links'), links.container('jobs')]
  const foreign = await Promise.all(everywhere.map((each) => copiedToForeign(each, world.tenantId)))
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

type World = Awaited<ReturnType<typeof joinableWorld>>

async function filled(world: World, send: WholeService['send'], clientId: string): Promise<string[]> {
  const holder = await world.person()
  const orgUnit = await world.put('orgUnit', { displayName: 'Ward' })
  const position = await world.position(holder, { orgUnit: { objectId: orgUnit } })
  const open = await world.joinable(OPEN, { metadata: { tags: ['a'], attributes: { key: 'value' } } })
  const criteria = await world.criteria('Identity', equals('identityDisplayName', 'Somebody'))
  const post = async (path: string, body: object) =>
    JSON.parse((await send({ method: 'POST', path, body: JSON.stringify(body) })).body ?? 'null').data
  const connector = await post('/iamcore/beta/sync/connectors', { name: 'HR', clientId })
  const object = { objectType: 'identity', externalId: 'a', data: { displayName: 'A' } }
  const connected = await post(`/iamcore/beta/sync/connectors/${connector}/data`, object)
  const request = await world.submit(holder, open)
  return [holder.identityId, orgUnit, position, open, criteria, connector, connected, request.data.id]
}

/** A link and its first job, a collection and a group that are free to be linked. */
async function filledLinks(links: LinkWorld): Promise<string[]> {
  const { collectionId, groupId, linkId } = await links.linked([])
  const [job] = await links.jobsOf(collectionId)
  const free = [links.collections.make([]), await links.newGroup()]
  return [collectionId, groupId, linkId, ...(job === undefined ? [] : [job.id]), ...free]
}

/** Containers of the one world that hold something of each tenant; those of links are the other's. */
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

/** Documents as the stores keep them, under another tenant. Answers their ids. */
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
