import { type CryptoKey, importJWK, type JWK } from 'jose'

/** A key of the authority, and the issuer that it signs for: `{tenantid}` in it stands for any tenant. */
export type SigningKey = { readonly key: CryptoKey; readonly issuer: string | undefined }

/** Known keys go on working for a day when the key endpoint is down. */
const KEYS_KEPT_MS = 24 * 60 * 60 * 1000
const KEYS_RELOADED_AFTER_MS = 60 * 60 * 1000

/** Between two loads, so that tokens with made-up key ids cannot have us ask without end. */
const COOLDOWN_MS = 30_000
const TIMEOUT_MS = 5_000

/** The keys cannot be had, and none are known: says nothing of the token. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

export type SigningKeys = {
  /** The key of that id; undefined for an unknown one. @throws KeysUnavailable */
  find(id: string): Promise<SigningKey | undefined>
  /** Resolves when there are keys that tokens can be verified with. @throws KeysUnavailable */
  ready(): Promise<void>
}

/**
 * The keys of a published set (RFC 7517). Loads the set when first asked, anew in the background once an hour, and at
 * once for an id that it does not know, if the last load is half a minute ago.
 */
export function signingKeys(url: string, nowMs: () => number): SigningKeys {
  let keys: ReadonlyMap<string, SigningKey> = new Map()
  let loadedMs = Number.NEGATIVE_INFINITY
  let attemptedMs = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | undefined

  const load = (): Promise<void> => {
    attemptedMs = nowMs()
    loading ??= fetchedKeys(url)
      .then((fetched) => {
        keys = fetched
        loadedMs = nowMs()
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }
  const loadIfCool = async (): Promise<void> => {
    if (loading === undefined && nowMs() - attemptedMs < COOLDOWN_MS) return
    // What is known goes on working, so a failure need not be told.
    await load().catch(() => undefined)
  }

  const ready = async (): Promise<void> => {
    const ageMs = nowMs() - loadedMs
    if (ageMs >= KEYS_KEPT_MS) await load()
    else if (ageMs >= KEYS_RELOADED_AFTER_MS) void loadIfCool()
  }

  return {
    ready,
    async find(id) {
      await ready()
      if (!keys.has(id)) await loadIfCool()
      return keys.get(id)
    },
  }
}

async function fetchedKeys(url: string): Promise<ReadonlyMap<string, SigningKey>> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`The key endpoint answered ${response.status}`)
    const { keys } = (await response.json()) as { keys: (JWK & { issuer?: unknown })[] }
    const usable = keys.filter(({ kty, use, kid }) => kty === 'RSA' && use !== 'enc' && kid !== undefined)
    // RFC 7517, section 5: one that lacks something, or is of a kind not known here, leaves the others as they are.
    const imports = await Promise.allSettled(usable.map(imported))
    const faults = imports.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    // A set of which nothing can be read must not take the place of the keys that are known.
    if (usable.length > 0 && faults.length === usable.length) throw new AggregateError(faults, 'No key can be read')
    return new Map(imports.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])))
  } catch (cause) {
    throw new KeysUnavailable(`No keys from ${url}`, { cause })
  }
}

/** The keys carry no `alg`, so it is pinned here. `issuer` is an extension that this identity provider documents. */
async function imported(jwk: JWK & { issuer?: unknown }): Promise<[string, SigningKey]> {
  const key = (await importJWK(jwk, 'RS256')) as CryptoKey
  return [String(jwk.kid), { key, issuer: typeof jwk.issuer === 'string' ? jwk.issuer : undefined }]
}
