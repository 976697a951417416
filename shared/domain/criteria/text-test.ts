import { CodePointBytes, compareBytes } from '../tenant-index/rows/code-point-bytes.ts'
import { TextDictionary } from '../tenant-index/rows/text-dictionary.ts'
import type { CheckedLeaf } from './condition.ts'

/** Whether a text, as bytes of `CodePointBytes`, satisfies the operator and values of a leaf. */
export type TextTest = (bytes: Uint8Array, start: number, end: number) => boolean

/** The test of a String leaf on an existing text. Negative operators are tested as their opposites. */
export function textTest({ operator, values }: CheckedLeaf): TextTest {
  const operand = new CodePointBytes().set(String(values[0] ?? ''))
  const { bytes: wanted, length } = operand
  switch (operator) {
    case 'Contains':
    case 'NotContains':
      return containsTest(wanted.subarray(0, length))
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

/** Knuth–Morris–Pratt search: linear time, so that no combination of text and operand can block the thread. */
function containsTest(wanted: Uint8Array): TextTest {
  const borders = bordersOf(wanted)
  const { length } = wanted
  const first = wanted[0]
  return (bytes, start, end) => {
    let matched = 0
    for (let at = start; at - matched <= end - length && matched < length; at += 1) {
      const byte = bytes[at]
      if (matched === 0) {
        if (byte === first) matched = 1
        continue
      }
      while (matched > 0 && byte !== wanted[matched]) matched = borders[matched - 1] as number
      if (byte === wanted[matched]) matched += 1
    }
    return matched === length
  }
}

/** For each prefix of the bytes, the length of its longest proper prefix that is also a suffix. */
function bordersOf(bytes: Uint8Array): Int32Array {
  const borders = new Int32Array(bytes.length)
  let length = 0
  for (let at = 1; at < bytes.length; at += 1) {
    while (length > 0 && bytes[at] !== bytes[length]) length = borders[length - 1] as number
    if (bytes[at] === bytes[length]) length += 1
    borders[at] = length
  }
  return borders
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array, length: number): boolean {
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== wanted[index]) return false
  return true
}
