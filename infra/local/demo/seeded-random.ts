import { createHash } from 'node:crypto'

const digest = (parts: readonly (string | number)[]): Buffer => createHash('sha256').update(parts.join('\n')).digest()

/** A name-based GUID (version 5) that depends only on the parts. RFC 9562, section 5.5. */
export function derivedGuid(...parts: readonly (string | number)[]): string {
  const bytes = createHash('sha1').update(parts.join('\n')).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** A secret that is recognizable as a value of the demo. */
export const derivedSecret = (...parts: readonly (string | number)[]): string =>
  `Demo-${digest(parts).toString('base64url').slice(0, 20)}`

export type Random = {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** An integer from 0 (inclusive) to `count` (exclusive). */
  below(count: number): number
  pick(words: readonly string[]): string
  /** True with this probability in percent. */
  percent(chance: number): boolean
}

/** A pseudorandom generator (SplitMix32) that depends only on the parts. */
export function seededRandom(...parts: readonly (string | number)[]): Random {
  let state = digest(parts).readUInt32BE(0)
  const next = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    next,
    below,
    pick: (words) => words[below(words.length)] ?? '',
    percent: (chance) => next() * 100 < chance,
  }
}
