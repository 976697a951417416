import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FixtureHost, startFixtureHost } from '../support/local/host-fixtures/fixture-host.ts'
import { observed } from '../support/local/host-fixtures/observed.ts'

let host: FixtureHost
describe('HTTP of the local host', () => {
  before(async () => {
    host = await startFixtureHost()
  })
  after(() => host.close())

  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(host.url + path, init)

  /** The request as the function `echo` of the fixture received it. */
  type Echo = {
    url: string
    params: Record<string, string>
    query: [string, string][]
    searchParams: [string, string][]
    bodyHex: string
  }

  async function echoed(path: string, init?: RequestInit): Promise<Echo> {
    return (await (await get(path, init)).json()) as Echo
  }

  /** Sends a raw request that `fetch` would change. Resolves with the complete response. */
  function raw(sent: string, address = '127.0.0.1'): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    let received = ''
    const socket = connect(Number(new URL(host.url).port), address, () => socket.write(sent))
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject).on('close', () => resolve(received))
    return promise
  }

  describe('a request', () => {
    it('passes the trace context of the request', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      observed.traces.length = 0
      await get('/trivial', { headers: { traceparent, tracestate: 'vendor=1' } })
      assert.equal(observed.traces[0]?.traceParent, traceparent)
      assert.equal(observed.traces[0]?.traceState, 'vendor=1')
    })

    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      it(`reaches the handler with method ${method}`, async () => {
        const response = await get('/echo/a/b', { method })
        assert.equal(response.status, 200)
        assert.equal(response.headers.get('x-method'), method)
        const body = await response.text()
        if (method === 'HEAD') assert.equal(body, '')
        else assert.deepEqual(JSON.parse(body).params, { rest: 'a/b' })
      })
    }

    it('joins repeated query values in `query` and keeps them apart in `url`', async () => {
      const { query, searchParams } = await echoed('/echo?q=1&x=%26&q=2')
      assert.deepEqual(query, [
        ['q', '1,2'],
        ['x', '&'],
      ])
      assert.deepEqual(searchParams, [
        ['q', '1'],
        ['x', '&'],
        ['q', '2'],
      ])
    })

    it('passes the bytes of a body with a content length', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const hex = Buffer.from(bytes).toString('hex')
      assert.equal((await echoed('/echo', { method: 'POST', body: bytes })).bodyHex, hex)
      assert.equal((await echoed('/echo', { method: 'POST', body: '' })).bodyHex, '')
    })

    it('passes a chunked body as an empty one, before the client has sent its end', async () => {
      const chunked = httpRequest(`${host.url}/echo`, { method: 'POST' })
      chunked.write('part of a body')
      const [response] = (await once(chunked, 'response')) as [IncomingMessage]
      assert.equal((JSON.parse(await text(response)) as Echo).bodyHex, '')
      chunked.end()
    })

    it('decodes the path once except %2F, and encodes it again for the URL', async () => {
      const { url, params } = await echoed('/%65cho/a%20b/c%2Fd/p%2541q/%41?e=%20')
      assert.equal(url, `${host.url}/echo/a%20b/c%2Fd/p%41q/A?e=%20`)
      assert.deepEqual(params, { rest: 'a b/c%2Fd/p%41q/A' })
    })

    it('joins all values of a header', async () => {
      for (const name of ['x-sent', 'authorization']) {
        const answer = await raw(
          `GET /headers/${name} HTTP/1.1\r\nhost: x\r\n${name}: one\r\n${name}: two\r\nconnection: close\r\n\r\n`,
        )
        assert.match(answer, /\r\n\r\none,two$/)
      }
    })

    it('is answered under 127.0.0.1 as well', async () => {
      assert.match(await raw('GET /trivial HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'), /^HTTP\/1.1 200 OK/)
    })

    it('with dot segments is routed by the resolved path', async () => {
      const answer = await raw('GET /echo/%2e%2E/trivial HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      assert.match(answer, /\r\n\r\nok$/)
    })

    for (const [claim, head, status] of [
      ['with a host that reshapes the address', 'GET /trivial HTTP/1.1\r\nhost: a@b', 400],
      ['with an absolute address', 'GET http://elsewhere/trivial HTTP/1.1\r\nhost: x', 400],
      ['for the whole server', 'OPTIONS * HTTP/1.1\r\nhost: x', 400],
      ['with two slashes in front', 'GET //trivial HTTP/1.1\r\nhost: x', 404],
      ['with TRACE', 'TRACE /echo HTTP/1.1\r\nhost: x', 404],
      ['with %00', 'GET /echo/%00 HTTP/1.1\r\nhost: x', 400],
      ['with a byte that is not ASCII', 'GET /echo/\u00e9 HTTP/1.1\r\nhost: x', 400],
      ['with a request line of 8 KiB', `GET /echo/${'a'.repeat(8_171)} HTTP/1.1\r\nhost: x`, 200],
      ['with a longer request line', `GET /echo/${'a'.repeat(8_172)} HTTP/1.1\r\nhost: x`, 414],
      ['with 100 headers', `GET /echo HTTP/1.1\r\nhost: x${'\r\nx: y'.repeat(98)}`, 200],
      ['with more headers', `GET /echo HTTP/1.1\r\nhost: x${'\r\nx: y'.repeat(99)}`, 431],
      ['with headers of more than 32 KiB', `GET /echo HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(32_768)}`, 431],
      ['for a path of the host', 'GET /runtime/echo HTTP/1.1\r\nhost: localhost', 404],
      ['with more than 100 MiB to come', 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 104857601', 413],
    ] as const) {
      it(`${claim} is answered ${status}`, async () => {
        const answer = await raw(`${head}\r\nconnection: close\r\n\r\n`)
        assert.equal(Number(answer.slice(9, 12)), status)
      })
    }

    it('that is aborted in its body runs no function, and one aborted in its response does no harm', async () => {
      const before = observed.ended.length
      const halfBody = httpRequest(`${host.url}/slow?delayMs=0`, { method: 'POST', headers: { 'content-length': 10 } })
      halfBody.on('error', () => undefined).write('half')
      await sleep(50)
      halfBody.destroy()
      const impatient = new AbortController()
      const answer = get('/slow?delayMs=100', { signal: impatient.signal })
      setTimeout(() => impatient.abort(), 30)
      await assert.rejects(answer, { name: 'AbortError' })
      await sleep(150)
      assert.equal(observed.ended.length, before + 1)
      assert.equal((await get('/trivial')).status, 200)
    })
  })

  describe('routing', () => {
    it('selects the first function by name with a matching template and method', async () => {
      assert.equal(await (await get('/things/special')).text(), 'alpha')
    })

    it('returns 404 with an empty body for unknown paths and other methods', async () => {
      for (const [method, path] of [
        ['GET', '/unknown'],
        ['GET', '/'],
        ['DELETE', '/trivial'],
      ] as const) {
        const response = await get(path, { method })
        assert.equal(response.status, 404, path)
        assert.equal(response.headers.get('content-type'), null)
        assert.equal(await response.text(), '')
      }
    })

    it('supports the name of a function as route, in any case', async () => {
      assert.equal((await get('/Unrouted', { method: 'POST' })).status, 200)
    })
  })

  describe('a response', () => {
    it('of a handler that throws is an empty 500, and the error is logged', async () => {
      const response = await get('/throws')
      assert.equal(response.status, 500)
      assert.equal(response.headers.get('content-type'), null)
      assert.equal(await response.text(), '')
      const entry = host.log.find(({ functionName }) => functionName === 'throws')
      assert.equal(String(entry?.error), 'Error: the handler failed')
    })

    it('of a handler that does not return an object is an empty 500', async () => {
      assert.equal((await get('/text')).status, 500)
    })

    it('of a handler that returns nothing is 204', async () => {
      const response = await get('/nothing')
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('content-length'), null)
    })

    it('can be empty', async () => {
      const response = await get('/empty')
      assert.deepEqual([response.status, response.headers.get('content-length')], [202, '0'])
    })

    it('carries bytes', async () => {
      const response = await get('/binary')
      assert.equal(response.headers.get('content-type'), 'application/octet-stream')
      assert.deepEqual(
        [...(await response.bytes())],
        Array.from({ length: 256 }, (_, byte) => byte),
      )
    })

    it('has no body if its status does not allow one', async () => {
      for (const status of [204, 304]) {
        const response = await get(`/status/${status}`)
        assert.deepEqual([response.status, await response.text()], [status, ''])
      }
      assert.equal((await get('/status/404')).status, 404)
      assert.equal((await get('/status/99')).status, 500)
    })

    it('to HEAD has no content length, not even that of the handler', async () => {
      for (const path of ['/length', '/echo']) {
        const { status, headers } = await get(path, { method: 'HEAD' })
        assert.deepEqual([status, headers.get('content-length')], [200, null])
      }
    })

    it('includes logs that the handler writes before its end', async () => {
      const invocationId = await (await get('/logs')).text()
      assert.deepEqual(
        host.log.filter((entry) => entry.invocationId === invocationId),
        [
          {
            level: 'warning',
            category: 'user',
            message: 'something { odd: true }',
            functionName: 'logs',
            invocationId,
          },
        ],
      )
    })
  })
})
