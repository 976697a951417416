import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import { CommandError } from '../command.ts'
import type { SignIn, StoredSignIns } from './stored-sign-ins.ts'

/** What the page of the console says about signing in. */
type SignInSettings = Pick<SignIn, 'authority' | 'clientId' | 'scope'>

/** A person who does not finish is not waited for any longer. */
const SIGN_IN_TIMEOUT_MS = 5 * 60_000
/** Tokens are renewed this long before they expire. */
const RENEWED_BEFORE_MS = 60_000

const SIGNED_IN = '<!doctype html><title>Signed in</title><p>You are signed in. You can close this window.'
const NOT_SIGNED_IN = '<!doctype html><title>Not signed in</title><p>You are not signed in. See the terminal.'

/**
 * Signs a person in with a browser: authorization code with PKCE, returned to `http://localhost` (RFC 8252).
 * @param say receives the address to open
 * @throws CommandError without a console at the URL, and when the person is refused
 */
export async function signInWithBrowser(apiUrl: string, say: (line: string) => void): Promise<SignIn> {
  const settings = await consoleSettings(apiUrl)
  const server = await discovered(settings.authority)
  const listener = createServer()
  listener.listen(0, 'localhost')
  await once(listener, 'listening')
  try {
    const redirectUri = `http://localhost:${(listener.address() as AddressInfo).port}`
    const verifier = oauth.generateRandomCodeVerifier()
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
    const url = new URL(server.authorization_endpoint ?? '')
    const parameters = {
      client_id: settings.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: `openid profile offline_access ${settings.scope}`,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      prompt: 'select_account',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    say('Open this address in a browser to sign in:')
    say(url.href)
    return await redirected(listener, async (answer) => {
      const client = { client_id: settings.clientId }
      const valid = oauth.validateAuthResponse(server, client, answer.searchParams, state)
      const options = plainHttp(server)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.None(),
        valid,
        redirectUri,
        verifier,
        options,
      )
      const expected = { expectedNonce: nonce, requireIdToken: true } as const
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected)
      const username = String(oauth.getValidatedIdTokenClaims(tokens)?.preferred_username ?? '')
      return signInOf(tokens, { ...settings, username, refreshToken: '' })
    })
  } finally {
    listener.close()
    listener.closeAllConnections()
  }
}

/**
 * Access tokens of a stored sign-in. Renewed when they expire; a further call means that the API refused the last one.
 * @throws CommandError when a new sign-in is required
 */
export function storedTokens(apiUrl: string, signIns: StoredSignIns, nowMs: () => number): () => Promise<string> {
  let returned: string | undefined
  return async () => {
    const signIn = signIns.find(apiUrl)
    if (signIn === undefined) throw signInAgain(apiUrl, 'There is no sign-in for this URL')
    if (signIn.accessToken !== returned && nowMs() < signIn.expiresAtMs - RENEWED_BEFORE_MS) {
      returned = signIn.accessToken
      return signIn.accessToken
    }
    const renewed = await renewedSignIn(apiUrl, signIn)
    signIns.save(apiUrl, renewed)
    returned = renewed.accessToken
    return renewed.accessToken
  }
}

async function renewedSignIn(apiUrl: string, signIn: SignIn): Promise<SignIn> {
  try {
    const server = await discovered(signIn.authority)
    const client = { client_id: signIn.clientId }
    const options = plainHttp(server)
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), signIn.refreshToken, options)
    return signInOf(await oauth.processRefreshTokenResponse(server, client, response), signIn)
  } catch (cause) {
    throw signInAgain(apiUrl, `The sign-in of ${signIn.username} has ended`, cause)
  }
}

function signInAgain(apiUrl: string, reason: string, cause?: unknown): CommandError {
  const message = `${reason}. Run: npm run definitions -- login --url ${apiUrl}. Or set TOKEN, or CLIENT_ID, CLIENT_SECRET, TENANT_ID, AUTHORITY_URL and SCOPE`
  return new CommandError(message, { cause })
}

function signInOf(tokens: oauth.TokenEndpointResponse, before: Omit<SignIn, 'accessToken' | 'expiresAtMs'>): SignIn {
  const { authority, clientId, scope, username } = before
  return {
    authority,
    clientId,
    scope,
    username,
    accessToken: tokens.access_token,
    expiresAtMs: Date.now() + (tokens.expires_in ?? 0) * 1000,
    refreshToken: tokens.refresh_token ?? before.refreshToken,
  }
}

/** Waits for the browser's return, and answers it when `redeem` has ended. */
async function redirected(listener: Server, redeem: (answer: URL) => Promise<SignIn>): Promise<SignIn> {
  const signal = AbortSignal.timeout(SIGN_IN_TIMEOUT_MS)
  for (;;) {
    const [request, response] = (await once(listener, 'request', { signal }).catch((cause: unknown) => {
      throw new CommandError('The sign-in was not completed within five minutes', { cause })
    })) as [IncomingMessage, ServerResponse]
    const answer = new URL(request.url ?? '/', 'http://localhost')
    // A browser also asks for an icon.
    if (!answer.searchParams.has('code') && !answer.searchParams.has('error')) {
      response.writeHead(404).end()
      continue
    }
    const show = (status: number, page: string): void =>
      void response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(page)
    try {
      const signIn = await redeem(answer)
      show(200, SIGNED_IN)
      await once(response, 'close')
      return signIn
    } catch (cause) {
      show(400, NOT_SIGNED_IN)
      await once(response, 'close')
      throw new CommandError(`The sign-in failed: ${reasonOf(cause)}`, { cause })
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return error.error_description?.split('\n')[0] ?? error.error
  }
  return (error as Error).message
}

/** Reads the settings that the console's page has for its own sign-in. */
async function consoleSettings(apiUrl: string): Promise<SignInSettings> {
  const page = await textOf(`${apiUrl}/console`)
  const setting = (name: string): string => {
    const content = new RegExp(`<meta name="sign-in-${name}" content="([^"]*)">`).exec(page)?.[1]
    if (content === undefined) {
      throw new CommandError(`${apiUrl} has no console, whose settings a sign-in needs`)
    }
    return content.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  }
  return { authority: setting('authority'), clientId: setting('client'), scope: setting('scope') }
}

/** Not in the library's types: the issuer of a response, for authorities with many tenants. */
const EXPECTED_ISSUER = (oauth as unknown as { readonly _expectedIssuer: symbol })._expectedIssuer

/** The authority's configuration for all tenants. Its issuer has a placeholder for the tenant. */
async function discovered(authority: string): Promise<oauth.AuthorizationServer> {
  const url = `${authority.replace(/\/$/, '')}/organizations/v2.0/.well-known/openid-configuration`
  const metadata = JSON.parse(await textOf(url)) as oauth.AuthorizationServer
  return {
    ...metadata,
    // https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-issuer
    [EXPECTED_ISSUER]: ({ claims }: { claims: { tid?: unknown } }) =>
      metadata.issuer.replace('{tenantid}', String(claims.tid)),
  }
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url).catch((cause: Error) => {
    throw new CommandError(`GET ${url} failed: ${(cause.cause as Error | undefined)?.message ?? cause.message}`, {
      cause,
    })
  })
  if (!response.ok) throw new CommandError(`GET ${url} returned ${response.status}`)
  return response.text()
}

/** Allows the local directory without TLS. */
function plainHttp({ token_endpoint }: oauth.AuthorizationServer): { [oauth.allowInsecureRequests]: boolean } {
  return { [oauth.allowInsecureRequests]: token_endpoint?.startsWith('http://localhost:') === true }
}
