import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Client } from '@microsoft/microsoft-graph-client'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  binding,
  GROUPS,
  graphClient,
  graphToken,
  memberIds,
  openDirectory,
  reference,
  send,
  user,
} from '../support/local/directory-fixture.ts'

const PLAIN = `/v1.0/groups/${GROUPS.plain}`

describe('Batches and faults of the local directory', () => {
  let directory: LocalDirectory
  after(() => directory.close())
  let service: Client
  let token: string
  before(async () => {
    directory = await openDirectory()
    service = graphClient(directory, 'service')
    token = await graphToken(directory, 'service')
  })
  beforeEach(async () => {
    directory.setFaults([])
    for (const id of await memberIds(service, GROUPS.plain)) await ask('DELETE', `${PLAIN}/members/${id}/$ref`)
    directory.clearRequests()
  })

  const ask = (method: string, path: string, body?: unknown) => send(directory, method, path, body, token)
  const item = (id: number, method: string, url: string, body?: object) =>
    body === undefined
      ? { id: String(id), method, url }
      : { id: String(id), method, url, headers: { 'Content-Type': 'application/json' }, body }
  const add = (id: number, member = user(id)) =>
    item(id, 'POST', `/groups/${GROUPS.plain}/members/$ref`, { '@odata.id': reference(member) })
  const batch = (requests: object[]) => ask('POST', '/v1.0/$batch', { requests })
  const statuses = (answer: { body: { responses: { id: string; status: number }[] } }) =>
    Object.fromEntries(answer.body.responses.map(({ id, status }) => [id, status]))

  it('processes each item of a batch separately', async () => {
    const answer = await batch([add(1), add(2, '12345678-0000-4000-8000-000000000000'), add(3)])
    assert.deepEqual(statuses(answer as never), { 1: 204, 2: 404, 3: 204 })
    assert.deepEqual(await memberIds(service, GROUPS.plain), [user(1), user(3)])
    const [record] = directory.requests()
    assert.equal(record?.path, '/v1.0/$batch')
    assert.deepEqual(
      record?.batch?.map(({ method, path, status }) => [method, path, status]),
      [
        ['POST', `${PLAIN}/members/$ref`, 204],
        ['POST', `${PLAIN}/members/$ref`, 404],
        ['POST', `${PLAIN}/members/$ref`, 204],
      ],
    )
  })

  it('returns the items in another order', async () => {
    const requests = Array.from({ length: 20 }, (_, index) => item(index, 'GET', `/groups/${GROUPS.plain}?$select=id`))
    const orders = await Promise.all([batch(requests), batch(requests)])
    const asked = requests.map(({ id }) => id)
    for (const { body } of orders) {
      const ids = body.responses.map(({ id }: { id: string }) => id)
      assert.notDeepEqual(ids, asked)
      assert.deepEqual(new Set(ids), new Set(asked))
    }
  })

  for (const [claim, requests] of [
    ['21 items', Array.from({ length: 21 }, (_, index) => item(index, 'GET', '/groups'))],
    ['two items of one id', [item(1, 'GET', '/groups'), item(1, 'GET', '/groups')]],
    ['an item whose body has no type', [{ id: '1', method: 'POST', url: '/groups', body: {} }]],
    ['an item without an address', [{ id: '1', method: 'GET' }]],
    ['a dependency', [{ ...item(1, 'GET', '/groups'), dependsOn: ['2'] }]],
  ] as const) {
    it(`refuses a batch with ${claim} as a whole`, async () => {
      assert.equal((await batch([add(1), ...requests])).status, 400)
      assert.deepEqual(await memberIds(service, GROUPS.plain), [])
    })
  }

  it('fails single items of a batch, with their own Retry-After', async () => {
    directory.setFaults([{ method: 'POST', path: '/members/\\$ref$', times: 1, status: 429, retryAfterS: 7 }])
    const { body } = await batch([add(1), add(2)])
    const failed = body.responses.find(({ status }: { status: number }) => status === 429)
    assert.equal(failed.headers['Retry-After'], '7')
    assert.equal(failed.body.error.code, 'TooManyRequests')
    assert.equal((await memberIds(service, GROUPS.plain)).length, 1)
  })

  it('fails a number of times, with the first matching fault', async () => {
    directory.setFaults([
      { path: '^/v1\\.0/groups', times: 2, status: 503 },
      { method: 'get', times: 1, status: 409 },
    ])
    const answers = []
    for (let count = 0; count < 4; count += 1) answers.push((await ask('GET', PLAIN)).status)
    assert.deepEqual(answers, [503, 503, 409, 200])
  })

  it('refuses writes that name a certain account, with the message of Graph', async () => {
    const message = 'Guests users are not allowed to join this Unified Group due to policy setting.'
    directory.setFaults([{ path: GROUPS.plain, body: user(1), status: 403, message }])
    const answer = await ask('PATCH', PLAIN, binding([user(1), user(2)]))
    assert.deepEqual([answer.status, answer.body.error.message], [403, message])
    assert.deepEqual(statuses((await batch([add(1), add(2)])) as never), { 1: 403, 2: 204 })
    assert.deepEqual(await memberIds(service, GROUPS.plain), [user(2)])
  })

  it('applies a write and reports a failure', async () => {
    directory.setFaults([{ method: 'PATCH', applyFirst: true, times: 1 }])
    assert.equal((await ask('PATCH', PLAIN, binding([user(1)]))).status, 504)
    assert.deepEqual(await memberIds(service, GROUPS.plain), [user(1)])
    assert.equal((await ask('PATCH', PLAIN, binding([user(1)]))).status, 400)
  })

  it('drops the connection, before or after the write', async () => {
    for (const [applyFirst, expected] of [
      [false, []],
      [true, [user(2)]],
    ] as const) {
      directory.setFaults([{ method: 'PATCH', drop: true, applyFirst, times: 1 }])
      await assert.rejects(ask('PATCH', PLAIN, binding([user(2)])), TypeError)
      assert.equal(directory.requests().at(-1)?.status, 0)
      assert.deepEqual(await memberIds(service, GROUPS.plain), expected)
    }
  })

  it('delays a response', async () => {
    directory.setFaults([{ path: 'groups', delayMs: 80, times: 1 }])
    const startMs = performance.now()
    assert.equal((await ask('GET', PLAIN)).status, 200)
    assert.ok(performance.now() - startMs >= 79)
  })

  it('returns an HTML page', async () => {
    directory.setFaults([{ html: true, times: 1 }])
    const answer = await ask('GET', PLAIN)
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('content-type'), 'text/html')
    assert.equal(answer.headers.has('retry-after'), false)
  })

  it('is retried by the Graph client, as the log shows', async () => {
    directory.setFaults([{ method: 'GET', status: 503, retryAfterS: 0, times: 1 }])
    assert.equal((await service.api(`/groups/${GROUPS.plain}`).get()).id, GROUPS.plain)
    assert.deepEqual(
      directory.requests().map(({ status }) => status),
      [503, 200],
    )
  })

  it('accepts faults and lists requests through its control routes', async () => {
    assert.equal((await send(directory, 'POST', '/local/faults', { status: 500 })).status, 200)
    assert.equal((await ask('GET', PLAIN)).status, 500)
    await send(directory, 'DELETE', '/local/faults')
    assert.equal((await ask('GET', `${PLAIN}?$select=id`)).status, 200)
    const { body } = await send(directory, 'GET', '/local/requests')
    assert.deepEqual(body, [
      { method: 'GET', path: PLAIN, tenantId: '11111111-0000-4000-8000-000000000001', status: 500 },
      {
        method: 'GET',
        path: PLAIN,
        query: '$select=id',
        tenantId: '11111111-0000-4000-8000-000000000001',
        status: 200,
      },
    ])
    await send(directory, 'DELETE', '/local/requests')
    assert.deepEqual((await send(directory, 'GET', '/local/requests')).body, [])
  })

  for (const [claim, body, message] of [
    ['does nothing', { path: 'x' }, /A fault requires status/],
    ['has a bad expression', { path: '(', status: 500 }, /path must match format "regex"/],
    ['has a bad status', { status: 99 }, /status must be/],
    ['has an unknown member', { statuss: 500 }, /statuss/],
    ['never strikes', { times: 0, status: 500 }, /times must be/],
    ['has a bad age', { staleMs: -1 }, /staleMs must be/],
    ['is a list', [], /must be object/],
  ] as const) {
    it(`refuses a fault that ${claim}, with the reason`, async () => {
      const answer = await send(directory, 'POST', '/local/faults', body)
      assert.equal(answer.status, 400)
      assert.match(answer.body.message, message)
    })
  }
})
