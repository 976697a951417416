import * as oauth from 'oauth4webapi'
import { discovered } from './authority.ts'

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
  /**
   * A current access token.
   * @param refused the token that the API has refused; another one is returned.
   * @throws SignInEnded when the authority issues no more.
   */
  accessToken(refused?: string): Promise<string>
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
  const parameters = new URL(location.href).searchParams
  if (parameters.get('state')?.startsWith(WINDOW_STATE)) return forward(parameters)
  const pending = takePending()
  if (pending === undefined || !(parameters.has('code') || parameters.has('error'))) {
    return leave({ prompt: 'none' })
  }
  history.replaceState(null, '', pending.returnTo)
  try {
    const tokens = await redeemed(parameters, pending)
    current = { tokens, expiresMs: expiryOf(tokens) }
    return { session: sessionOf(tokens) }
  } catch (error) {
    const isSilent = error instanceof oauth.AuthorizationResponseError && error.error === 'login_required'
    return { required: true, reason: isSilent ? undefined : messageOf(error) }
  }
}

/** Exchanges the authority's response for tokens. */
async function redeemed(parameters: URLSearchParams, pending: PendingSignIn): Promise<oauth.TokenEndpointResponse> {
  const { server, client } = await authorityOfPage()
  const answer = oauth.validateAuthResponse(server, client, parameters, pending.state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri(),
    pending.verifier,
    plainHttp(server),
  )
  return oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: pending.nonce,
    requireIdToken: true,
  })
}

/** Marks the response for a window that `signInAgain` has opened. */
const WINDOW_STATE = 'window.'

/**
 * Signs the same person in again in a window of its own, so that nothing that was typed in this one is lost. Pending
 * until the person has signed in there.
 * @throws Error when the browser opens no window, or when someone else signs in.
 */
export async function signInAgain(): Promise<void> {
  const opened = open('', '', 'popup,width=520,height=680')
  if (opened === null) throw new Error('The browser opened no window')
  const { url, pending } = await authorizationRequest({ prompt: 'select_account' }, WINDOW_STATE)
  const channel = new BroadcastChannel(pending.state)
  const answer = new Promise<string>((resolve) => {
    channel.onmessage = ({ data }) => resolve(String(data))
  })
  opened.location.assign(url)
  const tokens = await redeemed(new URLSearchParams(await answer), pending)
  channel.close()
  if (subjectOf(tokens) !== subject) throw new Error('Someone else has signed in')
  current = { tokens, expiresMs: expiryOf(tokens) }
}

/** Passes the authority's response to the window that waits for it. Only that window knows the name of the channel. */
function forward(parameters: URLSearchParams): Promise<never> {
  new BroadcastChannel(parameters.get('state') ?? '').postMessage(parameters.toString())
  close()
  return new Promise(() => undefined)
}

/** Leaves the page for the authority, which shows its sign-in page. */
export function signInWithPage(): Promise<never> {
  return leave({ prompt: 'select_account' })
}

/** Ends the session at the authority. */
export async function signOut(): Promise<void> {
  const { server } = await authorityOfPage()
  const url = new URL(server.end_session_endpoint ?? location.origin)
  url.searchParams.set('post_logout_redirect_uri', redirectUri())
  location.assign(url)
}

async function leave(extra: Record<string, string>): Promise<never> {
  const { url, pending } = await authorizationRequest(extra)
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  location.assign(url)
  return new Promise(() => undefined)
}

async function authorizationRequest(
  extra: Record<string, string>,
  statePrefix = '',
): Promise<{ readonly url: URL; readonly pending: PendingSignIn }> {
  const { server, client, scope } = await authorityOfPage()
  const pending: PendingSignIn = {
    state: statePrefix + oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo: location.pathname + location.search,
  }
  const url = new URL(server.authorization_endpoint ?? '')
  const parameters = {
    client_id: client.client_id,
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
  return { url, pending }
}

function takePending(): PendingSignIn | undefined {
  const text = sessionStorage.getItem(PENDING)
  sessionStorage.removeItem(PENDING)
  return text === null ? undefined : JSON.parse(text)
}

/** The current tokens, and who has signed in first. */
let current: { readonly tokens: oauth.TokenEndpointResponse; readonly expiresMs: number } | undefined
let subject: string | undefined
let renewal: Promise<void> | undefined

function sessionOf(first: oauth.TokenEndpointResponse): Session {
  subject = subjectOf(first)
  return {
    username: String(oauth.getValidatedIdTokenClaims(first)?.preferred_username ?? ''),
    async accessToken(refused) {
      const isUsable = () =>
        current !== undefined &&
        current.tokens.access_token !== refused &&
        Date.now() < current.expiresMs - RENEWED_BEFORE_MS
      if (!isUsable()) {
        renewal ??= renew()
        await renewal
      }
      return current?.tokens.access_token ?? ''
    },
  }
}

/** Replaces the tokens. @throws SignInEnded; TypeError without a network, where the person stays signed in. */
async function renew(): Promise<void> {
  try {
    const refreshToken = current?.tokens.refresh_token
    if (refreshToken === undefined) throw new SignInEnded('The authority issued no refresh token')
    const { server, client } = await authorityOfPage()
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, plainHttp(server))
    const tokens = await oauth.processRefreshTokenResponse(server, client, response)
    current = {
      tokens: { ...tokens, refresh_token: tokens.refresh_token ?? refreshToken },
      expiresMs: expiryOf(tokens),
    }
  } catch (cause) {
    throw cause instanceof TypeError ? cause : new SignInEnded('The session has ended', { cause })
  } finally {
    renewal = undefined
  }
}

const subjectOf = (tokens: oauth.TokenEndpointResponse): string | undefined =>
  oauth.getValidatedIdTokenClaims(tokens)?.sub

function expiryOf({ expires_in }: oauth.TokenEndpointResponse): number {
  return Date.now() + (expires_in ?? 0) * 1000
}

async function authorityOfPage() {
  const { authority, clientId, scope } = settingsOfPage()
  const client: oauth.Client = { client_id: clientId }
  return { server: await discovered(authority), client, scope }
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

/** Why a sign-in failed, for the person. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
