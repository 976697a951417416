import { runToCompletion, type Task } from '../../../kernel/cooperative-scheduler.ts'
import { grownUint32, hasFreePlaces } from './growable-array.ts'
import { type PackedIds, packGuid, sortByIds, unpackGuid, WORDS_PER_GUID } from './packed-guid.ts'

/** Ids placed in one step of the task. */
const IDS_PER_STEP_COUNT = 4096
/** The approximate memory of an id that is not a GUID. */
const BYTES_PER_OTHER = 200

/**
 * Assigns a code to every distinct id, starting at 1; 0 means no id. A GUID takes sixteen bytes and a place in the hash
 * table. Other ids are kept as strings.
 */
export class GuidDictionary implements PackedIds {
  /** One more than the highest code. */
  size = 1
  #words: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  /** Hash table with open addressing and linear probing; 0 marks a free place. The length is a power of two. */
  #places = new Int32Array(16)
  readonly #others = new Map<string, number>()
  readonly #otherTexts = new Map<number, string>()
  readonly #sought = new Uint32Array(WORDS_PER_GUID)

  /** The code of an id, which is added when it is new. Ignores case. */
  intern(id: string): number {
    if (!packGuid(id, this.#sought)) return this.#internOther(id.toLowerCase())
    const place = this.#offsetOf(this.#sought, 0)
    const known = this.#places[place] as number
    if (known !== 0) return known
    const code = this.size
    this.size += 1
    this.#words = grownUint32(this.#words, this.size * WORDS_PER_GUID)
    this.#words.set(this.#sought, code * WORDS_PER_GUID)
    this.#places[place] = code
    if (!hasFreePlaces(this.size, this.#places)) runToCompletion(this.#rehash(this.#places.length * 2))
    return code
  }

  get sizeBytes(): number {
    return this.#words.byteLength + this.#places.byteLength + this.#others.size * BYTES_PER_OTHER
  }

  /** Makes room for more ids. Without it, adding one id can take as long as adding them all again. */
  *reserve(addedCount: number): Task<void> {
    let length = this.#places.length
    while (!hasFreePlaces(this.size + addedCount, { length })) length *= 2
    if (length > this.#places.length) yield* this.#rehash(length)
  }

  /** The code of an id, 0 for an unknown one. Ignores case. */
  codeOf(id: string): number {
    if (!packGuid(id, this.#sought)) return this.#others.get(id.toLowerCase()) ?? 0
    return this.#places[this.#offsetOf(this.#sought, 0)] as number
  }

  textOf(code: number): string {
    return this.#otherTexts.get(code) ?? unpackGuid(this.#words, code * WORDS_PER_GUID)
  }

  /** 32 bits that depend on the id and the seed, and not on its code. */
  mixOf(code: number, seed: number): number {
    const other = this.#otherTexts.size === 0 ? undefined : this.#otherTexts.get(code)
    if (other !== undefined) return mixedText(other, seed)
    let mixed = seed
    for (let word = 0; word < WORDS_PER_GUID; word += 1) {
      mixed = Math.imul(mixed ^ (this.#words[code * WORDS_PER_GUID + word] as number), 0x85ebca6b)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35)
      mixed ^= mixed >>> 13
    }
    return mixed
  }

  wordOf(code: number, word: number): number {
    return this.#words[code * WORDS_PER_GUID + word] as number
  }

  /** Sorts distinct codes by their texts, in place. Ids may be added between the steps of the task. */
  *sort(codes: Uint32Array): Task<void> {
    if (this.#others.size === 0) yield* sortByIds(codes, this)
    else codes.sort((left, right) => this.compare(left, right))
  }

  /**
   * Negative, zero or positive: the text of the left code sorts before, equals or sorts after that of the right one.
   */
  compare(left: number, right: number): number {
    if (this.#others.size > 0) return this.#compareTexts(left, right)
    const words = this.#words
    for (let word = 0; word < WORDS_PER_GUID; word += 1) {
      const difference =
        (words[left * WORDS_PER_GUID + word] as number) - (words[right * WORDS_PER_GUID + word] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  #compareTexts(left: number, right: number): number {
    const [leftText, rightText] = [this.textOf(left), this.textOf(right)]
    return leftText < rightText ? -1 : Number(leftText > rightText)
  }

  #internOther(text: string): number {
    const known = this.#others.get(text)
    if (known !== undefined) return known
    const code = this.size
    this.size += 1
    this.#words = grownUint32(this.#words, this.size * WORDS_PER_GUID)
    this.#others.set(text, code)
    this.#otherTexts.set(code, text)
    return code
  }

  /** The place of the GUID in the hash table, or the free place for it. */
  #offsetOf(source: Uint32Array, at: number): number {
    const places = this.#places
    const words = this.#words
    const mask = places.length - 1
    let place = hash(source, at) & mask
    for (let code = places[place] as number; code !== 0; code = places[place] as number) {
      const stored = code * WORDS_PER_GUID
      if (
        words[stored] === source[at] &&
        words[stored + 1] === source[at + 1] &&
        words[stored + 2] === source[at + 2] &&
        words[stored + 3] === source[at + 3]
      )
        return place
      place = (place + 1) & mask
    }
    return place
  }

  *#rehash(length: number): Task<void> {
    const places = new Int32Array(length)
    const mask = length - 1
    for (let code = 1; code < this.size; code += 1) {
      if (code % IDS_PER_STEP_COUNT === 0) yield
      if (this.#otherTexts.has(code)) continue
      let place = hash(this.#words, code * WORDS_PER_GUID) & mask
      while (places[place] !== 0) place = (place + 1) & mask
      places[place] = code
    }
    this.#places = places
  }
}

/** Mixes the words: most GUIDs are random, some are consecutive numbers. */
function hash(words: Uint32Array, at: number): number {
  let mixed = Math.imul(words[at] as number, 0x9e3779b1) ^ (words[at + 1] as number)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) ^ (words[at + 2] as number)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) ^ (words[at + 3] as number)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}

function mixedText(text: string, seed: number): number {
  let mixed = seed
  for (let index = 0; index < text.length; index += 1) {
    mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x85ebca6b)
    mixed ^= mixed >>> 15
  }
  return mixed
}
