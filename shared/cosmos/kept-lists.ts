import type { Container } from '@azure/cosmos'
import { LRUCache } from 'lru-cache'
import { currentState } from './documents.ts'

/** A list, and about how much memory it takes. */
export type SizedList<T> = { readonly items: readonly T[]; readonly sizeBytes: number }

type KeptList<T> = SizedList<T> & { readonly state: string }

type ListReader<T> = {
  /** Reads the list of a partition, at least as new as what this instance has seen. */
  read(partition: string): Promise<SizedList<T>>
  /** The memory for all lists that are kept. A larger list is read each time. */
  readonly bytesAtMost: number
}

/** What a list takes besides its items. */
const LIST_BYTES = 200

/**
 * Lists that include all earlier writes of all instances. A list is kept in memory and read again only after a write to
 * its range of partitions, so that it usually costs one request unit. Not for documents that expire: an expiry is no
 * write.
 */
export function keptLists<T>(
  container: Container,
  { read, bytesAtMost }: ListReader<T>,
): (partition: string) => Promise<T[]> {
  const cache = new LRUCache<string, KeptList<T>>({
    maxSize: bytesAtMost,
    sizeCalculation: ({ sizeBytes }) => sizeBytes + LIST_BYTES,
  })
  return async (partition) => {
    const state = await currentState(container, partition)
    const kept = cache.get(partition)
    if (kept !== undefined && kept.state === state) return [...kept.items]
    // May include writes after this state. The next state then differs as well.
    const list = await read(partition)
    if (state !== undefined) cache.set(partition, { ...list, state })
    return [...list.items]
  }
}
