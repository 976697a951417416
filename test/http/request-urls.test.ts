import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpRequest } from '@azure/functions'
import { respondTo, urlBelow } from '../../functions/app/host-request.ts'

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
})
