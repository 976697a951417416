import type { Bitmap } from './bitmap.ts'
import type { CodeSet } from './code-set.ts'
import type { Column } from './column.ts'

/** The slots in `mask` whose code is in the set, or is not in it where `negative`. */
export function slotsWithCodes(column: Column, codes: CodeSet, negative: boolean, mask: Bitmap): Bitmap {
  const only = codes.onlyCode()
  if (only === 0) return negative ? mask.slice() : new Int32Array(mask.length)
  if (only !== undefined) return slotsWithCode(column, only, negative, mask)
  return slotsReferringTo(column, codes.asBitmap(column.values.size), negative, mask)
}

/** The slots in `mask` that have this very code, or do not where `negative`. Code 0: those without a value. */
export function slotsWithCode(column: Column, code: number, negative: boolean, mask: Bitmap): Bitmap {
  const found = new Int32Array(mask.length)
  const codes = column.codes(mask.length * 32)
  const flip = negative ? -1 : 0
  for (let index = 0; index < mask.length; index += 1) {
    const wanted = mask[index] as number
    if (wanted === 0) continue
    const base = index << 5
    let word = 0
    for (let bit = 0; bit < 32; bit += 1) {
      // The sign of `x | -x` is set unless x is 0. Without a branch, as nobody could predict it.
      const difference = (codes[base + bit] as number) ^ code
      word |= (((difference | -difference) >>> 31) ^ 1) << bit
    }
    found[index] = (word ^ flip) & wanted
  }
  return found
}

/** The slots in `mask` whose code is in a bitmap over codes, or is not where `negative`. */
export function slotsReferringTo(column: Column, targets: Bitmap, negative: boolean, mask: Bitmap): Bitmap {
  const found = new Int32Array(mask.length)
  const codes = column.codes(mask.length * 32)
  const flip = negative ? -1 : 0
  for (let index = 0; index < mask.length; index += 1) {
    const wanted = mask[index] as number
    if (wanted === 0) continue
    const base = index << 5
    let word = 0
    for (let bit = 0; bit < 32; bit += 1) {
      const code = codes[base + bit] as number
      // A shift looks at the low five bits of its distance only: `>>> code` is `>>> (code & 31)`.
      word |= (((targets[code >>> 5] as number) >>> code) & 1) << bit
    }
    found[index] = (word ^ flip) & wanted
  }
  return found
}

/** Adds to `targets` what the slots of a set refer to. */
export function addReferences(column: Column, slots: Bitmap, targets: Bitmap): void {
  const codes = column.codes(slots.length * 32)
  for (let index = 0; index < slots.length; index += 1) {
    for (let word = slots[index] as number; word !== 0; word &= word - 1) {
      const code = codes[(index << 5) + 31 - Math.clz32(word & -word)] as number
      targets[code >>> 5] = (targets[code >>> 5] as number) | (1 << code)
    }
  }
}

/** The slots of a set, ascending. */
export function* slotsIn(slots: Bitmap): Generator<number, void> {
  for (let index = 0; index < slots.length; index += 1) {
    for (let word = slots[index] as number; word !== 0; word &= word - 1) {
      yield (index << 5) + 31 - Math.clz32(word & -word)
    }
  }
}
