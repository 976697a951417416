import type { Container } from '@azure/cosmos'
import { LRUCache } from 'lru-cache'
import { currentState } from './documents.ts'

type KeptList<T> = { readonly state: string; readonly items: readonly T[] }

type ListReader<T> = {
  /** Reads the list of a partition, at least as new as what this instance has seen. */
  read(partition: string): Promise<readonly T[]>
  /** The items of all lists that are kept. */
  readonly itemsKeptCount: number
}

/**
 * Lists that include all earlier writes of all instances. A list is kept in memory and read again only after a write to
 * its range of partitions, so that it usually costs one request unit. Not for documents that expire: an expiry is no
 * write.
 */
export function keptLists<T>(
  container: Container,
  { read, itemsKeptCount }: ListReader<T>,
): (partition: string) => Promise<T[]> {
  // An empty list takes space as well.
  const cache = new LRUCache<string, KeptList<T>>({
    maxSize: itemsKeptCount,
    sizeCalculation: ({ items }) => items.length + 1,
  })
  return async (partition) => {
    const state = await currentState(container, partition)
    const kept = cache.get(partition)
    if (kept !== undefined && kept.state === state) return [...kept.items]
    // May include writes after this state. The next state then differs as well.
    const items = await read(partition)
    if (state !== undefined) cache.set(partition, { state, items })
    return [...items]
  }
}
