import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { CONDITION_EXAMPLES } from '../../functions/routes/examples/condition-examples.ts'
import { documentFile, SERVICE_TITLE, serviceDocument } from '../../functions/routes/service-document.ts'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { COMPUTED_ATTRIBUTES } from '../../shared/domain/criteria/computed-attributes.ts'
import { OPERATORS } from '../../shared/domain/criteria/condition.ts'
import { FUNCTION_TYPES } from '../../shared/domain/criteria/field-expression.ts'
import { proofsTask } from '../../shared/domain/criteria/proofs/prove-condition.ts'
import { storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { fileResponder, type PublicFiles } from '../../shared/http/public-files.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'
import { conditionLanguagePage } from '../../shared/openapi/condition-language-page.ts'
import { referencePage } from '../../shared/openapi/reference-page.ts'

function responder(files: () => PublicFiles) {
  const faults: unknown[] = []
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_event: string, error: unknown) => void faults.push(error),
  }
  const respond = fileResponder(files, { log, newId: () => 'made-id' })
  const ask = (method: string, url: string, headers: Record<string, string> = {}) =>
    respond({ method, url, header: (name) => headers[name] ?? null, bytes: async () => new Uint8Array() })
  return { ask, faults }
}

const textOf = (body: string | Uint8Array | undefined) => Buffer.from(body ?? '').toString()

describe('serving the API document', () => {
  const { ask } = responder(() => documentFile(serviceDocument()))

  it('needs no token, and returns 304 for the current version', () => {
    const { status, headers, body } = ask('GET', '/openapi.json')
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(textOf(body)), JSON.parse(JSON.stringify(serviceDocument())))
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    const again = ask('GET', '/openapi.json', { 'if-none-match': `"other", ${headers.etag}` })
    assert.deepEqual([again.status, again.body, again.headers.etag], [304, undefined, headers.etag])
    assert.deepEqual(ask('HEAD', '/openapi.json').headers, headers)
    assert.equal(ask('HEAD', '/openapi.json').body, undefined)
  })

  it('is compressed for clients that accept gzip, under the same tag', () => {
    const plain = ask('GET', '/openapi.json')
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'gzip'],
      ['br;q=1, gzip;q=0.5', 'gzip'],
      ['gzip;q=0', undefined],
      ['gzip;q=0.000', undefined],
      ['identity', undefined],
    ] as const) {
      const { headers } = ask('GET', '/openapi.json', { 'accept-encoding': accepted })
      assert.equal(headers['content-encoding'], encoding, accepted)
    }
    const { headers, body } = ask('GET', '/openapi.json', { 'accept-encoding': 'gzip' })
    assert.deepEqual([headers.etag, headers.vary], [plain.headers.etag, 'accept-encoding'])
    assert.equal(gunzipSync(Buffer.from(body ?? '')).toString(), textOf(plain.body))
    assert.ok(Buffer.from(body ?? '').length < Buffer.from(plain.body ?? '').length / 5)
  })

  it('refuses other methods with an envelope', () => {
    const { status, headers, body } = ask('POST', '/openapi.json', { 'x-request-id': 'mine' })
    assert.deepEqual([status, headers.allow, headers['x-request-id']], [405, 'GET, HEAD', 'mine'])
    assert.equal(JSON.parse(textOf(body)).errors[0].code, 'MethodNotAllowed')
  })
})

describe('serving the reference page', () => {
  const { ask } = responder(() => referencePage({ title: SERVICE_TITLE, path: '/docs', documentPath: '/openapi.json' }))
  const page = ask('GET', '/docs')
  const loaded = [...textOf(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)

  it('allows only its own origin', () => {
    assert.equal(page.status, 200)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    const policy = page.headers['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'self'; img-src 'self' data:;/)
    assert.doesNotMatch(policy, /unsafe|http/)
    assert.equal(page.headers['x-content-type-options'], 'nosniff')
    assert.ok(loaded.length > 3 && loaded.every((path) => /^\/(?!\/)/.test(path)), loaded.join())
    assert.doesNotMatch(textOf(page.body), /<script>|<style|javascript:|\son\w+=/)
  })

  it('serves all files that it loads with the right type, and versioned files as immutable', () => {
    const types = loaded
      .filter((path) => path !== '/openapi.json')
      .map((path) => {
        const { status, headers, body } = ask('GET', path)
        assert.equal(status, 200, path)
        assert.ok(Buffer.from(body ?? '').length > 100, path)
        assert.equal(headers['x-content-type-options'], 'nosniff')
        const isVersioned = /^\/docs\/\d+\.\d+\.\d+\//.test(path)
        assert.match(headers['cache-control'] ?? '', isVersioned ? /max-age=31536000, immutable/ : /^no-cache$/)
        return headers['content-type']
      })
    const script = 'text/javascript; charset=utf-8'
    assert.deepEqual(types, ['image/png', 'text/css; charset=utf-8', script, script])
    assert.match(textOf(ask('GET', '/docs/initializer.js').body), /"url":"\/openapi.json".*"validatorUrl":null/)
  })

  for (const path of [
    '/docs/index.html',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/5.35.0/..%2fpackage.json',
    '/docs/5.35.0/swagger-ui-bundle.js.map',
    '/docs/5.35.0/package.json',
    '/docs/5.35.0/',
    '/docs//initializer.js',
    '/docs/__proto__',
    '/docs/initializer.js%00.png',
  ]) {
    it(`has no file at ${path}`, () => {
      const { status, body } = ask('GET', path)
      assert.deepEqual([status, JSON.parse(textOf(body)).errors[0].code], [404, 'RouteNotFound'])
    })
  }

  it('is served with a trailing slash, and refuses other methods', () => {
    assert.equal(ask('GET', '/docs/').status, 200)
    assert.equal(ask('DELETE', '/docs/initializer.js').status, 405)
  })

  it('reports an unreadable file as a fault', () => {
    const broken = responder(
      () =>
        new Map([
          [
            '/docs',
            {
              contentType: 'text/html',
              read: () => {
                throw new Error('gone')
              },
            },
          ],
        ]),
    )
    const { status, body } = broken.ask('GET', '/docs')
    assert.deepEqual([status, JSON.parse(textOf(body)).errors[0].code], [500, 'InternalError'])
    assert.equal(broken.faults.length, 1)
  })
})

describe('the page about the language of conditions', () => {
  const page = conditionLanguagePage({ path: '/docs/conditions', examples: CONDITION_EXAMPLES })
  const { ask } = responder(() => page)
  const html = textOf(ask('GET', '/docs/conditions').body)

  it('names every operator and function of the language and every computed attribute', () => {
    const names = [...OPERATORS, ...Object.keys(FUNCTION_TYPES), ...Object.keys(COMPUTED_ATTRIBUTES)]
    assert.deepEqual(
      names.filter((name) => !html.includes(`<code>${name}`)),
      [],
    )
  })

  it('loads nothing but its own style sheet', () => {
    assert.deepEqual(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path),
      ['/docs/conditions.css'],
    )
    assert.equal(ask('GET', '/docs/conditions.css').status, 200)
    assert.doesNotMatch(html, /<script|<style|style=/)
  })

  const TYPES = new Map([
    ['identityCustom/grade', 'Integer'],
    ['identityCustom/courses', 'StringList'],
  ] as const)
  for (const { meaning, condition } of CONDITION_EXAMPLES) {
    it(`shows a condition that is accepted without warnings: ${meaning}`, () => {
      const check = checkCondition(condition, storedConditionSchema(TYPES))
      assert.ok(check.ok, JSON.stringify(check))
      assert.deepEqual(runToCompletion(proofsTask(check.condition.root)), [])
    })
  }
})
