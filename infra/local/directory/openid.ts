import { type BrowserRequest, browserSignIn } from './authorize.ts'
import { TokenRefusal } from './client-proof.ts'
import type { GraphAnswer } from './graph/exchange.ts'
import { RESPONSE_MODES, type RedirectUris } from './redirect-uris.ts'
import type { SigningKeys } from './signing-keys.ts'
import { issuerOf, issuerTemplate, type TokenVersion } from './signing-keys.ts'
import { ANY_TENANT, issueToken, type TokenDependencies, tenantNamed, tenantsNamed } from './token-endpoint.ts'

export type OpenIdDependencies = TokenDependencies & {
  readonly redirectUris: RedirectUris
}

type OpenIdRequest = BrowserRequest & { readonly path: string }

/** Serves the identity provider: configuration, keys, sign-in and tokens. Undefined for other paths. */
export function openId(deps: OpenIdDependencies) {
  const signIn = browserSignIn(deps)

  function served(request: OpenIdRequest, tenantName: string, endpoint: string): GraphAnswer | undefined {
    switch (`${request.method} ${endpoint}`) {
      case 'GET v2.0/.well-known/openid-configuration':
        return json(configuration('2.0', tenantName, request.ownOrigin, deps))
      case 'GET .well-known/openid-configuration':
        return json(configuration('1.0', tenantName, request.ownOrigin, deps))
      case 'GET discovery/v2.0/keys':
        return json(keySet('2.0', tenantName, deps))
      case 'GET discovery/keys':
        return json(keySet('1.0', tenantName, deps))
      case 'GET oauth2/v2.0/authorize':
      case 'POST oauth2/v2.0/authorize':
        return signIn.authorize(request, tenantsNamed(deps.seed, tenantName))
      case 'GET oauth2/v2.0/logout':
        return signIn.logout(request)
      case 'POST oauth2/v2.0/token':
        return json(issueToken(tenantName, request.form, request.origin, deps))
      case 'OPTIONS oauth2/v2.0/token':
        return { status: 204, headers: { 'access-control-allow-methods': 'POST' }, body: undefined }
      default:
        return undefined
    }
  }

  return (request: OpenIdRequest): GraphAnswer | undefined => {
    const [, tenantName, endpoint] = /^\/([^/]+)\/(.+)$/.exec(request.path) ?? []
    if (tenantName === undefined || endpoint === undefined) return undefined
    const answer = answered(() => served(request, decodeURIComponent(tenantName), endpoint), deps)
    if (answer === undefined || endpoint.endsWith('authorize') || endpoint.endsWith('logout')) return answer
    return { ...answer, headers: { ...answer.headers, ...sharingHeaders(request, endpoint, deps) } }
  }
}

function answered(serve: () => GraphAnswer | undefined, { nowMs }: OpenIdDependencies): GraphAnswer | undefined {
  try {
    return serve()
  } catch (error) {
    if (error instanceof URIError) return undefined
    if (!(error instanceof TokenRefusal)) throw error
    return { ...json(error.body(nowMs())), status: error.status }
  }
}

const json = (body: unknown): GraphAnswer => ({ status: 200, headers: {}, body })

/**
 * Configuration and keys are public. Tokens are for pages of the public client.
 * https://fetch.spec.whatwg.org/#http-cors-protocol
 */
function sharingHeaders(
  { origin }: OpenIdRequest,
  endpoint: string,
  { redirectUris }: OpenIdDependencies,
): Record<string, string> {
  if (origin === undefined) return {}
  if (endpoint !== 'oauth2/v2.0/token') return { 'access-control-allow-origin': '*' }
  const isRegistered = redirectUris.isOriginOfPage(origin)
  return { vary: 'Origin', ...(isRegistered ? { 'access-control-allow-origin': origin } : {}) }
}

/**
 * OpenID Connect Discovery 1.0, section 3. The endpoints have the origin of the request, so that a browser can use them
 * without TLS; the issuer does not depend on it. `jwks_uri` always refers to `common`, like the identity provider.
 */
function configuration(version: TokenVersion, tenantName: string, origin: string, deps: OpenIdDependencies) {
  const authorityUrl = deps.authorityUrl()
  const isAny = ANY_TENANT.includes(tenantName)
  const tenant = isAny ? tenantName : tenantNamed(deps.seed, tenantName).tenantId
  const segment = version === '2.0' ? 'v2.0/' : ''
  return {
    issuer: isAny ? issuerTemplate(version, authorityUrl) : issuerOf(version, authorityUrl, tenant),
    authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
    token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
    end_session_endpoint: `${origin}/${tenant}/oauth2/v2.0/logout`,
    jwks_uri: `${origin}/common/discovery/${segment}keys`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    response_modes_supported: RESPONSE_MODES,
    response_types_supported: ['code'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'name', 'nonce', 'oid', 'preferred_username', 'tid', 'ver'],
    tenant_region_scope: null,
  }
}

function keySet(
  version: TokenVersion,
  tenantName: string,
  deps: OpenIdDependencies,
): ReturnType<SigningKeys['keySet']> {
  if (!ANY_TENANT.includes(tenantName)) tenantNamed(deps.seed, tenantName)
  return deps.keys.keySet(version, deps.authorityUrl())
}
