import { CodePointBytes, compareBytes, isAscii, textOfBytes } from './code-point-bytes.ts'
import type { CheckedLeaf, FieldFunction } from './condition.ts'
import { TextDictionary } from './text-dictionary.ts'

/** Whether a text, as bytes of `CodePointBytes`, satisfies a leaf. */
export type TextTest = (bytes: Uint8Array, start: number, end: number) => boolean

/** The test of a String leaf on a text that is there. Negative operators are tested as their opposites. */
export function textTest(leaf: CheckedLeaf): TextTest {
  const compare = comparison(leaf)
  return leaf.functions.length === 0 ? compare : afterFunctions(leaf.functions, compare)
}

function comparison({ operator, values }: CheckedLeaf): TextTest {
  const operand = new CodePointBytes().set(String(values[0] ?? ''))
  const { bytes: wanted, length } = operand
  switch (operator) {
    case 'Contains':
    case 'NotContains':
      return (bytes, start, end) => indexOf(bytes, start, end, wanted, length) !== -1
    case 'StartsWith':
      return (bytes, start, end) => end - start >= length && isAt(bytes, start, wanted, length)
    case 'EndsWith':
      return (bytes, start, end) => end - start >= length && isAt(bytes, end - length, wanted, length)
    case 'GreaterThan':
      return (bytes, start, end) => compareBytes(bytes, start, end, wanted, 0, length) > 0
    case 'GreaterThanOrEqual':
      return (bytes, start, end) => compareBytes(bytes, start, end, wanted, 0, length) >= 0
    case 'LessThan':
      return (bytes, start, end) => compareBytes(bytes, start, end, wanted, 0, length) < 0
    case 'LessThanOrEqual':
      return (bytes, start, end) => compareBytes(bytes, start, end, wanted, 0, length) <= 0
    default: {
      const among = new TextDictionary()
      for (const value of values) among.intern(String(value))
      return (bytes, start, end) => among.entries.find(bytes, start, end) !== 0
    }
  }
}

/** Tests what the functions make of a text. ASCII, as most texts are, is changed in one pass without becoming a string. */
function afterFunctions(functions: readonly FieldFunction[], test: TextTest): TextTest {
  const result = new CodePointBytes()
  const { skipped, length, letters } = onAscii(functions)
  return (bytes, start, end) => {
    const to = Math.min(end, start + skipped + length)
    const from = Math.min(start + skipped, to)
    if (!isAscii(bytes, start, to)) {
      const { bytes: changed, length: changedLength } = result.set(
        functions.reduce(applied, textOfBytes(bytes, start, end)),
      )
      return test(changed, 0, changedLength)
    }
    if (letters === undefined) return test(bytes, from, to)
    if (result.bytes.length < to - from) result.set(' '.repeat(to - from))
    const copy = result.bytes
    for (let at = from; at < to; at += 1) copy[at - from] = letters[bytes[at] as number] as number
    return test(copy, 0, to - from)
  }
}

/**
 * What a chain of functions comes to where letters, code points and bytes are the same: one part of the text, in the
 * case that was asked for last.
 */
function onAscii(functions: readonly FieldFunction[]): {
  readonly skipped: number
  readonly length: number
  readonly letters: Uint8Array | undefined
} {
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

function applied(text: string, call: FieldFunction): string {
  switch (call.name) {
    case 'Substring':
      return [...text].slice(call.start, call.start + call.length).join('')
    case 'ToUpper':
      return text.toUpperCase()
    case 'ToLower':
      return text.toLowerCase()
    default:
      return text
  }
}

function indexOf(bytes: Uint8Array, start: number, end: number, wanted: Uint8Array, length: number): number {
  if (length === 0) return start
  const first = wanted[0] as number
  for (let at = start; at <= end - length; at += 1)
    if (bytes[at] === first && isAt(bytes, at, wanted, length)) return at
  return -1
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== wanted[index]) return false
  return true
}
