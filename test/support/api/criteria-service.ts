import { randomUUID } from 'node:crypto'
import type { Overrides, Service } from '../../../functions/app/service.ts'
import { collectionRoutes } from '../../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../../functions/routes/collections-criteria.ts'
import type { ObjectType } from '../../../shared/domain/core/core-object.ts'
import type { Role } from '../../../shared/kernel/caller.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type LocalAccount, localAccount } from '../contract/local-database.ts'
import { builtService } from './built-service.ts'
import { application, type Body, type Send, sendTo, type TestAnswer, user } from './core-data-service.ts'

export const CRITERIA = '/collections-criteria/beta'
export const COLLECTIONS = '/collections/beta'
export const UNKNOWN_ID = 'eeeeeeee-0000-4000-8000-000000000001'

/** One process of the service. Processes have their own memory and share the database. */
export type CriteriaProcess = Service['requests'] &
  Pick<Service, 'evaluator' | 'dispatch'> & { readonly sentMessages: Message[] }

export type CriteriaService = {
  readonly cosmos: LocalAccount['cosmos']
  readonly database: LocalAccount['container']
  readonly process: CriteriaProcess
  /** Linked collections: collection id to the ids of its links. */
  readonly links: Map<string, string[]>
  readonly clock: { nowMs: number }
  /** Another process on the same database, with these parts in place of its own. */
  newProcess(parts?: Overrides['collections'], settings?: Partial<Settings>, more?: Overrides): CriteriaProcess
  /** Sends requests as an application of a tenant. Without roles, the application may write criteria collections. */
  as(tenantId: string, ...roles: Role[]): Send
  asUser(tenantId: string, objectId: string, ...roles: Role[]): Send
}

/**
 * The routes of criteria collections and of all collections on a database of their own, for one test file.
 * @param databaseSharesClock Leases of evaluations expire by the clock of the database. Otherwise it is real.
 */
export async function startCriteriaService({ databaseSharesClock = false } = {}): Promise<CriteriaService> {
  const clock = { nowMs: Date.parse('2030-03-01T12:00:00Z') }
  const { cosmos, container: database } = await localAccount(databaseSharesClock ? () => clock.nowMs : undefined)
  const links = new Map<string, string[]>()
  const newProcess = (parts: Overrides['collections'] = {}, settings: Partial<Settings> = {}, more: Overrides = {}) => {
    const sentMessages: Message[] = []
    const overrides: Overrides = {
      nowMs: () => clock.nowMs,
      ...(databaseSharesClock ? { elapsedMs: () => clock.nowMs } : {}),
      messageQueue: { enqueue: async (message) => void sentMessages.push(message) },
      reconciler: { reconcile: async () => false },
      collections: {
        links: {
          linksOf: async (_tenantId, collectionId) => links.get(collectionId) ?? [],
          collectionsFilling: async () => new Map(),
          linkedCollections: async () => new Map(links.keys().map((id) => [id, Infinity])),
          accountsChanged: async () => new Set(),
        },
        ...parts,
      },
      ...more,
    }
    const service = builtService(database, overrides, settings)
    return { ...service.requests, sentMessages, evaluator: service.evaluator, dispatch: service.dispatch }
  }
  const process = newProcess()
  const groups = [criteriaRoutes(process), collectionRoutes(process)]
  return {
    cosmos,
    database,
    process,
    links,
    clock,
    newProcess,
    as: (tenantId, ...roles) => {
      const held: Role[] = roles.length > 0 ? roles : ['collections-criteria.criteria.readwrite.all']
      return sendTo(groups, application(tenantId, randomUUID(), ...held), process.dispatch)
    },
    asUser: (tenantId, objectId, ...roles) => sendTo(groups, user(tenantId, objectId, ...roles), process.dispatch),
  }
}

/** A new tenant. Its core objects are written directly to the database. */
export function criteriaTenant(service: CriteriaService) {
  const tenantId = randomUUID()
  const send = service.as(tenantId)
  /** @param more Further members of the stored object. */
  const put = async (
    objectType: ObjectType,
    attributes: object,
    id: string = randomUUID(),
    deleted = false,
    more: object = {},
  ) => {
    const document = { id, tenantId, objectType, externalId: `external ${id}`, attributes, deleted, contributors: [] }
    await service.database('coreObjects').items.upsert({ ...document, ...more })
    return id
  }
  return {
    tenantId,
    send,
    put,
    person: (displayName: string, more: object = {}, id?: string) => put('identity', { displayName, ...more }, id),
    position: (identity: string, orgUnit: string | undefined, more: object = {}) =>
      put('relationship', {
        identity: { objectId: identity },
        ...(orgUnit === undefined ? {} : { orgUnit: { objectId: orgUnit } }),
        ...more,
      }),
    /** Creates a collection, of identities by default. Returns its id. */
    create: async (condition: object, more: object = {}): Promise<string> => {
      const answer = await send('POST', CRITERIA, { objectType: 'Identity', name: 'A collection', condition, ...more })
      if (answer.status !== 201) throw new Error('The collection was refused', { cause: answer.body.errors })
      return answer.body.data
    },
    /** The entries of a paged list, read page by page. */
    paged: async <Entry>(path: string, pageSize: number): Promise<Entry[]> => {
      const entries: Entry[] = []
      for (let query = `?pageSize=${pageSize}`; query !== ''; ) {
        const { body } = await send('GET', path + query)
        entries.push(...body.data)
        query = body.nextCursor === undefined ? '' : `?nextCursor=${encodeURIComponent(body.nextCursor)}`
      }
      return entries
    },
    evaluate: () => service.process.evaluator.evaluate(tenantId),
    results: async (id: string): Promise<Body> => (await send('GET', `${CRITERIA}/${id}/results`)).body.data,
    members: async (id: string): Promise<string[]> =>
      (await send('GET', `${CRITERIA}/${id}/results`)).body.data.memberIds,
  }
}

export const leaf = (id: string, operator: string, value?: unknown, field = id) => ({
  id,
  field,
  operator,
  ...(value === undefined ? {} : { value }),
})
export const all = (...conditions: object[]) => ({ groupOperator: 'AND', conditions })
export const named = (displayName: string) => all(leaf('identityDisplayName', 'Equals', displayName))
export const startsWith = (text: string) => all(leaf('identityDisplayName', 'StartsWith', text))
export const memberOf = (id: string) => all(leaf('memberOfCollection', 'Equals', id))

/** Status and error codes of a response. */
export const codes = ({ status, body }: TestAnswer) => [
  status,
  ...body.errors.map(({ code }: { code: string }) => code),
]
/** Status, and the code and target of each error. */
export const faults = ({ status, body }: TestAnswer) => [
  status,
  ...body.errors.map(({ code, target }: { code: string; target?: string }) => `${code} ${target}`),
]
