/** Ids that one chunk holds on average, at most: about 16 KB, so that one change rewrites little. */
const IDS_PER_CHUNK_COUNT = 400

const HEX_DIGIT_COUNT = 16

/** Digits of an id that name its chunk: none for a small membership, one more for each factor of sixteen. */
export function prefixLengthFor(count: number): number {
  let length = 0
  for (let capacity = IDS_PER_CHUNK_COUNT; capacity < count; capacity *= HEX_DIGIT_COUNT) length += 1
  return length
}

/**
 * The prefix length that a membership of `count` ids should have when it has `current` now: it stays as long as
 * chunks are neither more than twice too full nor, by far, too empty, lest a count at a boundary rewrite all each time.
 */
export function nextPrefixLength(current: number, count: number): number {
  const tooFull = prefixLengthFor(count / 2) > current
  const tooEmpty = prefixLengthFor(count * 4) < current
  return tooFull || tooEmpty ? prefixLengthFor(count) : current
}

/** Ids by their chunk's prefix. Ids in ascending order stay so within each chunk. */
export function chunksOf(ids: Iterable<string>, prefixLength: number): Map<string, string[]> {
  const chunks = new Map<string, string[]>()
  for (const id of ids) {
    const prefix = id.slice(0, prefixLength)
    const chunk = chunks.get(prefix)
    if (chunk === undefined) chunks.set(prefix, [id])
    else chunk.push(id)
  }
  return chunks
}
