import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { consoleFiles } from '../../functions/app/console-files.ts'
import { buildConsole } from '../../infra/build/build-console.ts'
import { fileResponder } from '../../shared/http/public-files.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { APP_SETTINGS } from '../support/architecture/settings-to-load.ts'

const CLIENT_ID = '11111111-2222-4333-8444-555555555555'

/** The first load of the console with all that it imports at once, compressed. */
const FIRST_LOAD_BYTES = 75_000

describe('The files of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'collections-console-'))
  before(() => buildConsole(join(import.meta.dirname, '../..'), folder))
  after(() => rmSync(folder, { recursive: true }))

  function responder(variables: Record<string, string> = {}, folders = [folder]) {
    const settings = readSettings({ ...APP_SETTINGS, CONSOLE_CLIENT_ID: CLIENT_ID, ...variables })
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const respond = fileResponder(() => consoleFiles(settings, folders), { log, newId: () => 'made-id' })
    return (path: string) => {
      const request = { method: 'GET', url: path, header: () => null, bytes: async () => new Uint8Array() }
      const { status, headers, body } = respond(request)
      return { status, headers, text: Buffer.from(body ?? '').toString() }
    }
  }
  const assetsOf = (page: string) =>
    [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path)

  it('are a page for every view, whose policy allows this origin and the authority only', () => {
    const get = responder({ CONSOLE_AUTHORITY_URL: 'http://localhost:7073' })
    const pages = ['/console', '/console/', '/console/collections', '/console/links/x/y'].map(get)
    for (const { status, headers, text } of pages) {
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'])
      assert.equal(text, pages[0]?.text)
      const policy = headers['content-security-policy'] ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; /)
      assert.match(policy, /; connect-src 'self' http:\/\/localhost:7073; /)
      assert.doesNotMatch(policy, /unsafe/)
    }
    assert.match(pages[0]?.text ?? '', new RegExp(`content="${CLIENT_ID}"`))
  })

  it('are immutable assets with the right types, and no other files', () => {
    const get = responder()
    const types = assetsOf(get('/console').text).map((path) => {
      const { status, headers } = get(path)
      assert.deepEqual([status, headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
      return headers['content-type']
    })
    assert.deepEqual(types, ['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8'])
    for (const path of ['/console/assets/assets.json', '/console/assets/x.js', '/console/assets/../../package.json']) {
      assert.notEqual(get(path).headers['content-type'], 'text/javascript; charset=utf-8')
      assert.doesNotMatch(get(path).text, /"name"/)
    }
    assert.equal(get('/console/assets/x.js').status, 404)
  })

  it('have a first load below the limit', () => {
    const get = responder()
    const page = get('/console').text
    const read = new Map<string, string>()
    const readWithImports = (path: string): void => {
      if (read.has(path)) return
      const { text } = get(path)
      read.set(path, text)
      for (const [, name] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) readWithImports(`/console/assets/${name}`)
    }
    for (const path of assetsOf(page)) readWithImports(path)
    const sizes = [page, ...read.values()].map((text) => gzipSync(text).length)
    const sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(sizeBytes < FIRST_LOAD_BYTES, `${sizeBytes} bytes`)
  })

  it('show settings as text', () => {
    const { text } = responder({ SERVICE_RESOURCE_URI: 'api://"><script>alert(1)</script>' })('/console')
    assert.doesNotMatch(text, /<script>alert/)
  })

  it('do not exist without a client id or without a build', () => {
    assert.equal(responder({ CONSOLE_CLIENT_ID: '' })('/console').status, 404)
    const none = join(folder, 'none')
    assert.equal(existsSync(none), false)
    assert.equal(responder({}, [none])('/console').status, 404)
  })
})
