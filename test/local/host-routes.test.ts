import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodePath, encodePath } from '../../infra/local/host/request-path.ts'
import { compileRoute } from '../../infra/local/host/route-table.ts'

describe('a route template', () => {
  for (const [template, path, expected] of [
    ['', '/', {}],
    ['', '/a', undefined],
    ['a/b', '/a/b', {}],
    ['a/b', '/A/B/', {}],
    ['a/b', '/a', undefined],
    ['a/b', '/a/b/c', undefined],
    ['a/b', '/a//b', undefined],
    ['a.json', '/a.json', {}],
    ['a.json', '/a-json', undefined],
    ['a/{*rest}', '/a', {}],
    ['a/{*rest}', '/a/', {}],
    ['a/{*rest}', '/ab', undefined],
    ['a/{*rest}', '/a/b//c/', { rest: 'b//c/' }],
    ['a/{*rest}', '/a/line\nline', { rest: 'line\nline' }],
    ['a/{*rest}', '/a//b', undefined],
    ['{*rest}', '/', {}],
    ['{*rest}', '/x/y', { rest: 'x/y' }],
    ['{*rest}', '//x', undefined],
  ] as const) {
    const outcome = expected === undefined ? 'does not match' : `gives ${JSON.stringify(expected)} for`
    it(`"${template}" ${outcome} ${path}`, () => assert.deepEqual(compileRoute(template)(path), expected))
  }

  for (const template of ['a/{id', 'a?', 'a//b', 'a/{id}', '{*rest}/a', 'a{*rest}', 'a/{*rest?}', 'a/{*rest:int}']) {
    it(`"${template}" is refused`, () => assert.throws(() => compileRoute(template), /only literal segments/))
  }
})

describe('a path', () => {
  for (const [raw, decoded] of [
    ['/a%20b', '/a b'],
    ['/a%2Fb%2f%41', '/a%2Fb%2fA'],
    ['/%C3%A9', '/é'],
    ['/%E9', '/%E9'],
    ['/100%', '/100%'],
    ['/a+b', '/a+b'],
    ['/p%2541q', '/p%41q'],
    ['/a/%2e%2E/b/./c//d', '/b/c//d'],
    ['/a/b/..', '/a/'],
    ['/a/...', '/a/...'],
    ['/%252e%252e/a', '/%2e%2e/a'],
    ['/a%00', undefined],
  ] as const) {
    it(`${raw} is decoded to ${decoded}`, () => assert.equal(decodePath(raw), decoded))
  }

  for (const [decoded, encoded] of [
    ['/a b/c%2Fd', '/a%20b/c%2Fd'],
    ['/p%41q', '/p%41q'],
    ['/100%', '/100%25'],
    ['/é😀', '/%C3%A9%F0%9F%98%80'],
    ["/~!$&'()*+,;=:@-._", "/~!$&'()*+,;=:@-._"],
    ['/a?b#c\\d"', '/a%3Fb%23c%5Cd%22'],
  ] as const) {
    it(`${decoded} is encoded to ${encoded}`, () => assert.equal(encodePath(decoded), encoded))
  }
})
