import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const REQUEST_ID = 'a-request.of_mine'

/** Paths of the probes, the description, each kind of refusal, and of no function. */
const PATHS = [
  '/',
  '/health',
  '/ready',
  '/openapi.json',
  '/docs',
  '/docs/conditions',
  '/docs/nothing',
  '/nowhere',
  '/nowhere/%zz',
  '/collections/beta',
  '/collections/beta/%ff%fe',
  '/collections-joinable/beta/x/y/z',
  '/group-link/beta/group-links',
  '/iamcore/beta/sync/connectors',
]

describe('the probes of a started environment', () => {
  let environment: StartedEnvironment
  before(async () => {
    environment = await sharedEnvironment()
  })

  const probe = async (path: string) => {
    const response = await fetch(`${environment.apiUrl}${path}`)
    return { status: response.status, headers: response.headers, json: (await response.json()) as { data: unknown } }
  }

  it('report without a token that the process responds, and that all dependencies are available', async () => {
    const [health, ready] = await Promise.all([probe('/health'), probe('/ready')])
    assert.deepEqual([health.status, health.json.data], [200, { status: 'alive' }])
    assert.deepEqual(ready.json.data, { database: 'ready', queue: 'ready', directoryKeys: 'ready' })
    assert.equal(ready.status, 200)
    assert.match(ready.headers.get('x-request-id') ?? '', /^[\w.-]{1,128}$/)
  })

  it('return no host names and no keys', async () => {
    const { Values } = JSON.parse(readFileSync(join(dirname(environment.caFile), 'local.settings.json'), 'utf8'))
    const told = JSON.stringify([await probe('/health'), await probe('/ready')])
    for (const name of ['COSMOS_ENDPOINT', 'COSMOS_KEY', 'ServiceBus', 'AUTHORITY_URL']) {
      assert.ok(Values[name].length > 5 && !told.includes(Values[name]), name)
    }
  })

  it('return the request id that was sent, or a new one, like every response', async () => {
    const ids = new Set<string>()
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PATCH']) {
        const idOf = async (id: string) => {
          const response = await fetch(`${environment.apiUrl}${path}`, { method, headers: { 'x-request-id': id } })
          const body = await response.text()
          const isEnvelope = response.headers.get('content-type')?.startsWith('application/json') === true
          if (response.status >= 400 && method !== 'HEAD') assert.ok(isEnvelope && JSON.parse(body).errors.length > 0)
          return response.headers.get('x-request-id') ?? ''
        }
        assert.equal(await idOf(REQUEST_ID), REQUEST_ID, `${method} ${path}`)
        const made = await idOf('<not sane>')
        assert.match(made, /^[\w.-]{1,128}$/, `${method} ${path}`)
        assert.ok(!ids.has(made))
        ids.add(made)
      }
    }
  })
})
