import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { serviceIdentity } from '../../functions/app/connections.ts'

const CLIENT_ID = '33333333-3333-4333-8333-333333333333'

/** What App Service provides: the token endpoint of managed identities and its secret. */
const TOLD_BY_THE_PLATFORM = ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER'] as const

describe('the identity of the service', () => {
  const asked: URLSearchParams[] = []
  const platform = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://localhost').searchParams)
    const expires_on = Math.floor(Date.parse('2100-01-01T00:00:00Z') / 1000)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 'a token', expires_on, resource: 'r', token_type: 'Bearer' }))
  })
  const before = TOLD_BY_THE_PLATFORM.map((name) => [name, process.env[name]] as const)

  beforeEach(async () => {
    await new Promise<void>((listening) => platform.listen(0, '127.0.0.1', listening))
    process.env.IDENTITY_ENDPOINT = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/msi/token`
    process.env.IDENTITY_HEADER = 'word'
  })
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    platform.close()
    platform.closeAllConnections()
  })

  it('is the managed identity in the settings: an app can have several, and no default', async () => {
    const token = await serviceIdentity(CLIENT_ID).getToken('https://cosmos.azure.com/.default')
    assert.equal(token?.token, 'a token')
    assert.deepEqual(
      asked.map((query) => [query.get('client_id'), query.get('resource')]),
      [[CLIENT_ID, 'https://cosmos.azure.com']],
    )
  })
})
