import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Overrides, Service } from '../../../functions/app/service.ts'
import { withEvents } from '../../../functions/routes/all-routes.ts'
import { collectionRoutes } from '../../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../../functions/routes/collections-criteria.ts'
import { joinableRoutes } from '../../../functions/routes/collections-joinable.ts'
import { searchTexts } from '../../../shared/cosmos/core/core-object-search.ts'
import type { Attributes, ObjectType } from '../../../shared/domain/core/core-object.ts'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import { collectionLinks } from '../../../shared/domain/group-links/linked-collections.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import type { dispatcher } from '../../../shared/http/dispatch.ts'
import type { Caller, Role } from '../../../shared/kernel/caller.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { localAccount } from '../contract/local-database.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { builtService, faultLog, requestsTo } from './built-service.ts'

const START_MS = Date.parse('2030-06-01T08:00:00Z')

export type Person = { readonly identityId: string; readonly account: string; readonly token: string }

export type ApiAnswer<Data> = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: Data
  readonly codes: readonly string[]
  readonly messages: readonly string[]
  readonly targets: readonly (string | undefined)[]
  readonly nextCursor: string | undefined
  readonly warnings?: object
}

type Membership = { readonly objectId: string; readonly relationshipId: string | null }

/** Faults that were logged. No test expects any. */
export const faults: unknown[] = []

/**
 * The routes of collections over a local database, one tenant, and a clock that only the test advances.
 * @param dispatcherOf the service's own dispatcher, for tests that measure time.
 * @param accountOf starts the database.
 */
export async function joinableFixture(
  dispatcherOf: typeof dispatcher = conformingDispatcher,
  tenantId: string = randomUUID(),
  accountOf: typeof localAccount = localAccount,
  more: {
    readonly overrides?: Pick<Overrides, 'mailer' | 'directory' | 'sleep'>
    readonly settings?: Partial<Settings>
  } = {},
) {
  let elapsedMs = 0
  const nowMs = () => START_MS + elapsedMs
  const { cosmos, container } = await accountOf(nowMs)
  const enqueued: Message[] = []
  /** The enqueued messages with the time of their delivery. */
  const sent: { readonly message: Message; readonly dueMs: number }[] = []
  const linked = new Set<string>()
  const callers = new Map<string, Caller>()
  /** Groups of accounts in the directory. An account that is not named is not known there. */
  const directoryGroups = new Map<string, ReadonlySet<string>>()
  /** The service as a process that has just started. */
  const newService = (): Service =>
    builtService(
      container,
      {
        nowMs,
        directory: knownGroups(directoryGroups),
        elapsedMs: () => elapsedMs,
        scheduler: new CooperativeScheduler(() => performance.now()),
        log: faultLog(faults),
        messageQueue: {
          enqueue: async (message, { delayMs = 0 }) => {
            enqueued.push(message)
            sent.push({ message, dueMs: nowMs() + delayMs })
          },
        },
        ...more.overrides,
        loadTenant: () => undefined,
        authenticate: async (authorization) => {
          const caller = callers.get(authorization ?? '')
          if (caller === undefined) throw new Refusal('TokenMissing')
          return caller
        },
        collections: {
          links: {
            linksOf: async () => [],
            collectionsFilling: (tenantId, groupIds) =>
              collectionLinks(deps.linkStore, nowMs).collectionsFilling(tenantId, groupIds),
            linkedCollections: async () => new Map(linked.keys().map((id) => [id, Infinity])),
            accountsChanged: async () => new Set<string>(),
          },
        },
      },
      { eventTargets: ['http://127.0.0.1'], ...more.settings },
    )
  const service = newService()
  const { requests: deps, evaluator } = service
  /** Sends requests to a process. */
  const requestsOf = ({ events, requests, dispatch }: Service) =>
    requestsTo(
      [joinableRoutes(requests), criteriaRoutes(requests), withEvents(collectionRoutes(requests), events)],
      dispatch,
      dispatcherOf,
    )
  const request = requestsOf(service)

  /** Advances the store's clock and the service's. */
  function pass(seconds: number): void {
    elapsedMs += seconds * 1000
  }

  /** `Data` is the type of a successful response's data. */
  async function call<Data>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer<Data>> {
    const answer = await request(method, path, { authorization: token, ...headers }, body)
    const envelope = JSON.parse(answer.body ?? 'null')
    // A 304 response has no envelope.
    const errors: { code: string; message: string; target?: string }[] = envelope?.errors ?? []
    return {
      status: answer.status,
      headers: answer.headers,
      data: envelope?.data,
      codes: errors.map(({ code }) => code),
      messages: errors.map(({ message }) => message),
      targets: errors.map(({ target }) => target),
      nextCursor: envelope?.nextCursor,
      warnings: envelope?.warnings,
    }
  }

  async function write(
    id: string,
    objectType: ObjectType,
    attributes: Attributes,
    deleted: boolean,
    more: object = {},
  ): Promise<void> {
    const searched = deleted ? {} : { search: searchTexts(objectType, attributes) }
    const document = { id, tenantId, objectType, externalId: id, attributes, contributors: [], deleted, ...searched }
    await container('coreObjects').items.upsert({ ...document, ...more })
  }

  const removed = new Set<string>()

  async function put(objectType: ObjectType, attributes: Attributes, id: string = randomUUID()): Promise<string> {
    await write(id, objectType, attributes, false, removed.has(id) ? { restored: true } : {})
    return id
  }

  /** @param more `ttl`, the seconds for which the object can be restored, or `mergedInto`. */
  const remove = async (
    objectType: ObjectType,
    id: string,
    more: { ttl?: number; mergedInto?: string } = {},
  ): Promise<void> => {
    removed.add(id)
    await write(id, objectType, {}, true, more)
  }

  function caller(kind: Caller['kind'], roles: readonly Role[], objectId: string = randomUUID()): string {
    const token = randomUUID()
    callers.set(token, { kind, tenantId, objectId, clientId: objectId, roles: new Set(roles) })
    return token
  }

  async function person(roles: readonly Role[] = ['User'], attributes: Attributes = {}): Promise<Person> {
    const account = randomUUID()
    const identityId = await put('identity', { displayName: 'Somebody', directoryObjectId: account, ...attributes })
    return { identityId, account, token: caller('user', roles, account) }
  }

  const position = (holder: Person, attributes: Attributes = {}) =>
    put('relationship', { identity: { objectId: holder.identityId }, title: 'Nurse', ...attributes })

  const admin = caller('user', ['collection_criteria_definition-administrator'])
  const writer = caller('application', ['collections-criteria.criteria.readwrite.all'])

  /** @returns The new collection's id. */
  async function joinable(joinPolicy: object, more: object = {}): Promise<string> {
    const body = { objectType: 'Identity', name: 'Choir', joinPolicy, ...more }
    const { status, data, codes } = await call<string>(admin, 'POST', '/collections-joinable/beta', body)
    if (status !== 201) throw new Error(`The collection was refused: ${codes.join()}`)
    return data
  }

  /** A join policy with one gate, and an approver there who takes no other part in the test. */
  const approvedBySomebody = async () => approvedBy({ type: 'Identity', approvers: [(await person()).identityId] })

  async function criteria(objectType: string, condition: object): Promise<string> {
    const body = { objectType, name: 'Staff', condition }
    const { status, data, codes } = await call<string>(admin, 'POST', '/collections-criteria/beta', body)
    if (status !== 201) throw new Error(`The collection was refused: ${codes.join()}`)
    return data
  }

  const requests = '/collections-joinable/beta/membership-requests'
  const submit = (who: Person, collectionId: string, body: object = {}) =>
    call<MembershipRequestDto>(who.token, 'POST', `${requests}/${collectionId}/submit`, body)
  const act = (token: string, request: { collectionId: string; id: string }, action: string, body: object = {}) =>
    call<MembershipRequestDto>(token, 'POST', `${requests}/${request.collectionId}/${request.id}/${action}`, body)
  const read = (token: string, request: { collectionId: string; id: string }) =>
    call<MembershipRequestDto>(token, 'GET', `${requests}/${request.collectionId}/${request.id}`)
  const results = async (collectionId: string): Promise<Membership[]> =>
    (await call<{ memberIds: Membership[] }>(admin, 'GET', `/collections-joinable/beta/${collectionId}/results`)).data
      .memberIds

  return {
    tenantId,
    cosmos,
    container,
    service,
    deps,
    evaluator,
    newService,
    requestsOf,
    linkedCollections: service.links.collections,
    enqueued,
    sent,
    linked,
    nowMs,
    directoryGroups,
    pass,
    call,
    put,
    remove,
    caller,
    person,
    position,
    admin,
    writer,
    joinable,
    approvedBySomebody,
    criteria,
    requests,
    submit,
    act,
    read,
    results,
  }
}

export type JoinableFixture = Awaited<ReturnType<typeof joinableFixture>>

/** A join policy with these gates, in order. */
export function approvedBy(...gates: { type: string; approvers?: readonly string[] }[]): object {
  return { approvalRequired: true, approvalGates: gates.map((gate, index) => ({ order: index + 1, ...gate })) }
}

/**
 * A directory that knows the groups of accounts. No test of collections asks for more; the sweep of a tenant without
 * links reads no group.
 */
function knownGroups(groups: ReadonlyMap<string, ReadonlySet<string>>): Directory {
  const known: Pick<Directory, 'groupsOf' | 'readGroupsWithMembers'> = {
    groupsOf: async (_tenantId, account) => groups.get(account),
    readGroupsWithMembers: async (_tenantId, groupIds) => {
      assert.deepEqual(groupIds, [], 'A test of links reads groups of the local directory.')
      return new Map()
    },
  }
  return known as Directory
}

export const OPEN: object = { approvalRequired: false }

export const equals = (id: string, value: string): object => ({
  groupOperator: 'AND',
  conditions: [{ id, field: id, operator: 'Equals', value }],
})
