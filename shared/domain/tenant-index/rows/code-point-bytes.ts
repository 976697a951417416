import { grownUint8 } from './growable-array.ts'

/**
 * Text as bytes in WTF-8: UTF-8 that also encodes unpaired surrogates. The order of bytes is the order of code points,
 * different texts have different bytes, and every text is decoded unchanged.
 */
export class CodePointBytes {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(128)
  length = 0

  /** The buffer with room for `length` bytes, for the caller to overwrite. */
  withRoom(length: number): Uint8Array<ArrayBuffer> {
    this.bytes = grownUint8(this.bytes, length)
    return this.bytes
  }

  /** Replaces the contents. */
  set(text: string): this {
    const bytes = this.withRoom(text.length * 3)
    let at = 0
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index)
      if (unit < 0x80) {
        bytes[at++] = unit
        continue
      }
      const codePoint = text.codePointAt(index) as number
      if (codePoint > 0xffff) index += 1
      at = putCodePoint(bytes, at, codePoint)
    }
    this.length = at
    return this
  }

  /** Replaces the contents by UTF-16 units of the Basic Multilingual Plane. */
  setUnits(units: Uint16Array, start: number, end: number): this {
    const bytes = this.withRoom((end - start) * 3)
    let at = 0
    for (let index = start; index < end; index += 1) {
      const unit = units[index] as number
      if (unit < 0x80) bytes[at++] = unit
      else at = putCodePoint(bytes, at, unit)
    }
    this.length = at
    return this
  }
}

/** Decodes bytes to UTF-16 units and returns their number; -1 for text beyond the Basic Multilingual Plane. */
export function unitsOfBytes(bytes: Uint8Array, start: number, end: number, units: Uint16Array): number {
  let length = 0
  for (let at = start; at < end; ) {
    const first = bytes[at] as number
    if (first < 0x80) {
      units[length++] = first
      at += 1
    } else if (first < 0xe0) {
      units[length++] = ((first & 0x1f) << 6) | ((bytes[at + 1] as number) & 0x3f)
      at += 2
    } else if (first < 0xf0) {
      units[length++] =
        ((first & 0x0f) << 12) | (((bytes[at + 1] as number) & 0x3f) << 6) | ((bytes[at + 2] as number) & 0x3f)
      at += 3
    } else return -1
  }
  return length
}

/** Decodes bytes of `CodePointBytes`. */
export function textOfBytes(bytes: Uint8Array, start: number, end: number): string {
  const units: number[] = []
  for (let at = start; at < end; ) {
    const first = bytes[at] as number
    if (first < 0x80) {
      units.push(first)
      at += 1
      continue
    }
    const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    let codePoint = first & (0x7f >> length)
    for (let next = 1; next < length; next += 1) codePoint = (codePoint << 6) | ((bytes[at + next] as number) & 0x3f)
    at += length
    if (codePoint > 0xffff) units.push(0xd7c0 + (codePoint >> 10), 0xdc00 | (codePoint & 0x3ff))
    else units.push(codePoint)
  }
  if (units.length <= MAX_ARGUMENT_COUNT) return String.fromCharCode.apply(null, units)
  let text = ''
  for (let at = 0; at < units.length; at += MAX_ARGUMENT_COUNT) {
    text += String.fromCharCode.apply(null, units.slice(at, at + MAX_ARGUMENT_COUNT))
  }
  return text
}

/** Whether the text is ASCII only: then one byte is one code point and one letter. */
export function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if ((bytes[at] as number) >= 0x80) return false
  return true
}

/** Negative, zero or positive: the left text sorts before, equals or sorts after the right one. */
export function compareBytes(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): number {
  const length = Math.min(leftEnd - leftStart, rightEnd - rightStart)
  for (let index = 0; index < length; index += 1) {
    const difference = (left[leftStart + index] as number) - (right[rightStart + index] as number)
    if (difference !== 0) return difference
  }
  return leftEnd - leftStart - (rightEnd - rightStart)
}

/** Well below the number of arguments that engines allow in a call. */
const MAX_ARGUMENT_COUNT = 4096

function putCodePoint(bytes: Uint8Array, at: number, codePoint: number): number {
  let next = at
  if (codePoint < 0x800) bytes[next++] = 0xc0 | (codePoint >> 6)
  else {
    if (codePoint < 0x10000) bytes[next++] = 0xe0 | (codePoint >> 12)
    else {
      bytes[next++] = 0xf0 | (codePoint >> 18)
      bytes[next++] = 0x80 | ((codePoint >> 12) & 0x3f)
    }
    bytes[next++] = 0x80 | ((codePoint >> 6) & 0x3f)
  }
  bytes[next++] = 0x80 | (codePoint & 0x3f)
  return next
}
