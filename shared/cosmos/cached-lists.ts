import type { Container } from '@azure/cosmos'
import { LRUCache } from 'lru-cache'

/** A list, and about how much memory it takes. */
export type SizedList<T> = { readonly items: readonly T[]; readonly sizeBytes: number }

type CachedList<T> = SizedList<T> & { readonly state: string }

type ListReader<T> = {
  /** Reads the list of a partition. */
  read(partition: string): Promise<SizedList<T>>
  /** The memory for all cached lists. A larger list is read each time. */
  readonly maxBytes: number
}

/** What a list takes besides its items. */
const LIST_BYTES = 200

/** An id that no document has. */
const ABSENT_ID = 'absent'

/** https://learn.microsoft.com/azure/cosmos-db/consistency-levels */
const TOKEN_HEADER = 'x-ms-session-token'

/**
 * Lists of what a tenant has few of and many operations read whole, its collections and its connectors. They include
 * every acknowledged write. A list is cached until something is written to its range of partitions,
 * which the session token of a point read shows: a list of 5,000 collections costs two request units instead of
 * hundreds. Not for documents that expire: an expiry is no write.
 */
export function cachedLists<T>(
  container: Container,
  { read, maxBytes }: ListReader<T>,
): (partition: string) => Promise<T[]> {
  const cache = new LRUCache<string, CachedList<T>>({
    maxSize: maxBytes,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + LIST_BYTES,
  })
  return async (partition) => {
    const { headers } = await container.item(ABSENT_ID, partition).read()
    const state = headers[TOKEN_HEADER] as string | undefined
    const cached = cache.get(partition)
    if (cached !== undefined && cached.state === state) return [...cached.items]
    // May include writes after this state. The next state then differs as well.
    const list = await read(partition)
    if (state !== undefined) cache.set(partition, { ...list, state })
    return [...list.items]
  }
}
