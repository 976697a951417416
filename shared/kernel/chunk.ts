/** A list in pieces of one size, the last one perhaps shorter. */
export function chunk<T>(all: readonly T[], sizeCount: number): T[][] {
  const made: T[][] = []
  for (let start = 0; start < all.length; start += sizeCount) made.push(all.slice(start, start + sizeCount))
  return made
}

/** What one slice may hold: so many entries, and so many bytes in all. */
export type ChunkLimits = { readonly atMostCount: number; readonly atMostBytes: number }

/** A list in as few pieces as these limits allow, in its order. One entry that is too large is a piece by itself. */
export function chunkWithin<T>(
  all: Iterable<T>,
  { atMostCount, atMostBytes }: ChunkLimits,
  sizeBytesOf: (entry: T) => number,
): T[][] {
  const made: T[][] = []
  let sizeBytes = 0
  for (const entry of all) {
    const entryBytes = sizeBytesOf(entry)
    const current = made.at(-1)
    if (current === undefined || current.length === atMostCount || sizeBytes + entryBytes > atMostBytes) {
      made.push([entry])
      sizeBytes = entryBytes
    } else {
      current.push(entry)
      sizeBytes += entryBytes
    }
  }
  return made
}
