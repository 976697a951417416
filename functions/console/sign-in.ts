import * as oauth from 'oauth4webapi'

/** What the page says about the authority. */
type SignInSettings = { readonly authority: URL; readonly clientId: string; readonly scope: string }

/** Kept in this tab while the browser is at the authority. */
type PendingSignIn = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The view to show afterwards. */
  readonly returnTo: string
}

/** The tokens of one person, in memory only: a reload signs in again. */
export type Session = {
  readonly username: string
  /** A current access token. @throws SignInEnded when the authority issues no more. */
  accessToken(): Promise<string>
}

/** The person has to sign in again. */
export class SignInEnded extends Error {
  override readonly name = 'SignInEnded'
}

/** `required`: the authority has no session of this browser, so that the person has to choose to sign in. */
export type SignInResult =
  | { readonly session: Session }
  | { readonly required: true; readonly reason: string | undefined }

const PENDING = 'sign-in'
const REDIRECT_PATH = '/console'

/** Tokens are replaced this long before they expire. */
const RENEWED_BEFORE_MS = 60_000

/**
 * Completes a sign-in that the browser returns from, or starts one that asks nothing. In the second case the browser
 * leaves the page, and the promise stays pending.
 */
export async function signIn(): Promise<SignInResult> {
  const pending = takePending()
  const parameters = new URL(location.href).searchParams
  if (pending === undefined || !(parameters.has('code') || parameters.has('error'))) {
    return leave({ prompt: 'none' })
  }
  const { authority, clientId } = settingsOfPage()
  const server = await discovered(authority)
  const client: oauth.Client = { client_id: clientId }
  history.replaceState(null, '', pending.returnTo)
  let answer: URLSearchParams
  try {
    answer = oauth.validateAuthResponse(server, client, parameters, pending.state)
  } catch (error) {
    const isSilent = error instanceof oauth.AuthorizationResponseError && error.error === 'login_required'
    return { required: true, reason: isSilent ? undefined : messageOf(error) }
  }
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri(),
    pending.verifier,
    plainHttp(server),
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: pending.nonce,
    requireIdToken: true,
  })
  return { session: sessionOf(server, client, tokens) }
}

/** Leaves the page for the authority, which shows its sign-in page. */
export function signInWithPage(): Promise<never> {
  return leave({ prompt: 'select_account' })
}

/** Ends the session at the authority. */
export async function signOut(): Promise<void> {
  const server = await discovered(settingsOfPage().authority)
  const url = new URL(server.end_session_endpoint ?? location.origin)
  url.searchParams.set('post_logout_redirect_uri', redirectUri())
  location.assign(url)
}

async function leave(extra: Record<string, string>): Promise<never> {
  const { authority, clientId, scope } = settingsOfPage()
  const server = await discovered(authority)
  const pending: PendingSignIn = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo: location.pathname + location.search,
  }
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  const url = new URL(server.authorization_endpoint ?? '')
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: `openid profile offline_access ${scope}`,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    ...extra,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  location.assign(url)
  return new Promise(() => undefined)
}

function takePending(): PendingSignIn | undefined {
  const text = sessionStorage.getItem(PENDING)
  sessionStorage.removeItem(PENDING)
  return text === null ? undefined : JSON.parse(text)
}

function sessionOf(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  first: oauth.TokenEndpointResponse,
): Session {
  let tokens = first
  let expiresMs = expiryOf(first)
  let renewal: Promise<void> | undefined
  const renew = async (): Promise<void> => {
    try {
      if (tokens.refresh_token === undefined) throw new SignInEnded('The authority issued no refresh token')
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        oauth.None(),
        tokens.refresh_token,
        plainHttp(server),
      )
      const next = await oauth.processRefreshTokenResponse(server, client, response)
      tokens = { ...next, refresh_token: next.refresh_token ?? tokens.refresh_token }
      expiresMs = expiryOf(next)
    } catch (cause) {
      // Without a network, the person stays signed in.
      throw cause instanceof TypeError ? cause : new SignInEnded('The session has ended', { cause })
    } finally {
      renewal = undefined
    }
  }
  return {
    username: String(oauth.getValidatedIdTokenClaims(first)?.preferred_username ?? ''),
    async accessToken() {
      if (Date.now() > expiresMs - RENEWED_BEFORE_MS) {
        renewal ??= renew()
        await renewal
      }
      return tokens.access_token
    },
  }
}

function expiryOf({ expires_in }: oauth.TokenEndpointResponse): number {
  return Date.now() + (expires_in ?? 0) * 1000
}

/** Not in the library's types: the issuer of a response, for authorities with many tenants. */
const EXPECTED_ISSUER = (oauth as unknown as { readonly _expectedIssuer: symbol })._expectedIssuer

let server: Promise<oauth.AuthorizationServer> | undefined

/** The authority's configuration for all tenants. Its issuer has a placeholder for the tenant. */
function discovered(authority: URL): Promise<oauth.AuthorizationServer> {
  server ??= (async () => {
    const url = new URL(`${authority.href.replace(/\/$/, '')}/organizations/v2.0/.well-known/openid-configuration`)
    const response = await fetch(url)
    const metadata = (await response.json()) as oauth.AuthorizationServer
    return {
      ...metadata,
      // https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-issuer
      [EXPECTED_ISSUER]: ({ claims }: { claims: { tid?: unknown } }) =>
        metadata.issuer.replace('{tenantid}', String(claims.tid)),
    } as oauth.AuthorizationServer
  })()
  return server
}

/** The authority of a local environment has no TLS. */
function plainHttp({ token_endpoint }: oauth.AuthorizationServer): { [oauth.allowInsecureRequests]: boolean } {
  return { [oauth.allowInsecureRequests]: token_endpoint?.startsWith('http://localhost:') === true }
}

function settingsOfPage(): SignInSettings {
  const setting = (name: string) =>
    document.querySelector<HTMLMetaElement>(`meta[name="sign-in-${name}"]`)?.content ?? ''
  return { authority: new URL(setting('authority')), clientId: setting('client'), scope: setting('scope') }
}

const redirectUri = (): string => location.origin + REDIRECT_PATH

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
