import { grownInt32 } from './growable-array.ts'

/** A set of slots, one bit each. Words are signed because V8 keeps unsigned ones as floating point numbers. */
export type Bitmap = Int32Array

/** An empty set with room for `slotCount` slots. */
export function emptyBitmap(slotCount: number): Bitmap {
  return new Int32Array((slotCount + 31) >>> 5)
}

/** The set of all slots below `slotCount`, rounded up to a multiple of 32. */
export function fullBitmap(slotCount: number): Bitmap {
  return emptyBitmap(slotCount).fill(-1)
}

export function setBit(bitmap: Bitmap, slot: number): void {
  bitmap[slot >>> 5] = (bitmap[slot >>> 5] as number) | (1 << (slot & 31))
}

export function clearBit(bitmap: Bitmap, slot: number): void {
  bitmap[slot >>> 5] = (bitmap[slot >>> 5] as number) & ~(1 << (slot & 31))
}

export function hasBit(bitmap: Bitmap, slot: number): boolean {
  return (((bitmap[slot >>> 5] as number) >>> (slot & 31)) & 1) === 1
}

export function countBits(bitmap: Bitmap): number {
  let count = 0
  for (let index = 0; index < bitmap.length; index += 1) count += bitCount(bitmap[index] as number)
  return count
}

/** The number of slots in one word: sums of bits in pairs, fours and eights, then of all bytes. */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Whether a set has fewer slots than this. Large sets are not counted to the end. */
export function hasFewerBits(bitmap: Bitmap, count: number): boolean {
  let found = 0
  for (let index = 0; index < bitmap.length && found < count; index += 1) found += bitCount(bitmap[index] as number)
  return found < count
}

/** Whether both sets, of the same length, have the same slots. */
export function equalBits(left: Bitmap, right: Bitmap): boolean {
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false
  return true
}

/** Adds the slots of `source` to `target`. */
export function addBits(target: Bitmap, source: Bitmap): void {
  for (let index = 0; index < target.length; index += 1) {
    target[index] = (target[index] as number) | (source[index] as number)
  }
}

/** Removes the slots of `source` from `target`. */
export function removeBits(target: Bitmap, source: Bitmap): void {
  for (let index = 0; index < target.length; index += 1) {
    target[index] = (target[index] as number) & ~(source[index] as number)
  }
}

/** The slots that are not in a set, up to its length. */
export function otherBits(bitmap: Bitmap): Bitmap {
  const others = bitmap.slice()
  for (let index = 0; index < others.length; index += 1) others[index] = ~(others[index] as number)
  return others
}

/** The slots of `bits` that are not among `others`, as a new set. */
export function bitsWithout(bits: Bitmap, others: Bitmap): Bitmap {
  const left = bits.slice()
  removeBits(left, others)
  return left
}

/** The intersection of both sets, as a new set. */
export function commonBits(left: Bitmap, right: Bitmap): Bitmap {
  const common = left.slice()
  for (let index = 0; index < common.length; index += 1) {
    common[index] = (common[index] as number) & (right[index] as number)
  }
  return common
}

/** The approximate memory of a number in a set. */
const BYTES_PER_LISTED = 40

/** Larger sets are kept as a bitmap over all codes, which is smaller then. */
const MAX_LISTED_COUNT = 64

/** A growing set of codes of one dictionary. Compact, because a thousand conditions keep several each. */
export class CodeSet {
  readonly #listed = new Set<number>()
  #bits: Bitmap | undefined
  #bitCount = 0
  #highest = 0

  add(code: number): void {
    this.#highest = Math.max(this.#highest, code)
    if (this.#bits === undefined) {
      this.#listed.add(code)
      if (this.#listed.size <= Math.max(MAX_LISTED_COUNT, this.#highest >>> 8)) return
      this.#bits = this.asBitmap(this.#highest + 1)
      this.#bitCount = this.#listed.size
      this.#listed.clear()
    }
    if (this.has(code)) return
    this.#bitCount += 1
    this.#bits = grownInt32(this.#bits as Int32Array<ArrayBuffer>, (code >>> 5) + 1)
    setBit(this.#bits, code)
  }

  /** The number of codes. */
  get size(): number {
    return this.#bits === undefined ? this.#listed.size : this.#bitCount
  }

  get sizeBytes(): number {
    return this.#bits?.byteLength ?? this.#listed.size * BYTES_PER_LISTED
  }

  has(code: number): boolean {
    if (this.#bits === undefined) return this.#listed.has(code)
    return code >>> 5 < this.#bits.length && hasBit(this.#bits, code)
  }

  /** The one code in the set, 0 when it is empty; undefined when there are more. */
  onlyCode(): number | undefined {
    if (this.#bits !== undefined || this.#listed.size > 1) return undefined
    const [code = 0] = this.#listed
    return code
  }

  /** The set as a bitmap over all codes below `codeCount`. Must not be changed. */
  asBitmap(codeCount: number): Bitmap {
    if (this.#bits !== undefined) {
      this.#bits = grownInt32(this.#bits as Int32Array<ArrayBuffer>, (codeCount + 31) >>> 5)
      return this.#bits
    }
    const bits = emptyBitmap(codeCount)
    for (const code of this.#listed) setBit(bits, code)
    return bits
  }
}
