import { hash } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { upToEntries } from '../kernel/cache-size.ts'
import { type Caller, isApplicationRole, isUserRole, type Role } from '../kernel/caller.ts'
import { isGuid } from '../kernel/guid.ts'
import { Refusal } from '../kernel/refusals.ts'
import { type AuthorityKeys, authorityKeys, type KeySet, KeysUnavailable, type SigningKey } from './signing-keys.ts'

export type TokenSettings = {
  /** The authority that issues tokens of version 2, without a trailing slash: `https://login.microsoftonline.com`. */
  readonly authorityUrl: string
  /**
   * Accepted values of `aud`: the service's client id and its resource URI. A trailing slash on the URI is optional.
   */
  readonly audiences: readonly string[]
  /** The scope that a token of a user must have: `user_impersonation`. */
  readonly scope: string
}

/** Seconds of clock difference tolerated between this service and the issuer. */
const CLOCK_SKEW_S = 60

/** Verified tokens in the cache. An evicted token is verified again. */
const VERIFIED_TOKENS_COUNT = 10_000

/** Tokens of version 1 have the same issuer in every cloud, whichever authority issues them. */
const VERSION_1_ISSUER = 'https://sts.windows.net/{tenantid}/'

type Version = { readonly issuer: string; readonly keys: KeySet }
type Verification = {
  readonly versions: ReadonlyMap<unknown, Version>
  readonly audiences: string[]
  readonly nowMs: () => number
}

/**
 * Returns the function that verifies `Authorization` headers: signature (RS256 by the authority's keys), issuer against
 * tenant and against the key's own issuer, audience, times. Accepts tokens of both versions.
 * It throws Refusal `TokenMissing`, `TokenInvalid`, or `TokenNotVerified` when the signing keys are unavailable.
 */
export function tokenVerifier(
  { authorityUrl, audiences, scope }: TokenSettings,
  nowMs: () => number,
  keys: AuthorityKeys = authorityKeys(authorityUrl, nowMs),
): (authorization: string | null) => Promise<Caller> {
  const verification: Verification = {
    versions: new Map([
      ['1.0', { issuer: VERSION_1_ISSUER, keys: keys.version1 }],
      ['2.0', { issuer: `${authorityUrl}/{tenantid}/v2.0`, keys: keys.version2 }],
    ]),
    audiences: audiences.flatMap(withAndWithoutSlash),
    nowMs,
  }
  const verified = new LRUCache<string, VerifiedToken>(upToEntries(VERIFIED_TOKENS_COUNT))

  return async (authorization) => {
    const token = bearerToken(authorization)
    const digest = hash('sha256', token, 'base64')
    const known = verified.get(digest)
    // A withdrawn key must not be trusted because a token that it signed was verified before.
    if (known !== undefined && known.expiresMs > nowMs() && known.keys.version() === known.keysVersion) {
      return known.caller
    }
    const { payload, keys, keysVersion } = await verifiedPayload(token, verification)
    const caller = callerOf(payload, scope)
    verified.set(digest, { caller, expiresMs: ((payload.exp ?? 0) + CLOCK_SKEW_S) * 1000, keys, keysVersion })
    return caller
  }
}

/** A token and the version of the keys that it was verified with. */
type VerifiedToken = {
  readonly caller: Caller
  readonly expiresMs: number
  readonly keys: KeySet
  readonly keysVersion: object
}

/** A resource URI is accepted with and without a trailing slash. A client id has none. */
function withAndWithoutSlash(audience: string): string[] {
  const bare = audience.replace(/\/$/, '')
  return bare.includes(':') ? [bare, `${bare}/`] : [bare]
}

/** RFC 6750, section 2.1. */
function bearerToken(authorization: string | null): string {
  if (authorization === null || authorization.trim() === '') throw new Refusal('TokenMissing')
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1]
  if (token === undefined)
    throw new Refusal('TokenInvalid', 'The Authorization header must have the form Bearer <token>')
  return token
}

type Verified = { readonly payload: JWTPayload; readonly keys: KeySet; readonly keysVersion: object }

async function verifiedPayload(token: string, verification: Verification): Promise<Verified> {
  const version = verification.versions.get(unverifiedVersion(token))
  if (version === undefined) throw new Refusal('TokenInvalid', 'The version of the access token must be 1.0 or 2.0')
  const { payload, signer } = await verifySignature(token, version, verification)
  const tenantId = payload.tid
  if (typeof tenantId !== 'string' || !isGuid(tenantId))
    throw new Refusal('TokenInvalid', 'The access token has no valid tid claim')
  if (payload.iss !== version.issuer.replace('{tenantid}', tenantId)) {
    throw new Refusal('TokenInvalid', 'The issuer of the access token does not match its tenant')
  }
  if (signer.issuer !== undefined && signer.issuer.replace('{tenantid}', tenantId) !== payload.iss) {
    throw new Refusal('TokenInvalid', 'The signing key of the access token belongs to another issuer')
  }
  return { payload, keys: version.keys, keysVersion: signer.keysVersion }
}

async function verifySignature(token: string, { keys }: Version, { audiences, nowMs }: Verification) {
  let signer: SigningKey | undefined
  try {
    const keyOfHeader = async ({ kid }: { kid?: unknown }) => {
      // Without a key id, any key of the set would be accepted.
      signer = typeof kid === 'string' ? await keys.get(kid) : undefined
      if (signer === undefined) throw new errors.JWKSNoMatchingKey()
      return signer.key
    }
    const { payload } = await jwtVerify(token, keyOfHeader, {
      algorithms: ['RS256'],
      audience: audiences,
      requiredClaims: ['exp', 'iat', 'tid', 'oid', 'ver'],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(nowMs()),
    })
    if (signer === undefined) throw new errors.JWKSNoMatchingKey()
    return { payload, signer: signer as SigningKey }
  } catch (cause) {
    if (cause instanceof KeysUnavailable) throw new Refusal('TokenNotVerified', undefined, undefined, cause)
    if (!(cause instanceof errors.JOSEError)) throw cause
    throw new Refusal('TokenInvalid', `The access token is not valid: ${cause.message}`, undefined, cause)
  }
}

/** Selects the keys and the issuer to verify against. A forged version fails the check of signature or issuer. */
function unverifiedVersion(token: string): unknown {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { ver?: unknown }
    return payload.ver
  } catch (cause) {
    throw new Refusal('TokenInvalid', 'The access token is not a JSON Web Token', undefined, cause)
  }
}

/** Claims of ID tokens that no access token has: OpenID Connect Core, sections 2 and 3.3.2.11. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'] as const

/**
 * A token must be clearly an application's, or have the scope of this service. An ID token has neither: no scope, and
 * no client that it was issued to.
 */
function callerOf(payload: JWTPayload, scope: string): Caller {
  const { oid, tid, sub, idtyp, scp, azp, appid } = payload as Record<string, unknown>
  if (typeof oid !== 'string' || !isGuid(oid))
    throw new Refusal('TokenInvalid', 'The access token has no valid oid claim')
  const clientId = azp ?? appid
  if (ID_TOKEN_CLAIMS.some((claim) => payload[claim] !== undefined)) {
    throw new Refusal('TokenInvalid', 'An ID token is not an access token')
  }
  const isForItself = idtyp === undefined && scp === undefined && sub === oid && clientId !== undefined
  const isApplication = idtyp === 'app' || isForItself
  if (!isApplication && !(typeof scp === 'string' && scp.split(' ').includes(scope))) {
    throw new Refusal('TokenInvalid', `The access token of a user must have the scope ${scope}`)
  }
  return {
    kind: isApplication ? 'application' : 'user',
    tenantId: String(tid).toLowerCase(),
    objectId: oid.toLowerCase(),
    clientId: typeof clientId === 'string' ? clientId.toLowerCase() : undefined,
    roles: new Set(assignableRoles(payload.roles, isApplication)),
  }
}

function assignableRoles(roles: unknown, isApplication: boolean): Role[] {
  const named = Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : []
  return isApplication ? named.filter(isApplicationRole) : named.filter(isUserRole)
}
