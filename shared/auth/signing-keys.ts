import { type CryptoKey, createRemoteJWKSet, customFetch, type FetchImplementation, importJWK, type JWK } from 'jose'

/** A signing key and the issuer that it signs for. `{tenantid}` in the issuer stands for any tenant. */
export type SigningKey = {
  readonly key: CryptoKey
  readonly issuer: string | undefined
  /** The version of the key set that it was found in. */
  readonly keysVersion: object
}

/** How long loaded keys stay usable while the key endpoint is unavailable. */
const KEYS_KEPT_MS = 24 * 60 * 60 * 1000

/** A withdrawn key is trusted for this long at most while the key endpoint is available. */
const KEYS_RELOADED_AFTER_MS = 60 * 60 * 1000

/** Between two loads, so that tokens with made-up key ids do not cause a load each. */
const COOLDOWN_MS = 30_000
const TIMEOUT_MS = 5_000

/** `issuer` is an extension that this identity provider documents. */
type PublishedKey = JWK & { readonly issuer?: unknown }

/** The keys are unavailable and none are cached. Says nothing about the token. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

export type KeySet = {
  /**
   * Identifies the keys that are trusted now; undefined when there are none. Another value after keys were added or
   * withdrawn. Starts a reload in the background when one is due.
   */
  version(): object | undefined
  /** The key of that id; undefined for an unknown or unreadable one. @throws KeysUnavailable */
  get(kid: string): Promise<SigningKey | undefined>
  /** Resolves when there are keys to verify tokens with. @throws KeysUnavailable */
  ready(): Promise<void>
}

/**
 * The keys of a published key set (RFC 7517), loaded on first use. jose loads, filters and imports them. What it does
 * not do is done here: keys stay usable while the endpoint is unavailable, are reloaded in the background every hour,
 * and failed loads have a cooldown too.
 */
function keySet(url: string, nowMs: () => number): KeySet {
  let loadedMs = Number.NEGATIVE_INFINITY
  let attemptedMs = Number.NEGATIVE_INFINITY
  let published = ''
  let version = {}
  const set = createRemoteJWKSet(new URL(url), {
    timeoutDuration: TIMEOUT_MS,
    // When to load is decided below.
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetchReadableKeys,
  })

  const load = async (): Promise<void> => {
    attemptedMs = nowMs()
    await set.reload()
    loadedMs = nowMs()
    const text = JSON.stringify(set.jwks())
    if (text === published) return
    published = text
    version = {}
  }
  const loadAfterCooldown = async (): Promise<void> => {
    if (!set.reloading && nowMs() - attemptedMs < COOLDOWN_MS) return
    // The cached keys stay usable, so a failure is not reported.
    await load().catch(() => undefined)
  }
  const ready = async (): Promise<void> => {
    const ageMs = nowMs() - loadedMs
    if (ageMs < KEYS_RELOADED_AFTER_MS) return
    if (ageMs < KEYS_KEPT_MS) return void loadAfterCooldown()
    await load().catch((cause: unknown) => {
      throw new KeysUnavailable(`No keys from ${url}`, { cause })
    })
  }
  const currentVersion = (): object | undefined => {
    const ageMs = nowMs() - loadedMs
    if (ageMs >= KEYS_KEPT_MS) return undefined
    if (ageMs >= KEYS_RELOADED_AFTER_MS) void loadAfterCooldown()
    return version
  }
  const jwkOf = (kid: string): PublishedKey | undefined => set.jwks()?.keys.find((jwk) => jwk.kid === kid)

  return {
    version: currentVersion,
    ready,
    async get(kid) {
      await ready()
      if (jwkOf(kid) === undefined) await loadAfterCooldown()
      const jwk = jwkOf(kid)
      if (jwk === undefined) return undefined
      // Read before the wait: a key that is withdrawn meanwhile must not get the version without it.
      const keysVersion = version
      const key = await set({ alg: 'RS256', kid }).catch(() => undefined)
      return key && { key, issuer: typeof jwk.issuer === 'string' ? jwk.issuer : undefined, keysVersion }
    },
  }
}

/** jose replaces its keys by any set that it receives. A set without a readable key must not replace the known keys. */
const fetchReadableKeys: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options)
  if (!response.ok) return response
  const { keys } = (await response.clone().json()) as { keys: JWK[] }
  const signing = keys.filter(({ kty, use, kid }) => kty === 'RSA' && use !== 'enc' && kid !== undefined)
  const imports = await Promise.allSettled(signing.map((jwk) => importJWK(jwk, 'RS256')))
  const faults = imports.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (faults.length > 0 && faults.length === imports.length) throw new AggregateError(faults, 'No key is readable')
  return response
}

/** The key sets of an authority, by the version of the tokens that they sign. */
export type AuthorityKeys = {
  readonly version1: KeySet
  readonly version2: KeySet
  /** Resolves when tokens of both versions can be verified. @throws KeysUnavailable */
  ready(): Promise<void>
}

/** @param authorityUrl Without a trailing slash. */
export function authorityKeys(authorityUrl: string, nowMs: () => number): AuthorityKeys {
  const version1 = keySet(`${authorityUrl}/common/discovery/keys`, nowMs)
  const version2 = keySet(`${authorityUrl}/common/discovery/v2.0/keys`, nowMs)
  return {
    version1,
    version2,
    async ready() {
      await Promise.all([version1.ready(), version2.ready()])
    },
  }
}
