import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { type LocalHost, startHost } from '../../infra/local/host/host.ts'
import { APP_SETTINGS } from '../support/architecture/settings-to-load.ts'
import { findChromium, openPage, type SeenPage } from '../support/local/headless-browser.ts'

const chromium = findChromium()
const missing = 'SKIPPED: there is no Chromium on this machine, so nobody has looked at /docs'
if (chromium === undefined) process.stderr.write(`\n${missing}\n\n`)

/** A page that violates the rules. */
const INDISCREET = '<img src="https://example.com/pixel.png"><script>console.warn("indiscreet")</script>'

async function openIndiscreetPage(browser: string): Promise<SeenPage> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(INDISCREET))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await openPage(browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.close()
  }
}

describe('the reference page in a browser', { skip: chromium === undefined ? missing : false }, () => {
  let host: LocalHost
  let page: SeenPage
  let indiscreet: SeenPage

  before(async () => {
    Object.assign(process.env, APP_SETTINGS)
    host = await startHost({
      appFolder: fileURLToPath(new URL('../..', import.meta.url)),
      entries: ['functions/api-document.ts', 'functions/docs.ts'],
      port: 0,
      settings: APP_SETTINGS,
      log: () => undefined,
    })
    const browser = chromium ?? ''
    ;[page, indiscreet] = await Promise.all([openPage(browser, `${host.url}/docs`), openIndiscreetPage(browser)])
  })
  after(() => host.close())

  it('shows every operation, by its name', () => {
    const shown = new Set([...page.dom.matchAll(/id="operations-[^"]*?-(\w+)"/g)].map(([, operationId]) => operationId))
    for (const { operationId } of routeTables().flatMap(({ routes }) => routes)) {
      assert.ok(shown.has(operationId), `${operationId} is not among ${shown.size} operations`)
    }
    assert.match(page.dom, /Create a criteria collection/)
  })

  it('writes no errors to the console', () => {
    assert.deepEqual(page.console, [])
    assert.match(indiscreet.console.join(), /indiscreet/)
  })

  it('requests only URLs of the service', () => {
    const others = page.requested.filter((url) => !url.startsWith(`${host.url}/docs/`))
    assert.deepEqual(others, [`${host.url}/openapi.json`])
    assert.ok(page.requested.length >= 4, page.requested.join())
    assert.ok(indiscreet.requested.includes('https://example.com/pixel.png'))
  })
})
