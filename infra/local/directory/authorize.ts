import { randomUUID } from 'node:crypto'
import type { AuthorizationGrants, Grant } from './authorization-grants.ts'
import { TokenRefusal } from './client-proof.ts'
import type { GraphAnswer } from './graph/exchange.ts'
import type { DirectoryObjects } from './objects.ts'
import { RESPONSE_MODES, type RedirectUris, type ReturnAddress, redirectTo, returned } from './redirect-uris.ts'
import type { DirectorySeed, PersonSeed, TenantSeed } from './seed.ts'
import { messagePage, type PeopleOfTenant, signInPage } from './sign-in-page.ts'

/** A request of a browser to one of the sign-in endpoints. */
export type BrowserRequest = {
  readonly method: string
  readonly query: URLSearchParams
  /** The body of a POST, form-encoded. */
  readonly form: string
  readonly cookie: string | undefined
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** The origin of the directory under which the request arrived. */
  readonly ownOrigin: string
}

export type SignInDependencies = {
  readonly seed: DirectorySeed
  readonly objects: DirectoryObjects
  readonly grants: AuthorizationGrants
  readonly redirectUris: RedirectUris
}

type SignedIn = { readonly tenant: TenantSeed; readonly person: PersonSeed }

const SESSION_COOKIE = 'directory-session'

/** A valid authorization request. RFC 6749, section 4.1.1, with the code challenge of RFC 7636. */
type AuthorizationRequest = ReturnAddress & {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly nonce: string | undefined
  readonly challenge: string
  readonly prompt: string | undefined
  readonly loginHint: string | undefined
}

/** Signs people in with a browser: the authorization code flow with PKCE, for the public client. */
export function browserSignIn(deps: SignInDependencies) {
  const sessions = new Map<string, SignedIn>()

  /** @param tenants those whose people can sign in at this address. */
  function authorize(request: BrowserRequest, tenants: readonly TenantSeed[]): GraphAnswer {
    const address = returnAddress(request.query, deps)
    if ('status' in address) return address
    try {
      const wanted = authorizationRequest(request.query, address, deps.seed)
      if (request.method === 'POST') return chosen(request, wanted, tenants)
      const session = sessionOf(request, wanted, tenants)
      const isAsked = wanted.prompt === 'login' || wanted.prompt === 'select_account'
      if (session !== undefined && !isAsked) return granted(session, wanted)
      if (wanted.prompt !== 'none') return signInPage(peopleOf(tenants, deps.objects), wanted.loginHint)
      throw new TokenRefusal(50058, 'A silent sign-in request was sent but no user is signed in.')
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      return returned(address, { error: error.code, error_description: `AADSTS${error.number}: ${error.message}` })
    }
  }

  function chosen(request: BrowserRequest, wanted: AuthorizationRequest, tenants: readonly TenantSeed[]): GraphAnswer {
    if (request.origin !== undefined && request.origin !== request.ownOrigin) {
      return messagePage(403, 'Sign-in refused', 'The form was sent by another site.')
    }
    const [tenantId, objectId] = (new URLSearchParams(request.form).get('person') ?? '').split('/')
    const people = peopleOf(tenants, deps.objects).find(({ tenant }) => tenant.tenantId === tenantId)
    const person = people?.people.find((candidate) => candidate.objectId === objectId)
    if (people === undefined || person === undefined) {
      return messagePage(400, 'Sign-in refused', 'This person does not exist in the directory.')
    }
    const signedIn = { tenant: people.tenant, person }
    const sessionId = randomUUID()
    sessions.set(sessionId, signedIn)
    const cookie = `${SESSION_COOKIE}=${sessionId}; Path=/; HttpOnly; ${sameSite(request.ownOrigin)}`
    const answer = granted(signedIn, wanted)
    return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
  }

  /**
   * The session of the browser if it belongs to one of the tenants, to the hinted person, and that person still exists.
   */
  function sessionOf(
    { cookie }: BrowserRequest,
    { loginHint }: AuthorizationRequest,
    tenants: readonly TenantSeed[],
  ): SignedIn | undefined {
    const session = sessions.get(sessionIdOf(cookie) ?? '')
    if (session === undefined || !tenants.includes(session.tenant)) return undefined
    if (loginHint !== undefined && loginHint.toLowerCase() !== session.person.username.toLowerCase()) return undefined
    return exists(session.tenant, session.person, deps.objects) ? session : undefined
  }

  function granted({ tenant, person }: SignedIn, wanted: AuthorizationRequest): GraphAnswer {
    const { clientId, platform, scopes, nonce, redirectUri, challenge } = wanted
    const grant: Grant = { tenant, person, clientId, platform, scopes, nonce }
    return returned(wanted, { code: deps.grants.issueCode(grant, redirectUri, challenge) })
  }

  /** Ends the session of the browser. OpenID Connect RP-Initiated Logout 1.0. */
  function logout({ query, cookie }: BrowserRequest): GraphAnswer {
    sessions.delete(sessionIdOf(cookie) ?? '')
    const uri = query.get('post_logout_redirect_uri')
    const ended = { 'set-cookie': `${SESSION_COOKIE}=; Path=/; Max-Age=0` }
    if (uri !== null && deps.redirectUris.platformOf(uri) !== undefined) return redirectTo(new URL(uri), ended)
    const page = messagePage(200, 'Signed out', 'You are signed out of the local directory.')
    return { ...page, headers: { ...page.headers, ...ended } }
  }

  return { authorize, logout }
}

/** Client and redirect URI are checked first: an error must not be returned to an address that is not registered. */
function returnAddress(
  query: URLSearchParams,
  { seed, redirectUris }: SignInDependencies,
): ReturnAddress | GraphAnswer {
  const clientId = query.get('client_id')?.toLowerCase()
  if (clientId !== seed.publicClientId) {
    const message = `AADSTS700016: Application with identifier '${clientId ?? ''}' was not found in the directory.`
    return messagePage(400, 'Sign-in refused', message)
  }
  const redirectUri = query.get('redirect_uri') ?? ''
  const platform = redirectUris.platformOf(redirectUri)
  if (platform === undefined) {
    const message = `AADSTS50011: The redirect URI '${redirectUri}' specified in the request does not match the redirect URIs configured for the application '${clientId}'.`
    return messagePage(400, 'Sign-in refused', message)
  }
  const mode = query.get('response_mode') ?? 'query'
  const responseMode = RESPONSE_MODES.find((known) => known === mode)
  if (responseMode === undefined) {
    return messagePage(400, 'Sign-in refused', `AADSTS900144: The response_mode '${mode}' is not supported.`)
  }
  return { redirectUri, platform, responseMode, state: query.get('state') ?? undefined }
}

/** @throws TokenRefusal AADSTS700054, 900144, 9002325 */
function authorizationRequest(
  query: URLSearchParams,
  address: ReturnAddress,
  { publicClientId }: DirectorySeed,
): AuthorizationRequest {
  const responseType = query.get('response_type')
  if (responseType !== 'code') {
    throw new TokenRefusal(700054, `response_type '${responseType ?? ''}' is not enabled for the application.`)
  }
  const scope = query.get('scope')
  if (scope === null || scope.trim() === '') {
    throw new TokenRefusal(900144, "The request must contain the following parameter: 'scope'.")
  }
  const challenge = query.get('code_challenge') ?? ''
  if (query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw new TokenRefusal(9002325, 'Proof Key for Code Exchange is required for authorization codes.')
  }
  return {
    ...address,
    clientId: publicClientId,
    scopes: scope.split(/\s+/).filter(Boolean),
    nonce: query.get('nonce') ?? undefined,
    challenge,
    prompt: query.get('prompt') ?? undefined,
    loginHint: query.get('login_hint') ?? undefined,
  }
}

function peopleOf(tenants: readonly TenantSeed[], objects: DirectoryObjects): PeopleOfTenant[] {
  return tenants.map((tenant) => ({
    tenant,
    people: tenant.people.filter((person) => exists(tenant, person, objects)),
  }))
}

function exists({ tenantId }: TenantSeed, { objectId }: PersonSeed, objects: DirectoryObjects): boolean {
  return objects.find(tenantId, objectId) !== undefined
}

/**
 * A page renews its sign-in in a hidden frame, which gets the cookie only as `None`, and that only with TLS.
 * https://learn.microsoft.com/entra/identity-platform/howto-handle-samesite-cookie-changes-chrome-browser
 */
const sameSite = (ownOrigin: string): string =>
  ownOrigin.startsWith('https:') ? 'SameSite=None; Secure' : 'SameSite=Lax'

function sessionIdOf(cookie: string | undefined): string | undefined {
  const pairs = (cookie ?? '').split(/;\s*/).map((pair) => pair.split('='))
  return pairs.find(([name]) => name === SESSION_COOKIE)?.[1]
}
