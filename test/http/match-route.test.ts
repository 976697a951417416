import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { routeMatcher } from '../../shared/http/match-route.ts'
import { type Method, type Route, route } from '../../shared/http/route.ts'

const routeOf = (method: Method, path: string): Route =>
  route(method, path, {
    operationId: `${method} ${path}`,
    summary: '',
    roles: [],
    reply: { status: 200, schema: Type.Null() },
    run: async () => ({ data: null }),
  })

const find = routeMatcher({
  prefix: 'things/beta',
  routes: [
    routeOf('GET', '/'),
    routeOf('GET', '/{id}'),
    routeOf('PUT', '/{id}'),
    routeOf('GET', '/search'),
    routeOf('POST', '/{id}/parts'),
    routeOf('POST', '/search/{text}'),
    routeOf('POST', '/search/all'),
  ],
})

const named = (method: string, path: string) => {
  const found = find(method, path)
  return found.outcome === 'found' ? [found.route.operationId, found.path] : found
}

describe('matching a route', () => {
  for (const [claim, method, path, expected] of [
    ['the prefix alone is the root', 'GET', '/things/beta', ['GET /', {}]],
    ['a trailing slash does not matter', 'GET', '/things/beta/', ['GET /', {}]],
    ['a literal segment wins over an id', 'GET', '/things/beta/search', ['GET /search', {}]],
    ['a literal segment wins wherever it is', 'POST', '/things/beta/search/all', ['POST /search/all', {}]],
    [
      'the first literal segment wins over later ones',
      'POST',
      '/things/beta/search/parts',
      ['POST /search/{text}', { text: 'parts' }],
    ],
    ['HEAD is allowed only with GET', 'PUT', '/things/beta/1/parts', { outcome: 'other-methods', allow: ['POST'] }],
    ['anything else is an id', 'GET', '/things/beta/42', ['GET /{id}', { id: '42' }]],
    [
      'a literal is no id for the methods that it lacks either',
      'PUT',
      '/things/beta/search',
      { outcome: 'other-methods', allow: ['GET', 'HEAD'] },
    ],
    ['segments are decoded', 'POST', '/things/beta/search/a%20b%2Fc', ['POST /search/{text}', { text: 'a b/c' }]],
    [
      'the other methods of a path are listed',
      'DELETE',
      '/things/beta/1',
      { outcome: 'other-methods', allow: ['GET', 'HEAD', 'PUT'] },
    ],
    ['a longer path is unknown', 'GET', '/things/beta/1/2/3', { outcome: 'none' }],
    ['an empty segment is no id', 'POST', '/things/beta//parts', { outcome: 'none' }],
    ['a path that cannot be decoded is unknown', 'GET', '/things/beta/%ff', { outcome: 'none' }],
    ['another prefix is unknown', 'GET', '/things/betamax', { outcome: 'none' }],
  ] as const) {
    it(claim, () => assert.deepEqual(named(method, path), expected))
  }

  it('throws when two routes have the same method and path', () => {
    const twice = [routeOf('GET', '/{id}'), routeOf('GET', '/{name}')]
    assert.throws(() => routeMatcher({ prefix: 'x', routes: twice }), /Two routes for GET/)
  })
})
