import { createHash, randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { connectorReadRoutes, connectorRoutes } from '../../../functions/routes/connectors.ts'
import { coreObjectRoutes } from '../../../functions/routes/core-objects.ts'
import type { DispatchDependencies } from '../../../shared/http/dispatch.ts'
import type { RouteGroup } from '../../../shared/http/route.ts'
import type { Caller, Role } from '../../../shared/kernel/caller.ts'
import type { MessageQueue } from '../../../shared/kernel/messages.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { type LocalAccount, startLocalAccount } from '../contract/local-database.ts'
import { builtService, faultLog, requestsTo } from './built-service.ts'

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
  readonly cosmos: LocalAccount['cosmos']
  readonly database: LocalAccount['container']
  /** Tenants for which an evaluation was enqueued, one entry for each message. */
  readonly sentMessages: string[]
  /** Handles the audits that were enqueued, and those that they enqueue. */
  audit(): Promise<void>
  /** Reads a tenant's rows into memory, as an evaluation does. */
  loadRows(tenantId: string): Promise<unknown>
  /** Sends requests as one caller, without a token: tokens have tests of their own. */
  as(caller: Caller): Send
  /** The service after a restart, with other cursor keys if given. */
  restarted(cursorKeys?: readonly string[]): CoreDataService
  close(): Promise<void>
}

export const CURSOR_KEY = createHash('sha256').update('one').digest('base64')

/** The connector and core object routes on a database of their own. */
export async function startCoreDataService(nowMs: () => number = Date.now): Promise<CoreDataService> {
  return serviceOn(await startLocalAccount(nowMs), nowMs, [CURSOR_KEY])
}

/** The service for the tests of one file, closed after them. */
export async function coreDataServiceOfTests(nowMs?: () => number): Promise<CoreDataService> {
  const service = await startCoreDataService(nowMs)
  after(() => service.close())
  return service
}

function serviceOn(account: LocalAccount, nowMs: () => number, cursorKeys: readonly string[]): CoreDataService {
  const { cosmos, container } = account
  const sentMessages: string[] = []
  const faults: unknown[] = []
  const enqueue: MessageQueue['enqueue'] = async ({ queue, message }) => {
    if (queue === 'evaluations') sentMessages.push(message.tenantId)
    if (queue === 'audits') audits.push(message)
  }
  const audits: unknown[] = []
  const { collections, connectors, coreObjects, dispatch, messages } = builtService(
    container,
    { nowMs, elapsedMs: nowMs, log: faultLog(faults), messageQueue: { enqueue }, loadTenant: () => undefined },
    { cursorKeys },
  )
  const groups = [connectorRoutes(connectors), connectorReadRoutes(connectors), coreObjectRoutes(coreObjects)]
  return {
    cosmos,
    database: container,
    sentMessages,
    async audit() {
      for (let next = audits.shift(); next !== undefined; next = audits.shift()) await messages.audits.handle(next)
    },
    loadRows: (tenantId) => collections.snapshots.fresh(tenantId),
    as: (caller) => sendTo(groups, caller, dispatch, faults),
    restarted: (keys = cursorKeys) => serviceOn(account, nowMs, keys),
    close: () => cosmos.close(),
  }
}

/** Requests of one caller to these groups. A 500 fails the test, with the last of `faults` as its cause. */
export function sendTo(
  groups: readonly RouteGroup[],
  caller: Caller,
  dispatch: DispatchDependencies,
  faults: readonly unknown[] = [],
): Send {
  const authenticate = async (authorization: string | null) => {
    if (authorization === null) throw new Refusal('TokenMissing')
    return caller
  }
  const request = requestsTo(groups, { ...dispatch, authenticate })
  return async (method, path, body, headers = {}) => {
    const answer = await request(method, path, { authorization: 'Bearer x', ...headers }, body)
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

/** A new tenant, its administrator, and functions to add connectors and to list core objects. */
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

/** A new tenant whose first connector is an HR system, older than any connector that a test adds. */
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
