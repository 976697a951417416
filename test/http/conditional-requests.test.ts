import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { route } from '../../shared/http/route.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { CooperativeScheduler } from '../../shared/kernel/cooperative-scheduler.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { dispatched, type Sent } from '../support/http/dispatched.ts'

const TENANT = '0f8fad5b-d9cb-469f-a165-70867728950e'
const ETAG = '"7"'

const schema = Type.Any()
const routes = [
  route('GET', '/record', {
    ...{ operationId: 'readRecord', summary: '', roles: 'any' as const },
    reply: { status: 200, schema, versioned: true },
    run: async () => ({ data: 'record', headers: { etag: ETAG } }),
  }),
  route('GET', '/record-for-writes', {
    ...{ operationId: 'readRecordForWrites', summary: '', roles: 'any' as const },
    reply: { status: 200, schema, versioned: 'for-writes' },
    run: async () => ({ data: 'record', headers: { etag: ETAG } }),
  }),
  route('PUT', '/record', {
    ...{ operationId: 'writeRecord', summary: '', roles: 'any' as const },
    identity: 'optional',
    body: Type.Array(Type.String()),
    reply: { status: 200, schema },
    run: async ({ body, ifMatch = null, ifPlan = null, identityId = null }) => ({
      data: { body, ifMatch, ifPlan, identityId },
    }),
  }),
  route('GET', '/list', {
    ...{ operationId: 'readList', summary: '', roles: 'any' as const },
    reply: { status: 200, schema },
    run: async () => ({ data: Array(1000).fill('entry') }),
  }),
  route('GET', '/limited', {
    ...{ operationId: 'readLimited', summary: '', roles: 'any' as const },
    reply: { status: 200, schema },
    run: async () => {
      throw Refusal.retryAfter('TooManyRequests', 7)
    },
  }),
]

const caller = (kind: Caller['kind']): Caller => ({
  ...{ kind, tenantId: TENANT, objectId: kind, clientId: undefined, roles: new Set() },
})
const CALLERS = { person: caller('user'), application: caller('application') }
const send = dispatched(routes, CALLERS)
const write = (headers: Readonly<Record<string, string>>, sent: Sent = {}) =>
  send({
    ...{ method: 'PUT', path: '/record', body: '["a"]', headers: { 'content-type': 'application/json', ...headers } },
    ...sent,
  })

describe('A conditional read', () => {
  for (const [header, status] of [
    [ETAG, 304],
    [`W/${ETAG}`, 304],
    [`"1", ${ETAG}`, 304],
    ['*', 304],
    ['"8"', 200],
    ['', 200],
  ] as const) {
    it(`with If-None-Match ${header} is answered with ${status}`, async () => {
      const read = await send({ path: '/record', headers: { 'if-none-match': header } })
      assert.deepEqual([read.status, read.headers.etag], [status, ETAG])
      assert.equal(read.body === undefined, status === 304)
    })
  }

  it('of a record with members that are determined when it is read always returns it', async () => {
    const read = await send({ path: '/record-for-writes', headers: { 'if-none-match': ETAG } })
    assert.deepEqual([read.status, read.headers.etag], [200, ETAG])
  })
})

describe('HEAD', () => {
  it('is answered as GET, without the content', async () => {
    const [get, head] = [await send({ path: '/record' }), await send({ path: '/record', method: 'HEAD' })]
    assert.deepEqual([head.status, head.headers, head.body], [get.status, get.headers, undefined])
  })
})

describe('A conditional write', () => {
  it('gets the version of If-Match, and none for * and without a version', async () => {
    const versions = [{}, { 'if-match': ` ${ETAG} ` }, { 'if-match': '*' }, { 'if-match': ' ' }].map(
      async (headers) => (await write(headers)).json.data.ifMatch,
    )
    assert.deepEqual(await Promise.all(versions), [null, ETAG, null, null])
  })

  it('gets the plan of If-Plan, also an empty one', async () => {
    const plans = [{}, { 'if-plan': ' plan ' }, { 'if-plan': '' }].map(
      async (headers) => (await write(headers)).json.data.ifPlan,
    )
    assert.deepEqual(await Promise.all(plans), [null, 'plan', ''])
  })

  it('gets a list as its body', async () => assert.deepEqual((await write({})).json.data.body, ['a']))
})

describe('A request', () => {
  it('has the core identity of a person where it is optional, and needs none', async () => {
    const known = dispatched(routes, CALLERS, { findIdentity: async () => 'identity' })
    const headers = { 'content-type': 'application/json' }
    const identityOf = async (to: typeof send, as: string) =>
      (await to({ method: 'PUT', path: '/record', body: '[]', headers, as })).json.data.identityId
    assert.deepEqual(
      [await identityOf(known, 'person'), await identityOf(known, 'application'), await identityOf(send, 'person')],
      ['identity', null, null],
    )
  })

  it('of a caller that is not admitted is refused before its route runs', async () => {
    const refused = dispatched(routes, CALLERS, {
      admit: ({ objectId }) => {
        if (objectId === 'application') throw new Refusal('TenantNotAllowed')
      },
    })
    const statusOf = async (as: string) => (await refused({ path: '/record', as })).status
    assert.deepEqual([await statusOf('person'), await statusOf('application')], [200, 403])
  })

  it('that is refused for a time has Retry-After, and WWW-Authenticate only without a token', async () => {
    const headersOf = async (sent: Sent) => {
      const { 'retry-after': retryAfter, 'www-authenticate': scheme } = (await send(sent)).headers
      return [retryAfter, scheme]
    }
    assert.deepEqual(await headersOf({ path: '/limited' }), ['7', undefined])
    assert.deepEqual(await headersOf({ path: '/limited', as: 'nobody' }), [undefined, 'Bearer'])
    assert.deepEqual(await headersOf({ path: '/none' }), [undefined, undefined])
  })

  it('to an unknown path gets the first 200 characters of it back', async () => {
    const { json } = await send({ path: `/${'x'.repeat(300)}` })
    assert.equal(json.errors[0].message, `The path ${`/things/beta/${'x'.repeat(300)}`.slice(0, 200)} does not exist`)
  })

  it('for a long list gets it from the scheduler, in the same form', async () => {
    let runCount = 0
    class Counted extends CooperativeScheduler {
      override run<T>(task: Parameters<CooperativeScheduler['run']>[0]): Promise<T> {
        runCount += 1
        return super.run(task) as Promise<T>
      }
    }
    const scheduled = dispatched(routes, CALLERS, { scheduler: new Counted(() => 0) })
    const [whole, inSteps] = [await send({ path: '/list' }), await scheduled({ path: '/list' })]
    assert.deepEqual([inSteps.status, inSteps.headers, inSteps.json], [whole.status, whole.headers, whole.json])
    assert.equal(runCount, 1)
    await scheduled({ path: '/record' })
    assert.equal(runCount, 1)
  })
})
