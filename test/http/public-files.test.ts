import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { documentFile, SERVICE_TITLE, serviceDocument } from '../../functions/routes/service-document.ts'
import { fileResponder, type PublicFiles } from '../../shared/http/public-files.ts'
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
  const { ask } = responder(documentFile)

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
