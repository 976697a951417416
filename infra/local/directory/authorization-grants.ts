import { createHash, randomBytes } from 'node:crypto'
import { equalSecrets, TokenRefusal } from './client-proof.ts'
import type { Platform } from './redirect-uris.ts'
import type { PersonSeed, TenantSeed } from './seed.ts'

/** What a person has granted to a client by signing in. */
export type Grant = {
  readonly tenant: TenantSeed
  readonly person: PersonSeed
  readonly clientId: string
  readonly platform: Platform
  readonly scopes: readonly string[]
  /** Copied to the ID token. OpenID Connect Core 1.0, section 3.1.2.1. */
  readonly nonce: string | undefined
}

/** The client that redeems. `origin` is the `Origin` header, which browsers send. */
type Redeemer = { readonly clientId: string; readonly origin: string | undefined }

/** What a code is bound to: RFC 6749, section 4.1.3, and RFC 7636, section 4.6. */
type CodeBinding = Redeemer & { readonly redirectUri: string; readonly verifier: string }

export type AuthorizationGrants = {
  /** @param challenge SHA-256 of the verifier, base64url. */
  issueCode(grant: Grant, redirectUri: string, challenge: string): string
  /** @throws TokenRefusal AADSTS9002313, 54005, 70008, 9002326, 9002327, 50011, 501481 */
  redeemCode(code: string, binding: CodeBinding): RedeemedGrant
  issueRefreshToken(redeemed: RedeemedGrant): string
  /** The token stays valid for the rest of its lifetime. @throws TokenRefusal AADSTS9002313, 9002326, 9002327, 700082, 700084 */
  redeemRefreshToken(token: string, redeemer: Redeemer): RedeemedGrant
}

export type RedeemedGrant = {
  readonly grant: Grant
  /** The end of a refresh token that is issued now. */
  readonly untilMs: number
}

const CODE_LIFETIME_MS = 10 * 60 * 1000

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * For a page from the sign-in, for a program from the last use.
 * https://learn.microsoft.com/entra/identity-platform/refresh-tokens
 */
const REFRESH_LIFETIME_MS = { spa: DAY_MS, native: 90 * DAY_MS }

type Code = {
  readonly grant: Grant
  readonly redirectUri: string
  readonly challenge: string
  readonly untilMs: number
}

/** Codes and refresh tokens, in memory: after a restart, people sign in again. */
export function authorizationGrants(nowMs: () => number): AuthorizationGrants {
  const codes = new Map<string, Code>()
  const redeemedCodes = new Map<string, { readonly untilMs: number }>()
  const refreshTokens = new Map<string, RedeemedGrant>()
  const dropExpired = (entries: Map<string, { readonly untilMs: number }>) => {
    for (const [key, { untilMs }] of entries) if (untilMs <= nowMs()) entries.delete(key)
  }
  return {
    issueCode(grant, redirectUri, challenge) {
      for (const entries of [codes, redeemedCodes, refreshTokens]) dropExpired(entries)
      const code = newSecret()
      codes.set(code, { grant, redirectUri, challenge, untilMs: nowMs() + CODE_LIFETIME_MS })
      return code
    },
    redeemCode(code, { verifier, ...binding }) {
      if (redeemedCodes.has(code)) throw new TokenRefusal(54005, 'OAuth2 Authorization code was already redeemed.')
      const found = codes.get(code)
      if (found === undefined || found.grant.clientId !== binding.clientId) throw malformed()
      if (found.untilMs <= nowMs()) {
        throw new TokenRefusal(70008, 'The provided authorization code has expired due to inactivity.')
      }
      requirePlatform(found.grant, binding)
      if (found.redirectUri !== binding.redirectUri) {
        throw new TokenRefusal(50011, `The redirect URI '${binding.redirectUri}' is not that of the authorization.`)
      }
      const challenge = createHash('sha256').update(verifier).digest('base64url')
      if (!equalSecrets(challenge, found.challenge)) {
        throw new TokenRefusal(501481, 'The Code_Verifier does not match the code_challenge of the authorization.')
      }
      codes.delete(code)
      redeemedCodes.set(code, found)
      return { grant: found.grant, untilMs: nowMs() + REFRESH_LIFETIME_MS[found.grant.platform] }
    },
    issueRefreshToken(redeemed) {
      const token = newSecret()
      refreshTokens.set(token, redeemed)
      return token
    },
    redeemRefreshToken(token, redeemer) {
      const found = refreshTokens.get(token)
      if (found === undefined || found.grant.clientId !== redeemer.clientId) throw malformed()
      const { grant, untilMs } = found
      requirePlatform(grant, redeemer)
      if (untilMs <= nowMs()) throw expired(grant.platform)
      return grant.platform === 'spa' ? found : { grant, untilMs: nowMs() + REFRESH_LIFETIME_MS.native }
    },
  }
}

/**
 * Pages redeem with an `Origin` header, programs without one.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow
 */
function requirePlatform({ platform }: Grant, { origin }: Redeemer): void {
  if (platform === 'spa' && origin === undefined) {
    throw new TokenRefusal(9002327, "A 'Single-Page Application' may only redeem via cross-origin requests.")
  }
  if (platform === 'native' && origin !== undefined) {
    throw new TokenRefusal(9002326, `Only a 'Single-Page Application' may redeem cross-origin, not '${origin}'.`)
  }
}

const expired = (platform: Platform) =>
  platform === 'spa'
    ? new TokenRefusal(700084, 'The refresh token of a single page app (SPA) has a fixed lifetime of 1.00:00:00.')
    : new TokenRefusal(700082, 'The refresh token has expired due to inactivity for 90.00:00:00.')

const newSecret = (): string => randomBytes(32).toString('base64url')

const malformed = () => new TokenRefusal(9002313, 'Invalid request. Request is malformed or invalid.')
