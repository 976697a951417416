import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { graphCalls } from '../../shared/graph/graph-calls.ts'
import { graphDirectory } from '../../shared/graph/graph-directory.ts'
import { graphTokens } from '../../shared/graph/graph-tokens.ts'
import {
  MANAGED_IDENTITY,
  openDirectory,
  SERVICE,
  SMALL_TENANT,
  TENANT,
  type TestDirectory,
} from '../support/jobs/link-directory.ts'

/** One for each test, because the process caches the token of an identity. */
const identity = (number: number) => `aaaaaaaa-0000-4000-8000-0000000000f${number}`
const HEADER = 'a header of these tests'

/** As on Azure: the platform's endpoint issues the managed identity's token, which is exchanged for a Graph token. */
describe('Graph tokens by a managed identity', () => {
  let fixture: TestDirectory
  let platform: Server
  const asked: { resource: string | null; clientId: string | null; header: unknown }[] = []
  let claims: Record<string, unknown>

  before(async () => {
    fixture = await openDirectory()
    platform = createServer(async (request, response) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams
      const resource = query.get('resource')
      asked.push({ resource, clientId: query.get('client_id'), header: request.headers['x-identity-header'] })
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ access_token: await signed(), expires_on: claims.exp, resource, token_type: 'Bearer' }),
      )
    })
    await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve))
    process.env.IDENTITY_ENDPOINT = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/msi/token`
    process.env.IDENTITY_HEADER = HEADER
  })
  after(async () => {
    delete process.env.IDENTITY_ENDPOINT
    delete process.env.IDENTITY_HEADER
    platform.closeAllConnections()
    await new Promise((resolve) => platform.close(resolve))
    await fixture.close()
  })
  beforeEach(() => {
    asked.length = 0
    const nowS = Math.floor(Date.now() / 1000)
    claims = { aud: 'api://AzureADTokenExchange', sub: MANAGED_IDENTITY, iat: nowS, nbf: nowS, exp: nowS + 3600 }
  })

  async function signed(): Promise<string> {
    const answer = await fetch(`${fixture.server.url}/local/tokens`, {
      method: 'POST',
      body: JSON.stringify({ claims }),
    })
    return ((await answer.json()) as { token: string }).token
  }

  const tokensOf = (graphIdentityClientId: string) =>
    graphTokens(
      {
        authorityUrl: fixture.server.url,
        homeTenantId: TENANT,
        clientId: SERVICE,
        clientSecret: undefined,
        graphIdentityClientId,
      },
      Date.now,
    )

  it('read a group of every tenant that has consented, without any secret', async () => {
    const groupId = await fixture.newGroup({ displayName: 'Reached' })
    const directory = graphDirectory({
      graphUrl: fixture.server.url,
      send: graphCalls(fixture.server.url, tokensOf(identity(1)), Date.now),
      servicePrincipalOf: tokensOf(identity(1)).servicePrincipalId,
      sleep: async () => undefined,
      nowMs: Date.now,
      random: () => 0.5,
    })
    assert.equal((await directory.readGroup(TENANT, groupId))?.displayName, 'Reached')
    assert.equal(await directory.readGroup(SMALL_TENANT, groupId), undefined)
    assert.deepEqual(asked, [{ resource: 'api://AzureADTokenExchange', clientId: identity(1), header: HEADER }])
  })

  it('are refused for an identity that the application does not trust', async () => {
    claims.sub = 'ffffffff-0000-4000-8000-000000000001'
    await assert.rejects(tokensOf(identity(2)).get(TENANT), { name: 'DirectoryFault', kind: 'refused' })
  })

  it('are refused for an identity’s token with another audience', async () => {
    claims.aud = 'https://graph.microsoft.com'
    await assert.rejects(tokensOf(identity(3)).get(TENANT), { name: 'DirectoryFault', kind: 'refused' })
  })
})
