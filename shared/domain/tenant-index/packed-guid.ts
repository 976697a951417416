/** Words of 32 bits that a GUID is packed into. */
export const WORDS_PER_GUID = 4

const GUID_LENGTH = 36
const DASH = 0x2d
/** The places of the 32 digits within the text of a GUID. */
const DIGIT_PLACES = Uint8Array.from({ length: GUID_LENGTH }, (_, place) => place).filter(
  (place) => place !== 8 && place !== 13 && place !== 18 && place !== 23,
)
/** What a character stands for as a digit, in either case; 16 for what is none. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, character) => {
  const value = Number.parseInt(String.fromCharCode(character), 16)
  return Number.isNaN(value) ? 16 : value
})
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Packs a GUID, whose words then order as its text in lower case does. False for any other text. */
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

/** The GUID packed into the words from `at` on, in lower case. */
export function unpackGuid(words: Uint32Array, at: number): string {
  for (let digit = 0; digit < 32; digit += 1) {
    const value = ((words[at + (digit >>> 3)] as number) >>> (28 - ((digit & 7) << 2))) & 0xf
    characters[DIGIT_PLACES[digit] as number] = DIGITS[value] as number
  }
  return String.fromCharCode.apply(null, characters)
}
