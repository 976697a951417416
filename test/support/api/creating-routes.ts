import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { TENANT, user, users } from '../jobs/link-directory.ts'
import {
  application,
  type Body,
  CONNECTORS,
  type Send,
  startCoreDataService,
  type TestAnswer,
  user as userCaller,
} from './core-data-service.ts'
import { approvedBy, equals, type JoinableFixture, joinableFixture, OPEN, type Person } from './joinable-fixture.ts'
import { type LinkApi, openLinkApi, type Reply } from './link-api.ts'

type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: unknown
  readonly codes: readonly string[]
  readonly targets: readonly (string | undefined)[]
}

/** A body that creates an object, and the number of objects that it has created. */
type Fresh = { readonly body: Body; readonly faulty: Body; count(): Promise<number> }

/** One route that creates objects, called by one caller. */
export type Creating = {
  fresh(): Promise<Fresh>
  post(body: Body, headers: Record<string, string>): Promise<Answer>
  /**
   * Restores the record of an attempt whose process ended before the result was stored: still in progress, or expired.
   */
  forgetResult(key: string, state: { isInProgress: boolean }): Promise<void>
}

/** Every route that creates objects, on local databases. Each access makes new callers. */
export async function openCreatingRoutes() {
  const fixture = await joinableFixture()
  const core = await startCoreDataService()
  const links = await openLinkApi()
  return {
    createConnector: async () => connectors(core.database('idempotencyKeys'), core.as),
    createConnectorObject: async () => connectorObjects(core.database('idempotencyKeys'), core.as),
    createCriteriaCollection: async (callerId?: string) =>
      collections(fixture, '/collections-criteria/beta', criteriaBody, callerId),
    createJoinableCollection: async (callerId?: string) =>
      collections(fixture, '/collections-joinable/beta', joinableBody, callerId),
    createEventSubscription: async () => eventSubscriptions(fixture),
    createGroupLink: async () => groupLinks(links),
    submitRequest: async () => submissions(fixture),
    submitRequestOnBehalf: async () => submissionsOnBehalf(fixture),
    /** Advances the clock of collections and requests. */
    pass: (seconds: number) => fixture.pass(seconds),
    read: (headers: Record<string, string>) =>
      fixture.call(fixture.admin, 'GET', '/collections-joinable/beta', undefined, headers),
    jobsOf: (collectionId: string) => links.jobsOf(collectionId),
    async withoutJobs<T>(act: () => Promise<T>): Promise<T> {
      const { add } = links.deps.jobs
      links.deps.jobs.add = async () => {
        throw new Error('The database is away')
      }
      try {
        return await act()
      } finally {
        links.deps.jobs.add = add
      }
    },
    async close() {
      await core.close()
      await links.close()
    },
  }
}

function connectors(keys: Container, as: (caller: ReturnType<typeof userCaller>) => Send): Creating {
  const [tenantId, callerId] = [randomUUID(), randomUUID()]
  const send = as(userCaller(tenantId, callerId, 'Administrator'))
  return {
    post: async (body, headers) => answerOf(await send('POST', CONNECTORS, body, headers)),
    async fresh() {
      const body = { name: randomUUID(), clientId: randomUUID() }
      const count = async () =>
        (await send('GET', CONNECTORS)).body.data.filter(({ name }: Body) => name === body.name).length
      return { body, faulty: { ...body, name: '' }, count }
    },
    forgetResult: forgetting(keys, tenantId, callerId),
  }
}

async function connectorObjects(keys: Container, as: (caller: ReturnType<typeof userCaller>) => Send) {
  const [tenantId, clientId] = [randomUUID(), randomUUID()]
  const admin = as(userCaller(tenantId, randomUUID(), 'Administrator'))
  const { body: connector } = await admin('POST', CONNECTORS, { name: 'HR', clientId })
  const caller = application(tenantId, clientId, 'iam-core.connector-data.readwrite.self')
  const path = `${CONNECTORS}/${connector.data}/data`
  const creating: Creating = {
    post: async (body, headers) => answerOf(await as(caller)('POST', path, body, headers)),
    async fresh() {
      const body = { objectType: 'identity', externalId: randomUUID(), data: { displayName: 'Ada' } }
      const all = async () => (await admin('GET', path)).body.data
      const count = async () => (await all()).filter(({ externalId }: Body) => externalId === body.externalId).length
      return { body, faulty: { ...body, data: { colour: 'red' } }, count }
    },
    forgetResult: forgetting(keys, tenantId, caller.objectId),
  }
  return creating
}

function eventSubscriptions(fixture: JoinableFixture): Creating {
  const path = '/collections/beta/event-subscriptions'
  const callerId = randomUUID()
  const token = fixture.caller('user', ['collection_criteria_definition-administrator'], callerId)
  return {
    post: (body, headers) => fixture.call(token, 'POST', path, body, headers),
    async fresh() {
      const body = { url: `https://example.com/${randomUUID()}`, types: ['member.*'] }
      const count = async () =>
        (await fixture.call<{ url: string }[]>(token, 'GET', path)).data.filter(({ url }) => url === body.url).length
      return { body, faulty: { ...body, types: [] }, count }
    },
    forgetResult: forgetting(fixture.container('idempotencyKeys'), fixture.tenantId, callerId),
  }
}

const criteriaBody = (name: string) => ({
  objectType: 'Identity',
  name,
  condition: equals('identityDisplayName', 'Ada'),
})
const joinableBody = (name: string) => ({ objectType: 'Identity', name, joinPolicy: OPEN })

function collections(
  fixture: JoinableFixture,
  path: string,
  bodyOf: (name: string) => Body,
  callerId: string = randomUUID(),
): Creating {
  const token = fixture.caller('user', ['collection_criteria_definition-administrator'], callerId)
  return {
    post: (body, headers) => fixture.call(token, 'POST', path, body, headers),
    async fresh() {
      const body = bodyOf(randomUUID())
      const count = async () =>
        (await fixture.call<CollectionDto[]>(token, 'GET', path)).data.filter(({ name }) => name === body.name).length
      return { body, faulty: { ...body, objectType: 'User' }, count }
    },
    forgetResult: forgetting(fixture.container('idempotencyKeys'), fixture.tenantId, callerId, fixture.nowMs),
  }
}

function groupLinks(api: LinkApi): Creating {
  return {
    post: async (body, headers) => answerOf(await api.call('POST', '/group-links', body, headers)),
    async fresh() {
      const collectionId = api.collections.make(users(0, 3))
      const body = { collectionId, directoryGroupId: await api.newGroup() }
      const count = async () => (await api.deps.links.ofCollection(TENANT, collectionId)).length
      return { body, faulty: { ...body, collectionId: randomUUID() }, count }
    },
    forgetResult: forgetting(api.container('idempotencyKeys'), TENANT, user(0), api.deps.nowMs),
  }
}

/** A collection that requires approval, and the requests for it. */
async function requested(fixture: JoinableFixture, approver: Person, token: string) {
  const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
  const path = `${fixture.requests}/${collectionId}`
  const count = async (notes: string) =>
    (await fixture.call<MembershipRequestDto[]>(fixture.admin, 'GET', path)).data.filter((one) => one.notes === notes)
      .length
  const post = (action: string): Creating['post'] => {
    return (body, headers) => fixture.call(token, 'POST', `${path}/${action}`, body, headers)
  }
  return { count, post }
}

/** Each request is for a new position: a person may submit one request for each position. */
async function submissions(fixture: JoinableFixture): Promise<Creating> {
  const [who, approver] = [await fixture.person(), await fixture.person()]
  const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }), {
    objectType: 'Relationship',
  })
  const path = `${fixture.requests}/${collectionId}`
  return {
    post: (body, headers) => fixture.call(who.token, 'POST', `${path}/submit`, body, headers),
    async fresh() {
      const notes = randomUUID()
      const body = { relationshipId: await fixture.position(who), notes }
      const all = async () => (await fixture.call<MembershipRequestDto[]>(fixture.admin, 'GET', path)).data
      const count = async () => (await all()).filter((request) => request.notes === notes).length
      return { body, faulty: { ...body, relationshipId: randomUUID() }, count }
    },
    forgetResult: forgetting(fixture.container('idempotencyKeys'), fixture.tenantId, who.account, fixture.nowMs),
  }
}

/** Each request is on behalf of a new report. */
async function submissionsOnBehalf(fixture: JoinableFixture): Promise<Creating> {
  const [manager, approver] = [await fixture.person(), await fixture.person()]
  const { count, post } = await requested(fixture, approver, manager.token)
  return {
    post: post('submit-on-behalf'),
    async fresh() {
      const report = await fixture.person()
      await fixture.position(report, { manager: { objectId: manager.identityId } })
      const body = { requesterId: report.identityId, notes: randomUUID() }
      return { body, faulty: { ...body, requesterId: 'x' }, count: () => count(body.notes) }
    },
    forgetResult: forgetting(fixture.container('idempotencyKeys'), fixture.tenantId, manager.account, fixture.nowMs),
  }
}

function forgetting(keys: Container, tenantId: string, callerId: string, nowMs = Date.now): Creating['forgetResult'] {
  return async (key, { isInProgress }) => {
    const item = keys.item(derivedId(callerId, key), tenantId)
    const { resource } = await item.read()
    await item.replace({ ...resource, result: null, inProgressUntilMs: isInProgress ? nowMs() + 60_000 : 0 })
  }
}

function answerOf({ status, headers, body }: TestAnswer | Reply): Answer {
  const errors: { code: string; target?: string }[] = body.errors
  return {
    status,
    headers,
    data: body.data,
    codes: errors.map(({ code }) => code),
    targets: errors.map(({ target }) => target),
  }
}
