import { TokenRefusal } from './client-proof.ts'
import type { SigningKeys } from './signing-keys.ts'
import { issuerOf, issuerTemplate, type TokenVersion } from './signing-keys.ts'
import { issueToken, type TokenDependencies, tenantNamed } from './token-endpoint.ts'

export type JsonAnswer = { readonly status: number; readonly body: unknown }

/** Path segments for all tenants in the URLs of configuration and keys. */
const ANY_TENANT = ['common', 'organizations']

/** Serves the identity provider: configuration, keys and tokens. Undefined for other paths. */
export function openId(deps: TokenDependencies) {
  return (method: string, path: string, body: string): JsonAnswer | undefined => {
    const [, tenantName, rest] = /^\/([^/]+)\/(.+)$/.exec(path) ?? []
    if (tenantName === undefined || rest === undefined) return undefined
    try {
      return served(method, decodeURIComponent(tenantName), rest, body, deps)
    } catch (error) {
      if (error instanceof URIError) return undefined
      if (!(error instanceof TokenRefusal)) throw error
      return { status: error.status, body: error.body(deps.nowMs()) }
    }
  }
}

function served(method: string, tenantName: string, rest: string, body: string, deps: TokenDependencies) {
  switch (`${method} ${rest}`) {
    case 'GET v2.0/.well-known/openid-configuration':
      return { status: 200, body: configuration('2.0', tenantName, deps) }
    case 'GET .well-known/openid-configuration':
      return { status: 200, body: configuration('1.0', tenantName, deps) }
    case 'GET discovery/v2.0/keys':
      return { status: 200, body: keySet('2.0', tenantName, deps) }
    case 'GET discovery/keys':
      return { status: 200, body: keySet('1.0', tenantName, deps) }
    case 'POST oauth2/v2.0/token':
      return { status: 200, body: issueToken(tenantName, body, deps) }
    default:
      return undefined
  }
}

/** OpenID Connect Discovery 1.0, section 3. `jwks_uri` always refers to `common`, like the identity provider. */
function configuration(version: TokenVersion, tenantName: string, deps: TokenDependencies) {
  const authorityUrl = deps.authorityUrl()
  const isAny = ANY_TENANT.includes(tenantName)
  const tenant = isAny ? tenantName : tenantNamed(deps.seed, tenantName).tenantId
  const segment = version === '2.0' ? 'v2.0/' : ''
  return {
    issuer: isAny ? issuerTemplate(version, authorityUrl) : issuerOf(version, authorityUrl, tenant),
    authorization_endpoint: `${authorityUrl}/${tenant}/oauth2/v2.0/authorize`,
    token_endpoint: `${authorityUrl}/${tenant}/oauth2/v2.0/token`,
    jwks_uri: `${authorityUrl}/common/discovery/${segment}keys`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    response_types_supported: ['code', 'id_token', 'token'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'name', 'oid', 'preferred_username', 'tid', 'ver'],
    tenant_region_scope: null,
  }
}

function keySet(version: TokenVersion, tenantName: string, deps: TokenDependencies): ReturnType<SigningKeys['keySet']> {
  if (!ANY_TENANT.includes(tenantName)) tenantNamed(deps.seed, tenantName)
  return deps.keys.keySet(version, deps.authorityUrl())
}
