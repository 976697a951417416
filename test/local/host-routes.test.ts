import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodePath, encodePath } from '../../infra/local/host/request-path.ts'
import { compileRoute, splitPath } from '../../infra/local/host/route-table.ts'

const match = (template: string, path: string): Record<string, string> | undefined => {
  const values = compileRoute(template)(splitPath(path))
  return values && { ...values }
}

describe('a route template', () => {
  for (const [template, path, expected] of [
    ['', '/', {}],
    ['', '/a', undefined],
    ['a/b', '/a/b', {}],
    ['a/b', '/A/B/', {}],
    ['/a/b/', '/a/b', {}],
    ['a/b', '/a', undefined],
    ['a/b', '/a/b/c', undefined],
    ['a/b', '/a//b', undefined],
    ['a/{id}', '/a/1', { id: '1' }],
    ['a/{id}', '/a', undefined],
    ['a/{id}', '/a/', undefined],
    ['a/{id?}', '/a', {}],
    ['a/{id=7}', '/a', { id: '7' }],
    ['a/{id=7}', '/a/8', { id: '8' }],
    ['a/{*rest}', '/a', {}],
    ['a/{*rest}', '/a/', {}],
    ['a/{*rest}', '/a/b/c', { rest: 'b/c' }],
    ['a/{**rest}', '/a/b//c/', { rest: 'b//c/' }],
    ['a/{*rest}', '/a//b', undefined],
    ['a/{*rest=none}', '/a', { rest: 'none' }],
    ['{*rest}', '/', {}],
    ['{*rest}', '/x/y', { rest: 'x/y' }],
    ['{*rest}', '//x', undefined],
    ['a/{id:int}', '/a/-12', { id: '-12' }],
    ['a/{id:int}', '/a/x', undefined],
    ['a/{id:int}', '/a/2147483648', undefined],
    ['a/{id:guid}', '/a/3f2504e0-4f89-11d3-9a0c-0305e82c3301', { id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301' }],
    ['a/{id:guid}', '/a/3f2504e0', undefined],
    ['a/{id:alpha:length(2,3)}', '/a/abc', { id: 'abc' }],
    ['a/{id:alpha:length(2,3)}', '/a/abcd', undefined],
    ['a/{id:range(3,5)?}', '/a/6', undefined],
    ['a/{id:range(3,5)?}', '/a', {}],
    [String.raw`a/{id:regex(^\d{{2}}-(x|y)$)}`, '/a/12-y', { id: '12-y' }],
    [String.raw`a/{id:regex(^\d{{2}}-(x|y)$)}`, '/a/123-y', undefined],
    ['a{{b}}', '/a{b}', {}],
    ['{from}-{to}', '/a-b-c', { from: 'a-b', to: 'c' }],
    ['v{version}', '/V2', { version: '2' }],
    ['v{version}', '/v', undefined],
    ['{name}.{extension?}', '/a.b.txt', { name: 'a.b', extension: 'txt' }],
    ['{name}.{extension?}', '/plain', { name: 'plain' }],
    ['{name}.{extension?}', '/plain.', undefined],
  ] as const) {
    const outcome = expected === undefined ? 'does not match' : `gives ${JSON.stringify(expected)} for`
    it(`"${template}" ${outcome} ${path}`, () => assert.deepEqual(match(template, path), expected))
  }

  for (const [template, complaint] of [
    ['a/{id', /not closed/],
    ['a/id}', /outside of a parameter/],
    ['a?', /outside of a parameter/],
    ['a//b', /two consecutive slashes/],
    ['a/{}', /not a valid parameter/],
    ['a/{id?x}', /not a valid parameter/],
    ['{id}/{ID}', /is duplicated/],
    ['{*rest}/a', /whole last segment/],
    ['a{*rest}', /whole last segment/],
    ['{*rest?}', /always optional/],
    ['{a}{b}', /without text between/],
    ['{a}-{b?}', /only after a final "\."/],
    ['{id:nosuch}', /unknown route constraint "nosuch"/],
    ['{id:max(x)}', /not an integer/],
  ] as const) {
    it(`"${template}" is refused`, () => assert.throws(() => compileRoute(template), complaint))
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
