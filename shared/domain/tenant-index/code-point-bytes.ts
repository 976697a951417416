import { grownUint8 } from './growable-array.ts'

/**
 * Text as bytes: UTF-8, in which the order of bytes is the order of code points, widened so that a surrogate without its
 * other half keeps its own three bytes. So no two texts share their bytes, and every text comes back as it went in.
 */
export class CodePointBytes {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(128)
  length = 0

  /** The bytes themselves, with room for so many, to be written over. */
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

  /** Replaces the contents by UTF-16 of the first plane. */
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

/** Writes the text of some bytes as UTF-16 and answers its length; -1 for one beyond the first plane. */
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

/** The text of some bytes that `CodePointBytes` made. */
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

/** Whether the text is ASCII alone: then bytes, code points and letters are the same. */
export function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if ((bytes[at] as number) >= 0x80) return false
  return true
}

/** Negative, zero or positive as the left text comes before, is, or comes after the right one. */
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

/** Well below what engines take as arguments of one call. */
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
