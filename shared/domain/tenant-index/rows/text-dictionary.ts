import { runToCompletion, type Task } from '../../../kernel/cooperative-scheduler.ts'
import { CodePointBytes, textOfBytes } from './code-point-bytes.ts'
import { grownUint8, grownUint32, hasFreePlaces } from './growable-array.ts'

/** Smaller dictionaries grow in microseconds. */
const LARGE_COUNT = 1024
/** Values placed in one step of the task. */
const VALUES_PER_STEP_COUNT = 2048

const HASH_SEED = 0x811c9dc5

/**
 * Assigns a code to every distinct sequence of bytes, starting at 1; 0 means no value. Codes are never reused. The
 * bytes are stored in one buffer: a value costs its bytes and about twelve more, and nothing for the garbage collector.
 */
export class ByteDictionary {
  /** All values, concatenated. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(64)
  /** Value `code` is `bytes` from `offsets[code]` to `offsets[code + 1]`. */
  offsets: Uint32Array<ArrayBuffer> = new Uint32Array(32)
  /** One more than the highest code. */
  size = 1
  /** Hash table with open addressing and linear probing; 0 marks a free place. The length is a power of two. */
  #places = new Int32Array(16)
  /** Eight more bits of each hash: most different values are recognised without comparing bytes. */
  #tags = new Uint8Array(16)

  /** The code of a value, 0 for an unknown one. */
  find(source: Uint8Array, start: number, end: number): number {
    return this.#places[this.#offsetOf(source, start, end, mix(source, start, end, HASH_SEED))] as number
  }

  /** The code of a value, which is added when it is new. */
  intern(source: Uint8Array, start: number, end: number): number {
    const hashed = mix(source, start, end, HASH_SEED)
    const place = this.#offsetOf(source, start, end, hashed)
    const known = this.#places[place] as number
    if (known !== 0) return known
    const code = this.size
    const at = this.offsets[code] as number
    this.bytes = grownUint8(this.bytes, at + end - start)
    for (let index = start; index < end; index += 1) this.bytes[at + index - start] = source[index] as number
    this.offsets = grownUint32(this.offsets, code + 2)
    this.offsets[code + 1] = at + end - start
    this.#places[place] = code
    this.#tags[place] = hashed >>> 24
    this.size += 1
    if (!hasFreePlaces(this.size, this.#places)) runToCompletion(this.#rehash(this.#places.length * 2))
    return code
  }

  get sizeBytes(): number {
    return this.bytes.byteLength + this.offsets.byteLength + this.#places.byteLength + this.#tags.byteLength
  }

  /**
   * Makes room for more values of the usual length. Without it, adding one value can take as long as adding them all
   * again.
   */
  *reserve(addedCount: number): Task<void> {
    if (this.size < LARGE_COUNT) return
    const usedBytes = this.offsets[this.size] as number
    this.bytes = grownUint8(this.bytes, usedBytes + Math.ceil((2 * addedCount * usedBytes) / this.size))
    this.offsets = grownUint32(this.offsets, this.size + addedCount + 1)
    yield
    let length = this.#places.length
    while (!hasFreePlaces(this.size + addedCount, { length })) length *= 2
    if (length > this.#places.length) yield* this.#rehash(length)
  }

  /** The place of the value in the hash table, or the free place for it. */
  #offsetOf(source: Uint8Array, start: number, end: number, hashed: number): number {
    const places = this.#places
    const tags = this.#tags
    const mask = places.length - 1
    const tag = hashed >>> 24
    let place = hashed & mask
    for (let code = places[place] as number; code !== 0; code = places[place] as number) {
      if (tags[place] === tag && this.#isValue(code, source, start, end)) return place
      place = (place + 1) & mask
    }
    return place
  }

  #isValue(code: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this
    const at = this.offsets[code] as number
    if ((this.offsets[code + 1] as number) - at !== end - start) return false
    for (let index = start; index < end; index += 1) if (bytes[at + index - start] !== source[index]) return false
    return true
  }

  *#rehash(length: number): Task<void> {
    const places = new Int32Array(length)
    const tags = new Uint8Array(length)
    const mask = length - 1
    for (let code = 1; code < this.size; code += 1) {
      if (code % VALUES_PER_STEP_COUNT === 0) yield
      const hashed = mix(this.bytes, this.offsets[code] as number, this.offsets[code + 1] as number, HASH_SEED)
      let place = hashed & mask
      while (places[place] !== 0) place = (place + 1) & mask
      places[place] = code
      tags[place] = hashed >>> 24
    }
    this.#places = places
    this.#tags = tags
  }
}

/** FNV-1a over four bytes at a time, mixed once more because probing uses the low bits only. */
function mix(source: Uint8Array, start: number, end: number, seed: number): number {
  let mixed = seed ^ (end - start)
  let index = start
  for (; index + 3 < end; index += 4) {
    const low = (source[index] as number) | ((source[index + 1] as number) << 8)
    const word = low | ((source[index + 2] as number) << 16) | ((source[index + 3] as number) << 24)
    mixed = Math.imul(mixed ^ word, 0x85ebca6b)
    mixed ^= mixed >>> 13
  }
  for (; index < end; index += 1) mixed = Math.imul(mixed ^ (source[index] as number), 0x01000193)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}

/** Assigns a code to every distinct text, starting at 1; 0 means no text. */
export class TextDictionary {
  readonly entries = new ByteDictionary()
  readonly #encoded = new CodePointBytes()

  /** One more than the highest code. */
  get size(): number {
    return this.entries.size
  }

  /** The code of a text, which is added when it is new. */
  intern(text: string): number {
    const { bytes, length } = this.#encoded.set(text)
    return this.entries.intern(bytes, 0, length)
  }

  /** The code of a text, 0 for an unknown one. */
  codeOf(text: string): number {
    const { bytes, length } = this.#encoded.set(text)
    return this.entries.find(bytes, 0, length)
  }

  /** See `CodedTexts`. */
  mixOf(code: number, seed: number): number {
    const { bytes, offsets } = this.entries
    return mix(bytes, offsets[code] as number, offsets[code + 1] as number, seed)
  }

  textOf(code: number): string {
    const { bytes, offsets } = this.entries
    return textOfBytes(bytes, offsets[code] as number, offsets[code + 1] as number)
  }
}
