import { createHash, randomUUID } from 'node:crypto'
import { type AllRouteDependencies, allRoutes } from '../../functions/routes/all-routes.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { APPLICATION_ROLES, type Caller, USER_ROLES } from '../../shared/domain/caller.ts'
import { Sights } from '../../shared/domain/core/sight.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { freshPeople } from '../../shared/domain/requests/request-dependencies.ts'
import { cursors } from '../../shared/http/cursor.ts'
import type { HttpAnswer } from '../../shared/http/envelope.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { equals, joinableWorld, OPEN } from '../api/joinable-world.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { onceOn } from '../http/once-dependencies.ts'
import { openWorld } from '../jobs/link-world.ts'

/** What no answer may hold: everything of the other tenant is called so. */
export const FOREIGN = 'foreign-tenant-secret'

export type WireRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}
export type CallerName = 'person' | 'application'

/** All routes on local databases, one tenant with a little of everything and a foreign one beside it. */
export type WholeService = {
  readonly groups: readonly RouteGroup[]
  /** Ids of what there is, the foreign tenant's among them. */
  readonly ids: readonly string[]
  /** Faults logged so far. */
  readonly faults: unknown[]
  send(request: WireRequest, as?: CallerName): Promise<HttpAnswer>
  close(): Promise<void>
}

export async function openWholeService(): Promise<WholeService> {
  const world = await joinableWorld()
  const links = await openWorld()
  const faults: unknown[] = []
  const log = { info() {}, warn() {}, error: (_event: string, error: unknown) => void faults.push(error) }
  const { container, nowMs } = world
  const coreData = {
    coreObjects: cosmosCoreObjectStore(container('coreObjects')),
    sights: new Sights((tenantId) => world.deps.snapshots.fresh(tenantId)),
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
      doorbells: { ring: async () => undefined },
      log,
      evaluationDelayMs: 0,
      deriveId: derivedId,
      newId: randomUUID,
      nowMs,
    },
  }
  const self = await world.person(['User'])
  const clientId = randomUUID()
  const callers: Record<CallerName, Caller> = {
    person: callerOf('user', world.tenantId, self.account, clientId),
    application: callerOf('application', world.tenantId, randomUUID(), clientId),
  }
  const groups = allRoutes(deps)
  const dispatchers = groups.map((group) => ({
    prefix: `/${group.prefix}`,
    dispatch: conformingDispatcher(group, {
      authenticate: async (authorization) => {
        const caller = callers[authorization as CallerName]
        if (caller === undefined) throw new Refusal('TokenMissing')
        return caller
      },
      findIdentity: async ({ tenantId, objectId }) =>
        (await freshPeople(tenantId, world.deps)).identityOfAccount(objectId),
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
  const ids = [self.identityId, self.account, ...(await filled(world, send, clientId)), ...(await foreignIds(world))]
  return { groups, ids, faults, send, close: () => links.close() }
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

/** Documents as the stores keep them, under another tenant. */
async function foreignIds({ container, tenantId }: World): Promise<string[]> {
  const ids: string[] = []
  for (const name of ['coreObjects', 'collections', 'connectors', 'requests'] as const) {
    const { resources } = await container(name)
      .items.query({
        query: 'SELECT * FROM c WHERE c.tenantId = @tenantId',
        parameters: [{ name: '@tenantId', value: tenantId }],
      })
      .fetchAll()
    for (const document of resources) {
      const id = randomUUID()
      const { _rid, _self, _etag, _attachments, _ts, ...own } = document
      const copy = JSON.parse(JSON.stringify(own, (key, value) => (NAMES.includes(key) ? FOREIGN : value)))
      await container(name).items.create({ ...copy, id, tenantId: '99999999-0000-4000-8000-000000000009' })
      ids.push(id)
    }
  }
  return ids
}

const NAMES = ['name', 'displayName', 'title', 'description', 'notes', 'externalId']
