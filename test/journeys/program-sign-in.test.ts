import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { InteractiveBrowserCredential } from '@azure/identity'
import { PublicClientApplication } from '@azure/msal-node'
import * as openidClient from 'openid-client'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'
import { signInAs } from '../support/local/signing-in-browser.ts'

/** `@azure/identity` opens a browser with the program that BROWSER names. Other systems would open a real one. */
const hasBrowserVariable = process.platform === 'linux'

describe('a program that signs a person in with a browser', () => {
  let environment: StartedEnvironment
  before(async () => {
    environment = await sharedEnvironment()
    setDefaultCACertificates([...getCACertificates(), readFileSync(environment.caFile, 'utf8')])
  })

  const tenantId = () => environment.demo.tenants[0]?.tenantId ?? ''
  const administrator = () => environment.demo.tenants[0]?.people.find(({ name }) => name === 'admin')?.username ?? ''

  /** Reads the settings of the tenant, which only administrators can do. */
  async function assertIsAdministrator(token: string | undefined) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${environment.apiUrl}/group-link/beta/settings`, { headers })
    assert.equal(response.status, 200, await response.text())
  }

  it('gets a token that the API accepts, and refreshes it, with @azure/msal-node', async () => {
    const authority = `${environment.directoryUrl}/${tenantId()}`
    const client = new PublicClientApplication({
      auth: { clientId: environment.demo.publicClientId, authority, knownAuthorities: [new URL(authority).host] },
    })
    const scopes = [environment.demo.scope]
    const signedIn = await client.acquireTokenInteractive({
      scopes,
      openBrowser: (url) => signInAs(administrator(), url),
    })
    assert.equal(signedIn.account?.username, administrator())
    await assertIsAdministrator(signedIn.accessToken)
    const account = signedIn.account ?? assert.fail('MSAL returns no account')
    const refreshed = await client.acquireTokenSilent({ account, scopes, forceRefresh: true })
    assert.equal(refreshed.fromCache, false)
    await assertIsAdministrator(refreshed.accessToken)
  })

  it('gets a token that the API accepts, with the interactive credential of @azure/identity', {
    skip: hasBrowserVariable ? false : 'the browser is set by a variable on Linux only',
  }, async () => {
    const browser = await openedAddresses((url) => signInAs(administrator(), url))
    try {
      const credential = new InteractiveBrowserCredential({
        clientId: environment.demo.publicClientId,
        tenantId: tenantId(),
        authorityHost: environment.directoryUrl,
        disableInstanceDiscovery: true,
      })
      await assertIsAdministrator((await credential.getToken(environment.demo.scope)).token)
    } finally {
      await browser.close()
    }
  })

  it('gets a token that the API accepts, and refreshes it, with openid-client', async () => {
    const issuer = new URL(`${environment.directoryUrl}/${tenantId()}/v2.0`)
    const none = openidClient.None()
    const config = await openidClient.discovery(issuer, environment.demo.publicClientId, undefined, none)
    const verifier = openidClient.randomPKCECodeVerifier()
    const listener = createServer()
    const port = await listening(listener)
    const redirected = once(listener, 'request')
    const url = openidClient.buildAuthorizationUrl(config, {
      redirect_uri: `http://localhost:${port}/signed-in`,
      scope: `openid offline_access ${environment.demo.scope}`,
      code_challenge: await openidClient.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const signedIn = signInAs(administrator(), url.href)
    const [request, response] = await redirected
    response.end()
    await signedIn
    listener.close()
    const returned = new URL(request.url, `http://localhost:${port}`)
    const tokens = await openidClient.authorizationCodeGrant(config, returned, { pkceCodeVerifier: verifier })
    await assertIsAdministrator(tokens.access_token)
    const refreshed = await openidClient.refreshTokenGrant(config, tokens.refresh_token ?? '')
    await assertIsAdministrator(refreshed.access_token)
  })
})

async function listening(server: Server): Promise<number> {
  server.listen(0, 'localhost')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Passes each address that this process opens in a browser to `open`, until it is closed. */
async function openedAddresses(open: (url: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'browser-'))
  const server = createServer((request, response) => {
    response.end()
    open(new URL(request.url ?? '', 'http://localhost').searchParams.get('url') ?? '').catch((error) => {
      process.stderr.write(`${error}\n`)
    })
  })
  const port = await listening(server)
  const script = `fetch('http://localhost:${port}/?url=' + encodeURIComponent(process.argv[1]))`
  const program = join(folder, 'browser')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' -e "${script}" "$1"\n`, { mode: 0o700 })
  const previous = process.env.BROWSER
  process.env.BROWSER = program
  return {
    async close() {
      if (previous === undefined) delete process.env.BROWSER
      else process.env.BROWSER = previous
      rmSync(folder, { recursive: true })
      server.close()
      await once(server, 'close')
    },
  }
}
