import type { AccessToken, TokenCredential } from '@azure/identity'
import { LRUCache } from 'lru-cache'
import { DirectoryFault } from '../domain/group-links/directory.ts'

export type GraphCredentialSettings = {
  readonly authorityUrl: string
  readonly homeTenantId: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  /**
   * Without a secret, this managed identity signs in to the directories for the application. It has no other rights.
   */
  readonly graphIdentityClientId: string | undefined
}

/** Access tokens for Graph, one for each tenant. */
export type GraphTokens = {
  /** @throws DirectoryFault when the tenant issues no token. */
  get(tenantId: string): Promise<string>
  /** Object id of the service's service principal in the tenant. @throws DirectoryFault */
  servicePrincipalId(tenantId: string): Promise<string>
  /** Drops a token that Graph has rejected. The next call fetches a new one. */
  invalidate(tenantId: string): void
}

const GRAPH_SCOPE = 'https://graph.microsoft.com/.default'

/** Audience of the managed identity's token that a federated credential exchanges. */
const EXCHANGE_SCOPE = 'api://AzureADTokenExchange/.default'

/** A token is replaced this long before it expires. */
const RENEWED_BEFORE_MS = 5 * 60 * 1000

const TIMEOUT_MS = 20_000

const MAX_TENANTS_COUNT = 2_000

/** Caches one token for each tenant. Concurrent calls for a tenant share one request. */
export function graphTokens(
  settings: GraphCredentialSettings,
  nowMs: () => number,
  maxTenantsCount: number = MAX_TENANTS_COUNT,
): GraphTokens {
  const tokens = new LRUCache<string, string>({
    max: maxTenantsCount,
    perf: { now: nowMs },
    ttlResolution: 0,
    // A token that is invalidated or evicted while it is fetched still answers the calls that wait for it.
    ignoreFetchAbort: true,
    async fetchMethod(tenantId, _expired, { options }) {
      const { token, expiresOnTimestamp } = await fetchToken(tenantId, settings)
      options.ttl = Math.max(1, expiresOnTimestamp - nowMs() - RENEWED_BEFORE_MS)
      return token
    },
  })
  return {
    get: (tenantId) => tokens.forceFetch(tenantId),
    servicePrincipalId: async (tenantId) => objectIdIn(await tokens.forceFetch(tenantId)),
    invalidate: (tenantId) => void tokens.delete(tenantId),
  }
}

/** The `oid` of a token. https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference */
function objectIdIn(token: string): string {
  const [, payload = ''] = token.split('.')
  const { oid } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { oid?: unknown }
  if (typeof oid !== 'string') throw new DirectoryFault('refused', "The tenant's access token has no object id.")
  return oid.toLowerCase()
}

/**
 * Each token has a credential of its own: a credential caches tokens, would return a rejected one again, and becomes
 * slower with each tenant.
 */
async function fetchToken(tenantId: string, settings: GraphCredentialSettings): Promise<AccessToken> {
  const credential = await openCredential(settings)
  const token = await credential
    .getToken(GRAPH_SCOPE, { tenantId, abortSignal: AbortSignal.timeout(TIMEOUT_MS) })
    .catch((cause: unknown) => {
      throw tokenFault(cause)
    })
  if (token === null) throw new DirectoryFault('refused', 'The tenant returned no access token.')
  return token
}

/** Loads the packages with the first call, so that functions that do not call the directory start without them. */
async function openCredential(settings: GraphCredentialSettings): Promise<TokenCredential> {
  const { authorityUrl, homeTenantId, clientId, clientSecret, graphIdentityClientId } = settings
  const identity = await import('@azure/identity')
  const options = {
    authorityHost: authorityUrl,
    additionallyAllowedTenants: ['*'],
    // The settings name the authority. Discovery would call another host, which a closed network does not allow.
    disableInstanceDiscovery: true,
  }
  if (clientSecret !== undefined) {
    return new identity.ClientSecretCredential(homeTenantId, clientId, clientSecret, options)
  }
  const managed = new identity.ManagedIdentityCredential({ clientId: graphIdentityClientId ?? '' })
  const assertion = async () => (await managed.getToken(EXCHANGE_SCOPE)).token
  return new identity.ClientAssertionCredential(homeTenantId, clientId, assertion, options)
}

/** RFC 6749, section 5.2: errors for which a retry gets the same response. */
const PERMANENT_TOKEN_ERRORS: readonly unknown[] = [
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_resource',
  'invalid_scope',
  'unauthorized_client',
]

function tokenFault(cause: unknown): DirectoryFault {
  // Depending on the credential, the authority's response is in one of two places.
  const { errorResponse, cause: inner } = cause as {
    errorResponse?: { error?: unknown }
    cause?: { errorCode?: unknown }
  }
  const isRefused = [errorResponse?.error, inner?.errorCode].some((code) => PERMANENT_TOKEN_ERRORS.includes(code))
  return isRefused
    ? new DirectoryFault('refused', 'The tenant issues no access token to the service. Admin consent may be missing.', {
        cause,
      })
    : new DirectoryFault('unavailable', 'The directory did not respond to the request for an access token.', { cause })
}
