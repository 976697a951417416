import { CodePointBytes, isAscii, textOfBytes, unitsOfBytes } from '../tenant-index/rows/code-point-bytes.ts'
import type { FieldFunction } from './condition.ts'

/**
 * A chain of functions, innermost first, applied to texts as bytes of `CodePointBytes`. The result of the latest
 * application is `bytes` from `start` to `end`.
 */
export class TextFunctions {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  start = 0
  end = 0
  readonly #functions: readonly FieldFunction[]
  readonly #onAscii: OnAscii
  readonly #changed = new CodePointBytes()
  #units = new Uint16Array(64)

  constructor(functions: readonly FieldFunction[]) {
    this.#functions = simplified(functions)
    this.#onAscii = onAscii(this.#functions)
  }

  /** Applies the functions to a text. ASCII, the usual case, is converted in one pass without creating a string. */
  apply(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): void {
    const { skipped, length, letters } = this.#onAscii
    const to = Math.min(end, start + skipped + length)
    const from = Math.min(start + skipped, to)
    // A mark behind the cut composes with the letter before it once that is in the other case.
    const readTo = letters === undefined ? to : Math.min(to + 1, end)
    if (!isAscii(bytes, start, readTo)) {
      const changed = this.#changedUnits(bytes, start, end)
        ? this.#changed
        : this.#changed.set(this.#functions.reduce(applied, textOfBytes(bytes, start, end)))
      this.#result(changed.bytes, 0, changed.length)
    } else if (letters === undefined) this.#result(bytes, from, to)
    else {
      const copy = this.#changed.withRoom(to - from)
      for (let at = from; at < to; at += 1) copy[at - from] = letters[bytes[at] as number] as number
      this.#result(copy, 0, to - from)
    }
  }

  /** Converts unit by unit without creating strings. Returns false when the result depends on neighbouring units. */
  #changedUnits(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#units.length < end - start) this.#units = new Uint16Array(end - start)
    const units = this.#units
    let from = 0
    let to = unitsOfBytes(bytes, start, end, units)
    if (to === -1) return false
    for (const call of this.#functions) {
      if (call.name === 'Substring') {
        from = Math.min(from + call.start, to)
        to = Math.min(from + call.length, to)
        continue
      }
      const letters = call.name === 'ToUpper' ? upperCase() : lowerCase()
      for (let at = from; at < to; at += 1) {
        const unit = letters[units[at] as number] as number
        if (unit === DEPENDS) return false
        units[at] = unit
      }
    }
    this.#changed.setUnits(units, from, to)
    return true
  }

  #result(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): void {
    this.bytes = bytes
    this.start = start
    this.end = end
  }
}

/** Merges nested substrings and repeated case conversions. */
function simplified(functions: readonly FieldFunction[]): FieldFunction[] {
  const calls: FieldFunction[] = []
  for (const call of functions) {
    const inner = calls.at(-1)
    if (inner?.name === 'Substring' && call.name === 'Substring') {
      const length = Math.max(0, Math.min(call.length, inner.length - call.start))
      calls[calls.length - 1] = { name: 'Substring', start: inner.start + call.start, length }
    } else if (inner?.name !== call.name || call.name === 'AddDays') calls.push(call)
  }
  return calls
}

type OnAscii = { readonly skipped: number; readonly length: number; readonly letters: Uint8Array | undefined }

/** The effect of a chain of functions on ASCII: one part of the text, in the case of the last conversion. */
function onAscii(functions: readonly FieldFunction[]): OnAscii {
  let skipped = 0
  let length = Number.POSITIVE_INFINITY
  let letters: Uint8Array | undefined
  for (const call of functions) {
    if (call.name === 'Substring') {
      skipped += call.start
      length = Math.max(0, Math.min(call.length, length - call.start))
    } else if (call.name === 'ToUpper') letters = UPPER
    else if (call.name === 'ToLower') letters = LOWER
  }
  return { skipped, length, letters }
}

const UPPER = Uint8Array.from({ length: 128 }, (_, byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte))
const LOWER = Uint8Array.from({ length: 128 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))

const SURROGATE = /[\ud800-\udfff]/

function applied(text: string, call: FieldFunction): string {
  switch (call.name) {
    case 'Substring': {
      const end = call.start + call.length
      // Without surrogates, every code point is one unit.
      return SURROGATE.test(text) ? [...text].slice(call.start, end).join('') : text.slice(call.start, end)
    }
    case 'ToUpper':
      return upperCaseOf(text)
    case 'ToLower':
      return lowerCaseOf(text)
    default:
      return text
  }
}

/** Composed, as the values are that it is compared with: the upper case of ΐ is a sequence of a letter and marks. */
const upperCaseOf = (text: string): string => text.toUpperCase().normalize('NFC')
const lowerCaseOf = (text: string): string => text.toLowerCase().normalize('NFC')

/**
 * The converted case of each UTF-16 unit that converts on its own. `DEPENDS` marks the others: letters that become
 * several (ß), letters that depend on their neighbours (Σ), marks, which compose with the letter before them, and
 * surrogates.
 */
type LetterCase = Uint16Array

const MARK = /\p{M}/u

/** Not a valid result of a conversion. */
const DEPENDS = 0xffff

let upper: LetterCase | undefined
let lower: LetterCase | undefined

/** Computed at the first call, which takes some milliseconds. */
function upperCase(): LetterCase {
  upper ??= tableOf(upperCaseOf)
  return upper
}

/** Computed at the first call, which takes some milliseconds. */
function lowerCase(): LetterCase {
  lower ??= tableOf(lowerCaseOf)
  lower[FINAL_SIGMA_CAPITAL] = DEPENDS
  return lower
}

/** Its lower case differs at the end of a word; it is the only such letter. Unicode, SpecialCasing, "Final_Sigma". */
const FINAL_SIGMA_CAPITAL = 0x3a3

function tableOf(inCase: (text: string) => string): LetterCase {
  return Uint16Array.from({ length: 0x10000 }, (_, unit) => {
    if (unit >= 0xd800 && unit <= 0xdfff) return DEPENDS
    const letter = String.fromCharCode(unit)
    if (MARK.test(letter)) return DEPENDS
    const changed = inCase(letter)
    return changed.length === 1 ? changed.charCodeAt(0) : DEPENDS
  })
}
