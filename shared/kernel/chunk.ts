/** Splits a list into chunks of one size; the last one can be shorter. */
export function chunk<T>(all: readonly T[], sizeCount: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < all.length; start += sizeCount) chunks.push(all.slice(start, start + sizeCount))
  return chunks
}

/** The limits of one chunk. */
export type ChunkLimits = { readonly atMostCount: number; readonly atMostBytes: number }

/**
 * Splits a list into as few chunks as the limits allow, in order. An entry that exceeds the limit is a chunk by itself.
 */
export function chunkWithin<T>(all: Iterable<T>, limits: ChunkLimits, sizeBytesOf: (entry: T) => number): T[][] {
  return [...chunksWithin(all, limits, sizeBytesOf)]
}

/** Chunks within the limits, one after the other. Reads at most one entry ahead. */
export function* chunksWithin<T>(
  all: Iterable<T>,
  { atMostCount, atMostBytes }: ChunkLimits,
  sizeBytesOf: (entry: T) => number,
): Generator<T[]> {
  let current: T[] = []
  let sizeBytes = 0
  for (const entry of all) {
    const entryBytes = sizeBytesOf(entry)
    if (current.length > 0 && (current.length === atMostCount || sizeBytes + entryBytes > atMostBytes)) {
      yield current
      current = []
      sizeBytes = 0
    }
    current.push(entry)
    sizeBytes += entryBytes
  }
  if (current.length > 0) yield current
}
