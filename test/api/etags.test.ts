import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { isConditional } from '../../shared/http/route.ts'
import { CONNECTORS, coreDataServiceOfTests, newTenant } from '../support/api/core-data-service.ts'
import { approvedBy, equals, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { openLinkApi } from '../support/api/link-api.ts'
import { users } from '../support/jobs/link-directory.ts'

const fixture = await joinableFixture()
const core = await coreDataServiceOfTests()
const links = await openLinkApi()
after(() => links.close())

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>> }
type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
/** A new object with the paths and calls that read, change and delete it. Requests are changed by actions. */
type Versioned = {
  readonly call: Call
  readonly path: string
  readonly changes: readonly { readonly method: 'PUT' | 'PATCH'; readonly path: string; readonly body: object }[]
}

const unchangeable = (path: string): Versioned => ({ call, path, changes: [] })

const call: Call = (...request) => fixture.call(fixture.admin, ...request)

async function collection(readPrefix: string): Promise<Versioned> {
  const isCriteria = readPrefix.includes('criteria')
  const id = isCriteria
    ? await fixture.criteria('Identity', equals('identityDisplayName', 'Ada'))
    : await fixture.joinable(OPEN)
  const path = `/collections-${isCriteria ? 'criteria' : 'joinable'}/beta/${id}`
  const body = { objectType: 'Identity', name: randomUUID() }
  return { call, path: `${readPrefix}/${id}`, changes: [{ method: 'PUT', path, body }] }
}

async function link(pathOf: (id: string, collectionId: string) => string): Promise<Versioned> {
  const collectionId = links.collections.make(users(0, 3))
  const id = await links.create(collectionId, await links.newGroup())
  const changes = [{ method: 'PATCH', path: `/group-links/${id}`, body: { state: 'Disabled' } }] as const
  return { call: links.call, path: pathOf(id, collectionId), changes }
}

async function connector(prefix: string): Promise<Versioned> {
  const { admin, addConnector } = await newTenant(core)
  const { id } = await addConnector('HR')
  const changes = [{ method: 'PUT', path: `${CONNECTORS}/${id}`, body: { name: 'Payroll' } }] as const
  return { call: admin, path: `${prefix}/${id}`, changes }
}

async function request(): Promise<Versioned> {
  const [subject, approver] = [await fixture.person(), await fixture.person()]
  const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
  const { data } = await fixture.submit(subject, collectionId)
  return unchangeable(`${fixture.requests}/${collectionId}/${data.id}`)
}

async function connectorObject(): Promise<Versioned> {
  const { addConnector } = await newTenant(core)
  const { send, data } = await addConnector('HR')
  const object = { externalId: 'ada', objectType: 'identity', data: { displayName: 'Ada' } }
  const { body } = await send('POST', data, object)
  const change = { data: { displayName: 'Ada Lovelace' } }
  const changes = [{ method: 'PUT', path: `${data}/${body.data}`, body: change }] as const
  return { call: send, path: `${data}/identity/ada`, changes }
}

async function eventSubscription(): Promise<Versioned> {
  const prefix = '/collections/beta/event-subscriptions'
  const body = { url: 'https://example.com/', types: ['*'] }
  const { data } = await fixture.call<{ id: string }>(fixture.admin, 'POST', prefix, body)
  const path = `${prefix}/${data.id}`
  return { call, path, changes: [{ method: 'PUT', path, body: { types: ['member.*'] } }] }
}

/** Creates an object for every route that returns an ETag. */
const RECORDS: Readonly<Record<string, () => Promise<Versioned>>> = {
  getCollection: () => collection('/collections/beta'),
  getCriteriaCollection: () => collection('/collections-criteria/beta'),
  getJoinableCollection: () => collection('/collections-joinable/beta'),
  getGroupLink: () => link((id) => `/group-links/${id}`),
  getGroupLinkOfCollection: () => link((_id, collectionId) => `/group-links/by-collection/${collectionId}`),
  // Their writes are covered with the settings: they cannot be deleted.
  getLinkSettings: async () => ({ call: links.as('administrator'), path: '/settings', changes: [] }),
  getRequest: request,
  readConnector: () => connector(CONNECTORS),
  readConnectorUnversioned: () => connector('/iamcore/sync/connectors'),
  readConnectorObject: connectorObject,
  readEventSubscription: eventSubscription,
}

/** Records with members that are determined when they are read. Their ETag is for writes only. */
const FOR_WRITES: readonly string[] = [
  'getGroupLink',
  'getGroupLinkOfCollection',
  'getRequest',
  'readConnector',
  'readConnectorObject',
  'readConnectorUnversioned',
]

it('the routes that return an ETag are covered here, and these writes check If-Match', () => {
  const routes = routeTables().flatMap((group) => group.routes)
  const reading = routes.filter(({ method, reply }) => method === 'GET' && reply.versioned !== undefined)
  assert.deepEqual(reading.map(({ operationId }) => operationId).sort(), Object.keys(RECORDS).sort())
  const forWrites = reading.filter(({ reply }) => reply.versioned === 'for-writes')
  assert.deepEqual(forWrites.map(({ operationId }) => operationId).sort(), FOR_WRITES)
  const conditional = routes.filter(isConditional)
  assert.deepEqual(conditional.map(({ method, path }) => `${method} ${path}`).sort(), [
    'DELETE /event-subscriptions/{id}',
    'DELETE /group-links/{id}',
    'DELETE /{id}',
    'DELETE /{id}',
    'DELETE /{id}',
    'DELETE /{id}/data/{connectorObjectId}',
    'PATCH /group-links/{id}',
    'PATCH /settings',
    'POST /membership-requests/{collectionId}/{requestId}/approve',
    'POST /membership-requests/{collectionId}/{requestId}/cancel',
    'POST /membership-requests/{collectionId}/{requestId}/extend',
    'POST /membership-requests/{collectionId}/{requestId}/leave',
    'POST /membership-requests/{collectionId}/{requestId}/reject',
    'POST /{id}/plan',
    'POST /{id}/plan/members',
    'PUT /event-subscriptions/{id}',
    'PUT /{id}',
    'PUT /{id}',
    'PUT /{id}',
    'PUT /{id}/data/{connectorObjectId}',
  ])
})

for (const [operation, open] of Object.entries(RECORDS)) {
  describe(`the ETag of ${operation}`, () => {
    const status = FOR_WRITES.includes(operation) ? 200 : 304
    it(`is answered with ${status} when If-None-Match has it, alone, weak, in a list or as *`, async () => {
      const record = await open()
      const { headers } = await record.call('GET', record.path)
      const etag = headers.etag ?? ''
      assert.match(etag, /^"[^"]+"$/)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await record.call('GET', record.path, undefined, { 'if-none-match': known })
        assert.deepEqual([answer.status, answer.headers.etag], [status, etag], known)
      }
      assert.equal((await record.call('GET', record.path, undefined, { 'if-none-match': '"other"' })).status, 200)
    })

    it('is compared strongly in If-Match, and changes with each write', async () => {
      const { call, path, changes } = await open()
      for (const { method, path: changed, body } of changes) {
        const { etag = '' } = (await call('GET', path)).headers
        const write = (ifMatch: string) => call(method, changed, body, { 'if-match': ifMatch })
        assert.equal((await write('"other"')).status, 412)
        // RFC 9110, section 13.1.1: a weak tag never matches.
        assert.equal((await write(`W/${etag}`)).status, 412)
        assert.equal((await write(`"other", ${etag}`)).status, 200)
        assert.equal((await write(etag)).status, 412)
        const remove = (ifMatch: string) => call('DELETE', changed, undefined, { 'if-match': ifMatch })
        assert.equal((await remove(etag)).status, 412)
        const { headers } = await call('GET', path, undefined, { 'if-none-match': etag })
        assert.notEqual(headers.etag, etag)
        assert.equal((await remove(headers.etag ?? '')).status, 200)
      }
    })

    it('matches If-Match: *', async () => {
      const { call, changes } = await open()
      for (const { method, path, body } of changes) {
        assert.equal((await call(method, path, body, { 'if-match': '*' })).status, 200)
        assert.equal((await call('DELETE', path, undefined, { 'if-match': '*' })).status, 200)
      }
    })
  })
}

for (const action of ['approve', 'reject', 'cancel', 'leave'] as const) {
  it(`If-Match with an old version prevents ${action}, and with the current one does not`, async () => {
    const [subject, approver] = [await fixture.person(), await fixture.person()]
    const policy = action === 'leave' ? OPEN : approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const { data } = await fixture.submit(subject, await fixture.joinable(policy))
    const actor = action === 'approve' || action === 'reject' ? approver : subject
    const path = `${fixture.requests}/${data.collectionId}/${data.id}`
    const act = (ifMatch: string) => fixture.call(actor.token, 'POST', `${path}/${action}`, {}, { 'if-match': ifMatch })
    const { etag = '' } = (await fixture.call(subject.token, 'GET', path)).headers
    const refused = await act('"other"')
    assert.deepEqual([refused.status, refused.codes], [412, ['PreconditionFailed']])
    assert.equal((await act(etag)).status, 200)
    assert.equal((await act(etag)).status, 412)
  })
}
