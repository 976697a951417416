import { createHash } from 'node:crypto'
import { createRemoteJWKSet, errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { type Caller, isApplicationRole, isUserRole, type Role } from '../domain/caller.ts'
import { isGuid } from '../domain/guid.ts'
import { Refusal } from '../domain/refusal.ts'

export type TokenSettings = {
  /** Where tokens of version 2 come from, without a slash at the end: `https://login.microsoftonline.com`. */
  readonly authorityUrl: string
  /** What `aud` may be: the service's client id and its resource URI. */
  readonly audiences: readonly string[]
}

/** Seconds of clock difference tolerated between us and the issuer. Decisions, section 2. */
const CLOCK_SKEW_S = 60

/** Known keys go on working for a day when the key endpoint is down; jose's ten minutes would end them. */
const KEYS_KEPT_MS = 24 * 60 * 60 * 1000
const KEYS_RELOADED_AFTER_MS = 60 * 60 * 1000

/** Tokens remembered as verified. Beyond it, the oldest is forgotten and would only be verified again. */
const REMEMBERED_COUNT = 10_000

/** Version 1 tokens name the same issuer in every cloud environment, whatever the authority. */
const VERSION_1_ISSUER = 'https://sts.windows.net/{tenantid}/'

type Version = {
  readonly issuer: string
  readonly keys: ReturnType<typeof createRemoteJWKSet>
  keysLoadedMs: number
}

/**
 * Makes the check of `Authorization` headers: signature (RS256 by the authority's keys), issuer against tenant and
 * against the key's own issuer, audience, times. Tokens of both versions. Decisions, section 2.
 * The check throws Refusal `TokenMissing` or `TokenInvalid`; that the keys cannot be had at all is a fault.
 */
export function tokenVerifier(
  settings: TokenSettings,
  nowMs: () => number,
): (authorization: string | null) => Promise<Caller> {
  const versions: Record<string, Version> = {
    '1.0': version(VERSION_1_ISSUER, `${settings.authorityUrl}/common/discovery/keys`),
    '2.0': version(`${settings.authorityUrl}/{tenantid}/v2.0`, `${settings.authorityUrl}/common/discovery/v2.0/keys`),
  }
  const remembered = new Map<string, { caller: Caller; expiresMs: number }>()

  return async (authorization) => {
    const token = bearerToken(authorization)
    const digest = createHash('sha256').update(token).digest('base64')
    const known = remembered.get(digest)
    if (known !== undefined) {
      if (known.expiresMs > nowMs()) return known.caller
      remembered.delete(digest)
    }
    const payload = await verifiedPayload(token, versions, settings, nowMs)
    const caller = callerOf(payload)
    if (remembered.size >= REMEMBERED_COUNT) remembered.delete(remembered.keys().next().value ?? '')
    remembered.set(digest, { caller, expiresMs: ((payload.exp ?? 0) + CLOCK_SKEW_S) * 1000 })
    return caller
  }
}

function version(issuer: string, keysUrl: string): Version {
  return { issuer, keys: createRemoteJWKSet(new URL(keysUrl), { cacheMaxAge: KEYS_KEPT_MS }), keysLoadedMs: 0 }
}

/** RFC 6750, section 2.1. */
function bearerToken(authorization: string | null): string {
  if (authorization === null || authorization.trim() === '') throw new Refusal('TokenMissing')
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1]
  if (token === undefined) throw new Refusal('TokenInvalid', 'The Authorization header does not read Bearer <token>')
  return token
}

async function verifiedPayload(
  token: string,
  versions: Record<string, Version>,
  settings: TokenSettings,
  nowMs: () => number,
): Promise<JWTPayload> {
  const version = versions[unverifiedVersion(token)]
  if (version === undefined) throw new Refusal('TokenInvalid', 'The token is of neither version 1.0 nor 2.0')
  refreshKeys(version, nowMs())
  const { payload, protectedHeader } = await verifySignature(token, version, settings, nowMs)
  const tenantId = payload.tid
  if (typeof tenantId !== 'string' || !isGuid(tenantId)) throw new Refusal('TokenInvalid', 'The token names no tenant')
  if (payload.iss !== version.issuer.replace('{tenantid}', tenantId)) {
    throw new Refusal('TokenInvalid', 'The issuer of the token is not that of its tenant')
  }
  // `issuer` is an extension of the key set that this identity provider documents.
  const key = version.keys.jwks()?.keys.find(({ kid }) => kid === protectedHeader.kid) as
    | (JWK & { issuer?: unknown })
    | undefined
  const keyIssuer = key?.issuer
  if (typeof keyIssuer === 'string' && keyIssuer.replace('{tenantid}', tenantId) !== payload.iss) {
    throw new Refusal('TokenInvalid', 'The key of the token belongs to another issuer')
  }
  return payload
}

async function verifySignature(token: string, version: Version, settings: TokenSettings, nowMs: () => number) {
  try {
    return await jwtVerify(token, version.keys, {
      algorithms: ['RS256'],
      audience: [...settings.audiences],
      requiredClaims: ['exp', 'iat', 'tid', 'oid', 'ver'],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(nowMs()),
    })
  } catch (cause) {
    // Errors without an answer from the key endpoint say nothing of the token.
    if (!(cause instanceof errors.JOSEError) || cause instanceof errors.JWKSTimeout) throw cause
    if (cause.code === 'ERR_JOSE_GENERIC') throw cause
    throw new Refusal('TokenInvalid', `The access token is not valid: ${cause.message}`, undefined, cause)
  }
}

/** Decides only which keys and issuer to verify against; a lie here fails the signature or the issuer. */
function unverifiedVersion(token: string): string {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { ver?: unknown }
    return String(payload.ver)
  } catch (cause) {
    throw new Refusal('TokenInvalid', 'The access token is not a JSON Web Token', undefined, cause)
  }
}

/** Fetches the keys anew in the background once an hour; a failure leaves the known ones in force. */
function refreshKeys(version: Version, nowMs: number): void {
  if (version.keysLoadedMs === 0) version.keysLoadedMs = nowMs
  if (nowMs - version.keysLoadedMs < KEYS_RELOADED_AFTER_MS) return
  version.keysLoadedMs = nowMs
  version.keys.reload().catch(() => undefined)
}

function callerOf(payload: JWTPayload): Caller {
  const { oid, tid, sub, idtyp, scp, azp, appid } = payload as Record<string, unknown>
  if (typeof oid !== 'string' || !isGuid(oid)) throw new Refusal('TokenInvalid', 'The token names no caller')
  const isApplication = idtyp === 'app' || (idtyp === undefined && scp === undefined && sub === oid)
  const clientId = azp ?? appid
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
