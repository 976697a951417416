import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from '@azure/functions'
import { respondTo, urlBelow } from '../../functions/app/host-request.ts'
import { servedRoutes } from '../../functions/app/served-routes.ts'
import type { Service } from '../../functions/app/service.ts'

const PREFIX = 'things/beta'

describe('the URL of a request to a route group', () => {
  for (const [claim, path, rest, expected] of [
    ['stays as it is where nothing is encoded', '/things/beta/a/b?c=%41', 'a/b', '/things/beta/a/b?c=%41'],
    ['stays as it is without a rest', '/things/beta', undefined, '/things/beta'],
    ['encodes what the host has decoded once', '/things/beta/p%41q?c=d', 'p%41q', '/things/beta/p%2541q?c=d'],
    ['encodes a percent sign', '/things/beta/100%25/x', '100%/x', '/things/beta/100%25/x'],
    ['keeps an encoded slash', '/things/beta/a%2Fb%20c', 'a%2Fb c', '/things/beta/a%2Fb%20c'],
    ['is not shortened by what looks like a dot segment', '/things/beta/', 'a/%2e%2e', '/things/beta/a/%252e%252e'],
    ['stays as it is in another case, which no route has', '/THINGS/beta/%25', '%', '/THINGS/beta/%25'],
  ] as const) {
    it(claim, () => {
      const params: Record<string, string> = rest === undefined ? {} : { rest }
      const { pathname, search } = new URL(urlBelow(PREFIX, { url: `http://x${path}`, params }), 'http://x')
      assert.equal(pathname + search, expected)
    })
  }
})

describe('A response', () => {
  it('tells browsers to come back over HTTPS, to share no window and to give pages no rights, whatever it is', async () => {
    const request = { method: 'GET', url: 'http://x/y', headers: new Headers(), params: {} } as unknown as HttpRequest
    for (const status of [200, 304, 404, 500]) {
      const { headers } = await respondTo(request, () => ({ status, headers: { etag: '"1"' } }))
      const given = headers as Readonly<Record<string, string>>
      assert.match(given['strict-transport-security'] ?? '', /^max-age=\d{8}/)
      assert.equal(given['cross-origin-opener-policy'], 'same-origin')
      assert.match(given['permissions-policy'] ?? '', /camera=\(\)/)
      assert.equal(given.etag, '"1"')
    }
  })
  it('to the address of the service leads to the console, with the headers of all responses', async () => {
    const nothing = {} as never
    const parts = { events: nothing, requests: nothing, links: nothing, connectors: nothing, coreObjects: nothing }
    const respond = servedRoutes({
      ...parts,
      dispatch: { newId: () => 'made-id', nowMs: () => 0, log: { info: () => undefined } },
    } as unknown as Service)('')
    const ask = (method: string, sent: Record<string, string> = {}) =>
      respond({ method, url: '/', header: (name) => sent[name] ?? null, bytes: async () => new Uint8Array() })
    const headers = { location: '/console', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
    const expected = { status: 302, headers: { ...headers, 'x-request-id': 'made-id' } }
    assert.deepEqual([await ask('GET'), await ask('HEAD')], [expected, expected])
    assert.equal((await ask('GET', { 'x-request-id': 'a-1' })).headers['x-request-id'], 'a-1')
    assert.equal((await ask('POST')).status, 404)
  })
})
