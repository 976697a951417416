import { createHash, randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { Container } from '@azure/cosmos'
import { connectorReadingRoutes, connectorRoutes } from '../../functions/routes/connectors.ts'
import { coreObjectRoutes } from '../../functions/routes/core-objects.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectLinks } from '../../shared/cosmos/core-object-links.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { Caller, Role } from '../../shared/domain/caller.ts'
import { TenantSnapshots } from '../../shared/domain/collections/tenant-snapshots.ts'
import { Sights } from '../../shared/domain/core/sight.ts'
import type { Doorbell } from '../../shared/domain/doorbell.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { cursors } from '../../shared/http/cursor.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import { testLag } from '../contract/local-database.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { onceOn } from '../http/once-dependencies.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
export type Body = any

export type TestAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** Sends a request as one caller. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<TestAnswer>

export type CoreDataService = {
  readonly cosmos: LocalCosmos
  readonly database: ReturnType<typeof openDatabase>
  /** Rings for evaluations so far, by tenant. */
  readonly rings: string[]
  /** Reads a tenant's rows into memory, as an evaluation does. */
  loadRows(tenantId: string): Promise<unknown>
  /** Requests of one caller. Who it is, is told to the service directly: tokens have tests of their own. */
  as(caller: Caller): Send
  /** The same service after a restart, perhaps with other cursor keys. */
  restarted(cursorKeys?: readonly string[]): CoreDataService
  close(): Promise<void>
}

export const CURSOR_KEY = createHash('sha256').update('one').digest('base64')
const COSMOS_KEY = createHash('sha256').update('key of the local database').digest('base64')

/** The connector and core object routes on a database of their own. */
export async function startCoreDataService(nowMs: () => number = Date.now): Promise<CoreDataService> {
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key: COSMOS_KEY, strict: true, nowMs, ...testLag() })
  await createContainers(cosmos.endpoint, cosmos.key)
  return serviceOn(cosmos, nowMs, [CURSOR_KEY])
}

/** The service for the tests of one file, closed after them. */
export async function coreDataServiceOfTests(nowMs?: () => number): Promise<CoreDataService> {
  const service = await startCoreDataService(nowMs)
  after(() => service.close())
  return service
}

function serviceOn(cosmos: LocalCosmos, nowMs: () => number, cursorKeys: readonly string[]): CoreDataService {
  const database = openDatabase({ endpoint: cosmos.endpoint, key: cosmos.key })
  const rings: string[] = []
  const snapshots = new TenantSnapshots(cosmosCoreObjectChanges(database('coreObjects'), nowMs), 100_000)
  const deps = {
    connectors: cosmosConnectorStore(database('connectors')),
    objects: cosmosConnectorObjectStore(database('connectorObjects')),
    coreObjects: cosmosCoreObjectStore(database('coreObjects')),
    sights: new Sights((tenantId) => snapshots.fresh(tenantId), {
      load: () => undefined,
      holds: (tenantId) => snapshots.holds(tenantId),
      links: cosmosCoreObjectLinks(database('coreObjects')),
    }),
    cursors: async () => cursors(cursorKeys),
    doorbells: {
      ring: async ({ queue, message }: Doorbell) => {
        if (queue === 'evaluations') rings.push(message.tenantId)
      },
    },
    log: { info() {}, warn() {}, error: (_event: string, error: unknown) => faults.push(error) },
    evaluationDelayMs: 0,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs,
  }
  const faults: unknown[] = []
  const groups = [connectorRoutes(deps), connectorReadingRoutes(deps), coreObjectRoutes(deps)]
  return {
    cosmos,
    database,
    rings,
    loadRows: (tenantId) => snapshots.fresh(tenantId),
    as: (caller) => sendTo(groups, caller, nowMs, database('idempotencyKeys'), faults),
    restarted: (keys = cursorKeys) => serviceOn(cosmos, nowMs, keys),
    close: () => cosmos.close(),
  }
}

/** Requests of one caller to these groups. A 500 fails the test, with the last of `faults` as its cause. */
export function sendTo(
  groups: readonly RouteGroup[],
  caller: Caller,
  nowMs: () => number,
  keys: Container,
  faults: unknown[] = [],
): Send {
  const log = { info() {}, warn() {}, error: (_event: string, error: unknown) => faults.push(error) }
  const authenticate = async (authorization: string | null) => {
    if (authorization === null) throw new Refusal('TokenMissing')
    return caller
  }
  const dispatchers = groups.map((group) => ({
    prefix: `/${group.prefix}`,
    dispatch: conformingDispatcher(group, {
      authenticate,
      findIdentity: async () => undefined,
      once: onceOn(keys, nowMs, log),
      log,
      newId: randomUUID,
      nowMs,
    }),
  }))
  return async (method, path, body, headers = {}) => {
    const found = dispatchers.find(
      ({ prefix }) => path === prefix || (/^[/?]/.test(path.slice(prefix.length)) && path.startsWith(prefix)),
    )
    if (found === undefined) throw new Error(`No group answers ${path}`)
    const sent: Record<string, string> = { authorization: 'Bearer x', 'content-type': 'application/json', ...headers }
    const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
    const answer = await found.dispatch({
      method,
      url: `http://localhost${path}`,
      header: (name) => sent[name] ?? null,
      bytes: async () => bytes,
    })
    if (answer.status === 500) throw new Error(`${method} ${path} answered 500`, { cause: faults.at(-1) })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body ?? 'null') }
  }
}

export function user(tenantId: string, objectId: string, ...roles: Role[]): Caller {
  return { kind: 'user', tenantId, objectId, clientId: randomUUID(), roles: new Set(roles) }
}

export function application(tenantId: string, clientId: string, ...roles: Role[]): Caller {
  return { kind: 'application', tenantId, objectId: randomUUID(), clientId, roles: new Set(roles) }
}

export const CONNECTORS = '/iamcore/beta/sync/connectors'
export const CORE = '/iamcore/beta/sync/coreobjects'

/** A tenant of its own with one connector, and those who work with it. */
export async function newTenant(service: CoreDataService) {
  const tenantId = randomUUID()
  const admin = service.as(user(tenantId, randomUUID(), 'Administrator'))
  const addConnector = async (name: string, more: object = {}) => {
    const clientId = randomUUID()
    const { body } = await admin('POST', CONNECTORS, { name, clientId, ...more })
    const send = service.as(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
    const data = `${CONNECTORS}/${body.data}/data`
    const batch = async (...items: unknown[]): Promise<Body[]> => {
      const answer = await send('POST', `${data}/batch`, { items })
      if (answer.status !== 200) throw new Error(`The batch answered ${answer.status}`, { cause: answer.body })
      return answer.body.data
    }
    return { id: body.data as string, clientId, send, data, batch }
  }
  const all = async (type: string): Promise<Body[]> => (await admin('GET', `${CORE}/${type}`)).body.data
  const byExternalId = async (type: string, externalId: string): Promise<Body> =>
    (await all(type)).find((object) => object.externalId === externalId)
  return { tenantId, admin, addConnector, all, byExternalId }
}

/** A tenant whose people come from an HR system: its connector is older than any that a test adds. */
export async function newTenantWithHr(service: CoreDataService) {
  const tenant = await newTenant(service)
  return { tenant, hr: await tenant.addConnector('HR') }
}

export const upsert = (objectType: string, externalId: string, data: object) => ({
  op: 'upsert',
  objectType,
  externalId,
  data,
})
export const remove = (objectType: string, externalId: string) => ({ op: 'delete', objectType, externalId })
export const to = (externalId: string) => ({ externalId })
