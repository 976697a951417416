import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { collectionRoutes } from '../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../functions/routes/collections-criteria.ts'
import { joinableRoutes } from '../../functions/routes/collections-joinable.ts'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosAccountChangeStore, cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core-object-references.ts'
import { cosmosDeletedCoreObjects } from '../../shared/cosmos/core-object-store.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/evaluation-lease-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/request-store.ts'
import { TenantEvaluator } from '../../shared/domain/collections/tenant-evaluator.ts'
import type { Attributes, ObjectType } from '../../shared/domain/core/core-object.ts'
import { linkedAccounts } from '../../shared/domain/group-links/linked-accounts.ts'
import type { MembershipRequestRecord } from '../../shared/domain/membership-requests/membership-request.ts'
import { liveMembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { ownIdentity } from '../../shared/domain/object-access/object-access.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { dispatcher } from '../../shared/http/dispatch.ts'
import type { RouteGroup } from '../../shared/http/route.ts'
import type { Caller, Role } from '../../shared/kernel/caller.ts'
import type { Log } from '../../shared/kernel/log.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import { NO_METRICS } from '../../shared/kernel/metrics.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { localAccount } from '../contract/local-database.ts'
import { conformingDispatcher } from '../http/conformity.ts'
import { onceOn } from '../http/once-dependencies.ts'

const START_MS = Date.parse('2030-06-01T08:00:00Z')

export type Person = { readonly identityId: string; readonly account: string; readonly token: string }

export type ApiAnswer<Data> = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: Data
  readonly codes: readonly string[]
  readonly targets: readonly (string | undefined)[]
}

type Membership = { readonly objectId: string; readonly relationshipId: string | null }

const SILENT: Log = { info: () => undefined, warn: () => undefined, error: (_event, error) => faults.push(error) }

/** What was logged as a fault: none of the tests means there to be any. */
export const faults: unknown[] = []

/**
 * The service's own routes and stores over a local database, one tenant, and a clock that only the test moves.
 * @param dispatcherOf the service's own one where time is measured.
 */
export async function joinableWorld(
  dispatcherOf: typeof dispatcher = conformingDispatcher,
  tenantId: string = randomUUID(),
) {
  let elapsedMs = 0
  const nowMs = () => START_MS + elapsedMs
  const { cosmos, container } = await localAccount(nowMs)
  const rung: Message[] = []
  const linked = new Set<string>()
  const callers = new Map<string, Caller>()
  const collectionDependencies = {
    collections: cosmosCollectionStore(container('collections')),
    memberships: cosmosMembershipStore(container('members')),
    evaluationLeases: cosmosEvaluationLeaseStore(container('tenants')),
    joined: cosmosJoinedMembers(container('requests')),
    snapshots: new TenantSnapshots(
      cosmosCoreObjectChanges(container('coreObjects'), () => elapsedMs),
      100_000,
    ),
    accountChanges: cosmosAccountChangeStore(container('coreObjects')),
    links: {
      linksOf: async () => [],
      linkedCollections: async () => linked,
      accountsChanged: async () => new Set<string>(),
      behind: async () => new Set<string>(),
    },
    tenants: { remember: async () => undefined },
    messageQueue: { enqueue: async (message: Message) => void rung.push(message) },
    log: SILENT,
    metrics: NO_METRICS,
    newId: randomUUID,
    nowMs,
  }
  const deps: RequestDependencies = {
    ...collectionDependencies,
    requests: cosmosRequestStore(container('requests')),
    membershipResolver: liveMembershipResolver(collectionDependencies),
  }
  const { snapshots } = collectionDependencies
  const freshRows = (tenantId: string) => snapshots.fresh(tenantId)
  const unloaded = {
    holds: (tenantId: string) => snapshots.holds(tenantId),
    references: cosmosCoreObjectReferences(container('coreObjects')),
  }
  const evaluatorOf = () =>
    new TenantEvaluator({ ...collectionDependencies, follower: new RequestReconciler(deps), sleep })
  const evaluator = evaluatorOf()
  const dispatch = [joinableRoutes(deps), criteriaRoutes(deps), collectionRoutes(deps)].map((group: RouteGroup) => ({
    prefix: `/${group.prefix}`,
    answer: dispatcherOf(group, {
      authenticate: async (authorization) => {
        const caller = callers.get(authorization ?? '')
        if (caller === undefined) throw new Refusal('TokenMissing')
        return caller
      },
      findIdentity: (caller) => ownIdentity(caller, freshRows, unloaded),
      once: onceOn(container('idempotencyKeys'), nowMs, SILENT),
      log: SILENT,
      newId: randomUUID,
      nowMs,
    }),
  }))

  /** Tells the store's clock and the service's. */
  function pass(seconds: number): void {
    elapsedMs += seconds * 1000
  }

  /** `Data` is what the route answers when it succeeds: each answer is held to the API's description as well. */
  async function call<Data>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer<Data>> {
    const group = dispatch.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    if (group === undefined) throw new Error(`No group has ${path}`)
    const all: Record<string, string> = { authorization: token, 'content-type': 'application/json', ...headers }
    const answer = await group.answer({
      method,
      url: `http://localhost${path}`,
      header: (name) => all[name] ?? null,
      bytes: async () =>
        body instanceof Uint8Array ? body : new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
    })
    const envelope = JSON.parse(answer.body ?? 'null')
    // A 304 has no envelope.
    const errors: { code: string; target?: string }[] = envelope?.errors ?? []
    return {
      status: answer.status,
      headers: answer.headers,
      data: envelope?.data,
      codes: errors.map(({ code }) => code),
      targets: errors.map(({ target }) => target),
    }
  }

  async function put(objectType: ObjectType, attributes: Attributes, id: string = randomUUID()): Promise<string> {
    await container('coreObjects').items.upsert({
      id,
      tenantId,
      objectType,
      externalId: id,
      attributes,
      contributors: [],
      deleted: false,
    })
    return id
  }

  async function remove(objectType: ObjectType, id: string): Promise<void> {
    await container('coreObjects').items.upsert({
      id,
      tenantId,
      objectType,
      externalId: id,
      attributes: {},
      contributors: [],
      deleted: true,
    })
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

  async function criteria(objectType: string, condition: object): Promise<string> {
    const body = { objectType, name: 'Staff', condition }
    const { status, data, codes } = await call<string>(admin, 'POST', '/collections-criteria/beta', body)
    if (status !== 201) throw new Error(`The collection was refused: ${codes.join()}`)
    return data
  }

  const requests = '/collections-joinable/beta/membership-requests'
  const submit = (who: Person, collectionId: string, body: object = {}) =>
    call<MembershipRequestRecord>(who.token, 'POST', `${requests}/${collectionId}/submit`, body)
  const act = (token: string, request: { collectionId: string; id: string }, action: string, body: object = {}) =>
    call<MembershipRequestRecord>(token, 'POST', `${requests}/${request.collectionId}/${request.id}/${action}`, body)
  const read = (token: string, request: { collectionId: string; id: string }) =>
    call<MembershipRequestRecord>(token, 'GET', `${requests}/${request.collectionId}/${request.id}`)
  const results = async (collectionId: string): Promise<Membership[]> =>
    (await call<{ memberIds: Membership[] }>(admin, 'GET', `/collections-joinable/beta/${collectionId}/results`)).data
      .memberIds

  return {
    tenantId,
    cosmos,
    container,
    deps,
    evaluator,
    evaluatorOf,
    linkedCollections: linkedAccounts(
      { ...collectionDependencies, deletedObjects: cosmosDeletedCoreObjects(container('coreObjects')) },
      evaluator,
    ),
    rung,
    linked,
    nowMs,
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
    criteria,
    requests,
    submit,
    act,
    read,
    results,
  }
}

export type JoinableWorld = Awaited<ReturnType<typeof joinableWorld>>

/** A policy with one gate for each of these. */
export function approvedBy(...gates: { type: string; approvers?: readonly string[] }[]): object {
  return { approvalRequired: true, approvalGates: gates.map((gate, index) => ({ order: index + 1, ...gate })) }
}

export const OPEN: object = { approvalRequired: false }

export const equals = (id: string, value: string): object => ({
  groupOperator: 'AND',
  conditions: [{ id, field: id, operator: 'Equals', value }],
})
