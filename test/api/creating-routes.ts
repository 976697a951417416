import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MembershipRequestRecord } from '../../shared/domain/membership-requests/membership-request.ts'
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
import { approvedBy, equals, type JoinableWorld, joinableWorld, OPEN, type Person } from './joinable-world.ts'
import { type LinkApi, openLinkApi, type Reply } from './link-api.ts'

type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: unknown
  readonly codes: readonly string[]
  readonly targets: readonly (string | undefined)[]
}

/** Something to be created, and how many there are of it. */
type Fresh = { readonly body: Body; readonly faulty: Body; count(): Promise<number> }

/** One creating route, as one caller. */
export type Creating = {
  fresh(): Promise<Fresh>
  post(body: Body, headers: Record<string, string>): Promise<Answer>
  /** Leaves the key as it is when the service died before it kept the answer: still claimed, or no more. */
  forgetAnswer(key: string, claim: { isClaimed: boolean }): Promise<void>
}

/** Every creating route, each over a database, with callers of its own each time it is asked for. */
export async function openCreatingRoutes() {
  const world = await joinableWorld()
  const core = await startCoreDataService()
  const links = await openLinkApi()
  return {
    createConnector: async () => connectors(core.database('idempotencyKeys'), core.as),
    createConnectorObject: async () => connectorObjects(core.database('idempotencyKeys'), core.as),
    createCriteriaCollection: async (callerId?: string) =>
      collections(world, '/collections-criteria/beta', criteriaBody, callerId),
    createJoinableCollection: async (callerId?: string) =>
      collections(world, '/collections-joinable/beta', joinableBody, callerId),
    createGroupLink: async () => groupLinks(links),
    submitRequest: async () => submissions(world),
    submitRequestOnBehalf: async () => submissionsOnBehalf(world),
    /** Moves the clock of collections and requests on. */
    pass: (seconds: number) => world.pass(seconds),
    read: (headers: Record<string, string>) =>
      world.call(world.admin, 'GET', '/collections-joinable/beta', undefined, headers),
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
    forgetAnswer: forgetting(keys, tenantId, callerId),
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
    forgetAnswer: forgetting(keys, tenantId, caller.objectId),
  }
  return creating
}

const criteriaBody = (name: string) => ({
  objectType: 'Identity',
  name,
  condition: equals('identityDisplayName', 'Ada'),
})
const joinableBody = (name: string) => ({ objectType: 'Identity', name, joinPolicy: OPEN })

function collections(
  world: JoinableWorld,
  path: string,
  bodyOf: (name: string) => Body,
  callerId: string = randomUUID(),
): Creating {
  const token = world.caller('user', ['collection_criteria_definition-administrator'], callerId)
  return {
    post: (body, headers) => world.call(token, 'POST', path, body, headers),
    async fresh() {
      const body = bodyOf(randomUUID())
      const count = async () =>
        (await world.call<CollectionDto[]>(token, 'GET', path)).data.filter(({ name }) => name === body.name).length
      return { body, faulty: { ...body, objectType: 'User' }, count }
    },
    forgetAnswer: forgetting(world.container('idempotencyKeys'), world.tenantId, callerId, world.nowMs),
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
    forgetAnswer: forgetting(api.container('idempotencyKeys'), TENANT, user(0), api.deps.nowMs),
  }
}

/** A collection that asks for approval, and the requests for it. */
async function requested(world: JoinableWorld, approver: Person, token: string) {
  const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
  const path = `${world.requests}/${collectionId}`
  const count = async (notes: string) =>
    (await world.call<MembershipRequestRecord[]>(world.admin, 'GET', path)).data.filter((one) => one.notes === notes)
      .length
  const post = (action: string): Creating['post'] => {
    return (body, headers) => world.call(token, 'POST', `${path}/${action}`, body, headers)
  }
  return { count, post }
}

/** Asks for a position of its own each time: one person may ask for each of them. */
async function submissions(world: JoinableWorld): Promise<Creating> {
  const [who, approver] = [await world.person(), await world.person()]
  const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }), {
    objectType: 'Relationship',
  })
  const path = `${world.requests}/${collectionId}`
  return {
    post: (body, headers) => world.call(who.token, 'POST', `${path}/submit`, body, headers),
    async fresh() {
      const notes = randomUUID()
      const body = { relationshipId: await world.position(who), notes }
      const all = async () => (await world.call<MembershipRequestRecord[]>(world.admin, 'GET', path)).data
      const count = async () => (await all()).filter((request) => request.notes === notes).length
      return { body, faulty: { ...body, relationshipId: randomUUID() }, count }
    },
    forgetAnswer: forgetting(world.container('idempotencyKeys'), world.tenantId, who.account, world.nowMs),
  }
}

/** Asks for another report each time. */
async function submissionsOnBehalf(world: JoinableWorld): Promise<Creating> {
  const [manager, approver] = [await world.person(), await world.person()]
  const { count, post } = await requested(world, approver, manager.token)
  return {
    post: post('submit-on-behalf'),
    async fresh() {
      const report = await world.person()
      await world.position(report, { manager: { objectId: manager.identityId } })
      const body = { requesterId: report.identityId, notes: randomUUID() }
      return { body, faulty: { ...body, requesterId: randomUUID() }, count: () => count(body.notes) }
    },
    forgetAnswer: forgetting(world.container('idempotencyKeys'), world.tenantId, manager.account, world.nowMs),
  }
}

function forgetting(keys: Container, tenantId: string, callerId: string, nowMs = Date.now): Creating['forgetAnswer'] {
  return async (key, { isClaimed }) => {
    const item = keys.item(derivedId(callerId, key), tenantId)
    const { resource } = await item.read()
    await item.replace({ ...resource, answer: null, claimedUntilMs: isClaimed ? nowMs() + 60_000 : 0 })
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
