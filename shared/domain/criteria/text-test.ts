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

/** Tests what the functions make of a text. ASCII, as most texts are, is changed in place without becoming a string. */
function afterFunctions(functions: readonly FieldFunction[], test: TextTest): TextTest {
  const result = new CodePointBytes()
  return (bytes, start, end) => {
    if (!isAscii(bytes, start, end)) {
      const { bytes: changed, length } = result.set(functions.reduce(applied, textOfBytes(bytes, start, end)))
      return test(changed, 0, length)
    }
    if (result.bytes.length < end - start) result.set(' '.repeat(end - start))
    const copy = result.bytes
    for (let at = start; at < end; at += 1) copy[at - start] = bytes[at] as number
    let from = 0
    let to = end - start
    for (const call of functions) {
      if (call.name === 'Substring') {
        from = Math.min(from + call.start, to)
        to = Math.min(from + call.length, to)
      } else if (call.name === 'ToUpper') shiftLetters(copy, from, to, 0x61, -0x20)
      else if (call.name === 'ToLower') shiftLetters(copy, from, to, 0x41, 0x20)
    }
    return test(copy, from, to)
  }
}

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

function shiftLetters(bytes: Uint8Array, from: number, to: number, firstLetter: number, by: number): void {
  for (let at = from; at < to; at += 1) {
    const letter = bytes[at] as number
    if (letter >= firstLetter && letter < firstLetter + 26) bytes[at] = letter + by
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
