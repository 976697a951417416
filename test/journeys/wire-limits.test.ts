import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { before, describe, it } from 'node:test'
import { applicationToken } from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const PATH = '/collections-joinable/beta'

describe('HTTP over the host', () => {
  let environment: StartedEnvironment
  let authorization: string

  before(async () => {
    environment = await sharedEnvironment()
    authorization = `Bearer ${await applicationToken(environment, 'writer', environment.demo.scope)}`
  })

  async function send(method: string, path: string, headers: Record<string, string> = {}, body = '') {
    const request = httpRequest(`${environment.apiUrl}${path}`, { method, headers: { authorization, ...headers } })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }

  it('HEAD has the status and the headers of GET, and no body', async () => {
    const { status, headers, body } = await send('HEAD', PATH)
    assert.deepEqual([status, body], [200, ''])
    assert.match(headers['content-type'] ?? '', /^application\/json/)
    assert.equal((await send('HEAD', `${PATH}/x`)).status, 400)
  })

  it('OPTIONS returns 405 with Allow, also without a token', async () => {
    const { status, headers, body } = await send('OPTIONS', PATH, { authorization: '' })
    assert.deepEqual(
      [status, headers.allow, JSON.parse(body).errors[0].code],
      [405, 'GET, HEAD, POST', 'MethodNotAllowed'],
    )
  })

  it('TRACE never reaches the service', async () => {
    const { status, body } = await send('TRACE', PATH)
    assert.deepEqual([status, body.includes(authorization)], [404, false])
  })

  it('a request with the current version in If-None-Match returns 304 without a body', async () => {
    const json = { 'content-type': 'application/json' }
    const made = { objectType: 'Identity', name: 'Choir', joinPolicy: { approvalRequired: false } }
    const { headers } = await send('POST', PATH, json, JSON.stringify(made))
    const { headers: read } = await send('GET', String(headers.location))
    const known = await send('GET', String(headers.location), { 'if-none-match': String(read.etag) })
    assert.deepEqual([known.status, known.body, known.headers.etag], [304, '', read.etag])
  })

  it('a creation that is repeated with its idempotency key returns the same response', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'first choir' }
    const made = JSON.stringify({ objectType: 'Identity', name: 'Choir', joinPolicy: { approvalRequired: false } })
    const [first, second] = await Promise.all([send('POST', PATH, headers, made), send('POST', PATH, headers, made)])
    const again = await send('POST', PATH, headers, made)
    for (const { status, body, headers: answered } of [first, second, again]) {
      assert.deepEqual([status, body, answered.location], [201, first.body, first.headers.location])
    }
    assert.equal(again.headers['idempotency-replayed'], 'true')
    const reused = await send('POST', PATH, headers, made.replace('Choir', 'Band'))
    assert.deepEqual([reused.status, JSON.parse(reused.body).errors[0].code], [422, 'IdempotencyKeyReused'])
  })

  it('a creation whose client disconnects is completed, and its repetition returns the response', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'impatient' }
    const made = JSON.stringify({ objectType: 'Identity', name: 'Impatient', joinPolicy: { approvalRequired: false } })
    const options = { method: 'POST', headers: { authorization, ...headers } }
    const impatient = httpRequest(`${environment.apiUrl}${PATH}`, options).on('error', () => undefined)
    impatient.end(made, () => impatient.destroy())
    await new Promise((resolve) => impatient.once('close', resolve))
    const again = await send('POST', PATH, headers, made)
    assert.equal(again.status, 201)
    const { data } = JSON.parse((await send('GET', PATH)).body)
    assert.equal(data.filter(({ name }: { name: string }) => name === 'Impatient').length, 1)
  })

  it('a chunked body is refused before its end, with a remedy in the message, and has no effect', async () => {
    const request = httpRequest(`${environment.apiUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
    })
    request.write('{"objectType":"Identity","name":"Chunked","joinPolicy":{"approvalRequired":false}}')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const [error] = JSON.parse(await text(response)).errors
    assert.deepEqual([response.statusCode, error.code], [411, 'LengthRequired'])
    assert.match(error.message, /Content-Length/)
    request.end()
    const { data } = JSON.parse((await send('GET', PATH)).body)
    assert.deepEqual(
      data.filter(({ name }: { name: string }) => name === 'Chunked'),
      [],
    )
  })

  it('ids in a path are decoded once, also with a percent sign', async () => {
    const connectors = '/iamcore/beta/sync/connectors'
    const json = { 'content-type': 'application/json' }
    const { demo } = environment
    const [operator, writer] = await Promise.all(
      ['operator', 'connector'].map(async (name) => `Bearer ${await applicationToken(environment, name, demo.scope)}`),
    )
    const post = async (path: string, as: string | undefined, sent: object) => {
      const { status, body } = await send('POST', path, { ...json, authorization: String(as) }, JSON.stringify(sent))
      assert.equal(status, 201, body)
      return JSON.parse(body).data
    }
    const clientId = demo.tenants[0]?.apps.find(({ name }) => name === 'connector')?.clientId
    const connector = await post(connectors, operator, { name: 'Encoded', clientId })
    const externalIds = ['pAq', 'p%41q', '100%', 'a/b c', '%2e%2e', 'é#?']
    for (const externalId of externalIds) {
      const data = { displayName: 'x' }
      await post(`${connectors}/${connector}/data`, writer, { externalId, objectType: 'identity', data })
    }
    for (const externalId of externalIds) {
      const path = `${connectors}/${connector}/data/identity/${encodeURIComponent(externalId)}`
      const { status, body } = await send('GET', path, { authorization: String(writer) })
      assert.deepEqual([status, JSON.parse(body).data?.externalId], [200, externalId], path)
    }
  })

  it('a path with encoded letters is found, and a request with two tokens is not authenticated', async () => {
    assert.equal((await send('GET', PATH.replace('c', '%63'))).status, 200)
    const headers = [
      'host',
      new URL(environment.apiUrl).host,
      'authorization',
      authorization,
      'authorization',
      'Bearer x',
    ]
    const twice = httpRequest(`${environment.apiUrl}${PATH}`, { headers })
    const [response] = (await once(twice.end(), 'response')) as [IncomingMessage]
    assert.deepEqual([response.statusCode, JSON.parse(await text(response)).errors[0].code], [401, 'TokenInvalid'])
  })

  it('headers of 16 KiB are accepted, and headers over 32 KiB are refused by the host', async () => {
    assert.equal((await send('GET', PATH, { 'x-noise': 'x'.repeat(16_000) })).status, 200)
    assert.equal((await send('GET', PATH, { 'x-noise': 'x'.repeat(33_000) })).status, 431)
  })

  it('a client that disconnects or never ends its body does not delay other clients', async () => {
    const { hostname, port } = new URL(environment.apiUrl)
    const sockets = Array.from({ length: 50 }, () => connect(Number(port), hostname))
    for (const socket of sockets) {
      socket.on('error', () => undefined)
      socket.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`)
    }
    const startMs = performance.now()
    assert.equal((await send('GET', PATH)).status, 200)
    for (const socket of sockets) socket.destroy()
    assert.equal((await send('GET', PATH)).status, 200)
    assert.ok(performance.now() - startMs < 1_000)
  })
})
