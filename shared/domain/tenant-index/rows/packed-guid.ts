import type { Task } from '../../../kernel/cooperative-scheduler.ts'

/** 32-bit words of a packed GUID. */
export const WORDS_PER_GUID = 4

const GUID_LENGTH = 36
const DASH = 0x2d
/** The indexes of the 32 digits in the text of a GUID. */
const DIGIT_PLACES = Uint8Array.from({ length: GUID_LENGTH }, (_, place) => place).filter(
  (place) => place !== 8 && place !== 13 && place !== 18 && place !== 23,
)
/** The value of a hexadecimal digit by character code; 16 for other characters. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, character) => {
  const value = Number.parseInt(String.fromCharCode(character), 16)
  return Number.isNaN(value) ? 16 : value
})
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Packs a GUID into words that sort as its lower-case text. Returns false for other texts. */
export function packGuid(text: string, words: Uint32Array): boolean {
  if (text.length !== GUID_LENGTH) return false
  for (const place of [8, 13, 18, 23]) if (text.charCodeAt(place) !== DASH) return false
  for (let word = 0; word < WORDS_PER_GUID; word += 1) {
    let packed = 0
    for (let digit = word * 8; digit < word * 8 + 8; digit += 1) {
      const value = DIGIT_VALUES[text.charCodeAt(DIGIT_PLACES[digit] as number)] ?? 16
      if (value === 16) return false
      packed = (packed << 4) | value
    }
    words[word] = packed
  }
  return true
}

const characters: number[] = new Array(GUID_LENGTH).fill(DASH)

/** The GUID packed in the words from index `at` on, in lower case. */
export function unpackGuid(words: Uint32Array, at: number): string {
  for (let digit = 0; digit < 32; digit += 1) {
    const value = ((words[at + (digit >>> 3)] as number) >>> (28 - ((digit & 7) << 2))) & 0xf
    characters[DIGIT_PLACES[digit] as number] = DIGITS[value] as number
  }
  return String.fromCharCode.apply(null, characters)
}

/** Access to packed ids by code. Read again after each step of a task, because the buffer may have been replaced. */
export type PackedIds = {
  /** One of the four words of a code's id; word 0 is the most significant. */
  wordOf(code: number, word: number): number
  compare(left: number, right: number): number
}

/** Fewer codes are sorted by comparison, in one step. */
const FEW_COUNT = 1024
/** Codes moved in one step of the task. */
const CODES_PER_STEP_COUNT = 16_384
/** Bits of a radix digit: three digits make a word, and the counts of one digit fit in the first-level cache. */
const DIGIT_BITS = 11
const DIGIT_SHIFTS = [0, DIGIT_BITS, 2 * DIGIT_BITS]
const DIGIT_MASK = (1 << DIGIT_BITS) - 1

/**
 * Sorts distinct codes by their ids, in place. A radix sort by the first word takes time in proportion to the number of
 * codes. Ids with the same first word are then sorted by the next one.
 */
export function* sortByIds(codes: Uint32Array, ids: PackedIds, word = 0): Task<void> {
  yield
  if (codes.length <= FEW_COUNT || word === WORDS_PER_GUID) {
    codes.sort((left, right) => ids.compare(left, right))
    return
  }
  const keys = new Uint32Array(codes.length)
  for (const [from, to] of pieces(codes.length)) {
    for (let index = from; index < to; index += 1) keys[index] = ids.wordOf(codes[index] as number, word)
    yield
  }
  yield* sortByKeys(codes, keys)
  for (const [from, to] of runsOfEqual(keys)) yield* sortByIds(codes.subarray(from, to), ids, word + 1)
}

/** Sorts the keys, and the codes with them. */
function* sortByKeys(codes: Uint32Array, keys: Uint32Array): Task<void> {
  const [movedCodes, movedKeys] = [new Uint32Array(codes.length), new Uint32Array(codes.length)]
  for (const shift of DIGIT_SHIFTS) {
    const places = yield* placesByDigit(keys, shift)
    for (const [from, to] of pieces(codes.length)) {
      for (let index = from; index < to; index += 1) {
        const key = keys[index] as number
        const digit = (key >>> shift) & DIGIT_MASK
        const place = places[digit] as number
        places[digit] = place + 1
        movedKeys[place] = key
        movedCodes[place] = codes[index] as number
      }
      yield
    }
    codes.set(movedCodes)
    keys.set(movedKeys)
    yield
  }
}

/** The first target index for each value of a digit. */
function* placesByDigit(keys: Uint32Array, shift: number): Task<Uint32Array> {
  const places = new Uint32Array(DIGIT_MASK + 1)
  for (const [from, to] of pieces(keys.length)) {
    for (let index = from; index < to; index += 1) {
      const digit = ((keys[index] as number) >>> shift) & DIGIT_MASK
      places[digit] = (places[digit] as number) + 1
    }
    yield
  }
  let before = 0
  for (let digit = 0; digit < places.length; digit += 1) {
    const count = places[digit] as number
    places[digit] = before
    before += count
  }
  return places
}

/** Consecutive ranges that cover `count` elements. */
export function* pieces(count: number): Generator<readonly [from: number, to: number]> {
  for (let from = 0; from < count; from += CODES_PER_STEP_COUNT) {
    yield [from, Math.min(from + CODES_PER_STEP_COUNT, count)]
  }
}

/** Ranges of two or more equal keys. */
function* runsOfEqual(keys: Uint32Array): Generator<readonly [from: number, to: number]> {
  let from = 0
  for (let index = 1; index <= keys.length; index += 1) {
    if (index < keys.length && keys[index] === keys[from]) continue
    if (index - from > 1) yield [from, index]
    from = index
  }
}
