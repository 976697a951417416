import type { Container } from '@azure/cosmos'
import { readDocument, statusOf } from './documents.ts'

/** A partition that no tenant has, and the document in it. */
const SCOPE = 'application'
const KEYS_ID = 'cursor-keys'

/** Milliseconds. So long an instance goes by what it has read: a key that was put first signs everywhere after that. */
const READ_AGAIN_MS = 10 * 60 * 1000

type KeysDocument = { readonly id: string; readonly tenantId: string; readonly keys: readonly string[] }

/**
 * Keys of the cursors that nobody has to know: made when first asked for, and the same for all instances from then on.
 * Container `tenants`. The first one signs, all verify, as with keys of the settings.
 */
export function storedCursorKeys(
  tenants: Container,
  makeKey: () => string,
  nowMs: () => number,
): () => Promise<readonly string[]> {
  let known: { readonly keys: Promise<readonly string[]>; readonly untilMs: number } | undefined

  async function read(): Promise<readonly string[]> {
    const document = await readDocument<KeysDocument>(tenants, KEYS_ID, SCOPE)
    if (document !== undefined) return document.keys
    const made: KeysDocument = { id: KEYS_ID, tenantId: SCOPE, keys: [makeKey()] }
    try {
      await tenants.items.create(made)
      return made.keys
    } catch (error) {
      // Another instance has made them a moment ago.
      if (statusOf(error) === 409) return read()
      throw error
    }
  }

  return () => {
    if (known !== undefined && nowMs() < known.untilMs) return known.keys
    const keys = read()
    known = { keys, untilMs: nowMs() + READ_AGAIN_MS }
    keys.catch(() => {
      known = undefined
    })
    return keys
  }
}
