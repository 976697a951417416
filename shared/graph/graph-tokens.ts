import type { TokenCredential } from '@azure/identity'
import { DirectoryFault } from '../domain/group-links/directory.ts'

export type GraphCredentialSettings = {
  readonly authorityUrl: string
  readonly homeTenantId: string
  readonly clientId: string
  /** Where there is none, a managed identity stands for the application. */
  readonly clientSecret: string | undefined
  readonly managedIdentityClientId: string | undefined
}

/** Tokens for Graph, tenant by tenant. */
export type GraphTokens = {
  /** @throws DirectoryFault when the tenant gives none. */
  of(tenantId: string): Promise<string>
  /** The next one is fetched anew: the directory did not take the present one. */
  forget(tenantId: string): void
}

const GRAPH_SCOPE = 'https://graph.microsoft.com/.default'

/** Audience of the managed identity's token that a federated credential exchanges. */
const EXCHANGE_SCOPE = 'api://AzureADTokenExchange/.default'

/** A token with less life left is fetched anew. */
const LEFT_AT_LEAST_MS = 5 * 60 * 1000

const TIMEOUT_MS = 20_000

/** Beyond it, everything is forgotten and fetched anew: with each tenant, the credential takes longer for the next one. */
const TENANTS_AT_MOST_COUNT = 2_000

/** One credential for all tenants; a tenant's token is fetched once, however many ask for it at the same time. */
export function graphTokens(
  settings: GraphCredentialSettings,
  nowMs: () => number,
  tenantsAtMostCount: number = TENANTS_AT_MOST_COUNT,
): GraphTokens {
  type Fetched = { token: string; expiresMs: number }
  const fetched = new Map<string, Promise<Fetched>>()
  let credential: Promise<TokenCredential> | undefined

  async function fetchToken(tenantId: string): Promise<Fetched> {
    credential ??= openCredential(settings)
    const answer = await (await credential)
      .getToken(GRAPH_SCOPE, { tenantId, abortSignal: AbortSignal.timeout(TIMEOUT_MS) })
      .catch((cause: unknown) => {
        throw tokenFault(cause)
      })
    if (answer === null) throw new DirectoryFault('refused', 'The directory gave no token')
    return { token: answer.token, expiresMs: answer.expiresOnTimestamp }
  }

  function fetchOnce(tenantId: string): Promise<Fetched> {
    if (!fetched.has(tenantId) && fetched.size >= tenantsAtMostCount) {
      fetched.clear()
      credential = undefined
    }
    const pending = fetchToken(tenantId)
    fetched.set(tenantId, pending)
    pending.catch(() => fetched.delete(tenantId))
    return pending
  }

  return {
    async of(tenantId) {
      const known = fetched.get(tenantId) ?? fetchOnce(tenantId)
      const { token, expiresMs } = await known
      if (expiresMs - nowMs() > LEFT_AT_LEAST_MS) return token
      // Of all who find it too old, the first has a new one fetched.
      const next = fetched.get(tenantId)
      return (await (next === undefined || next === known ? fetchOnce(tenantId) : next)).token
    },
    forget(tenantId) {
      fetched.delete(tenantId)
      // It has a memory of its own, and would give the same token again until that has run out.
      credential = undefined
    },
  }
}

/** The packages are loaded by the first call: functions that never ask the directory start without them. */
async function openCredential(settings: GraphCredentialSettings): Promise<TokenCredential> {
  const { authorityUrl, homeTenantId, clientId, clientSecret, managedIdentityClientId } = settings
  const identity = await import('@azure/identity')
  const options = {
    authorityHost: authorityUrl,
    additionallyAllowedTenants: ['*'],
    // The authority is known from the settings, and looking it up elsewhere would leave a closed network.
    disableInstanceDiscovery: true,
  }
  if (clientSecret !== undefined) {
    return new identity.ClientSecretCredential(homeTenantId, clientId, clientSecret, options)
  }
  const managed = new identity.ManagedIdentityCredential({ clientId: managedIdentityClientId ?? '' })
  const assertion = async () => (await managed.getToken(EXCHANGE_SCOPE)).token
  return new identity.ClientAssertionCredential(homeTenantId, clientId, assertion, options)
}

/** RFC 6749, section 5.2: the authority has understood, and will say the same again. */
const REFUSALS_OF_TOKENS: readonly unknown[] = [
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_resource',
  'invalid_scope',
  'unauthorized_client',
]

function tokenFault(cause: unknown): DirectoryFault {
  // The credential hands on the authority's answer in one of two ways, depending on its own depth.
  const { errorResponse, cause: inner } = cause as {
    errorResponse?: { error?: unknown }
    cause?: { errorCode?: unknown }
  }
  const isRefused = [errorResponse?.error, inner?.errorCode].some((code) => REFUSALS_OF_TOKENS.includes(code))
  return isRefused
    ? new DirectoryFault('refused', 'The tenant gives the service no token: it has not consented', { cause })
    : new DirectoryFault('unavailable', 'The directory did not answer when asked for a token', { cause })
}
