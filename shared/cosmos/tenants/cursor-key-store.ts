import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { documentParser } from '../document-parser.ts'
import { createUnlessExists, readDocument } from '../documents.ts'

/** A partition that is not a tenant's. */
const PARTITION = 'application'
const KEYS_ID = 'cursor-keys'

/** Milliseconds for which an instance caches the keys. A new first key signs on all instances after that. */
const KEYS_CACHED_MS = 10 * 60 * 1000

const KEY_BYTES = 32

const parse = documentParser(
  'list of cursor keys',
  Type.Object({ keys: Type.Array(Type.String({ minLength: Math.ceil((KEY_BYTES * 8) / 6) }), { minItems: 1 }) }),
)

/**
 * Cursor keys that all instances share. The first call creates them. Container `tenants`. The first key signs, all keys
 * verify, as with keys from the settings.
 */
export function storedCursorKeys(
  tenants: Container,
  makeKey: () => string,
  nowMs: () => number,
): () => Promise<readonly string[]> {
  let cached: { readonly keys: Promise<readonly string[]>; readonly untilMs: number } | undefined

  async function readKeys(): Promise<readonly string[]> {
    const document = await readDocument(tenants, KEYS_ID, PARTITION)
    if (document !== undefined) return parse(document).keys
    const created = { id: KEYS_ID, tenantId: PARTITION, keys: [makeKey()] }
    const isFirst = (await createUnlessExists(tenants, created)) !== undefined
    // Otherwise another instance has created them at the same time.
    return isFirst ? created.keys : readKeys()
  }

  return () => {
    if (cached !== undefined && nowMs() < cached.untilMs) return cached.keys
    const keys = readKeys()
    cached = { keys, untilMs: nowMs() + KEYS_CACHED_MS }
    keys.catch(() => {
      cached = undefined
    })
    return keys
  }
}
