import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { schemaName } from '../../core/attribute-names.ts'
import type { ObjectType } from '../../core/core-object.ts'
import { type Bitmap, bitCount, type CodeSet, hasBit } from './bitmap.ts'
import type { ColumnValues } from './column-values.ts'
import { ForkableInt32 } from './growable-array.ts'

/** One attribute of all objects of a type: a code by slot, 0 where the object has no value. */
export class Column {
  readonly objectType: ObjectType
  readonly attribute: string
  /** The schema name of the attribute. */
  readonly name: string
  readonly values: ColumnValues
  /** The number of objects with a value. A column without values takes no memory. */
  valueCount = 0
  #codes = new ForkableInt32(0)

  constructor(objectType: ObjectType, attribute: string, values: ColumnValues) {
    this.objectType = objectType
    this.attribute = attribute
    this.name = schemaName(objectType, attribute)
    this.values = values
  }

  codeAt(slot: number): number {
    return this.#codes.values[slot] ?? 0
  }

  get sizeBytes(): number {
    return this.#codes.sizeBytes + this.values.sizeBytes
  }

  /** Makes room for objects up to `slotCount`, `addedCount` of them new, without copying much at once later. */
  *reserve(slotCount: number, addedCount: number): Task<void> {
    if (this.valueCount === 0) return
    if (!this.#codes.isShared) this.#codes.writable(slotCount)
    yield* this.values.reserve(addedCount)
  }

  /** Copies the codes that a fork shares with its origin, which the next write would do. */
  unshare(): void {
    if (this.#codes.isShared) this.#codes.writable(0)
  }

  /** The codes by slot, at least `slotCount` of them. Valid until the next change. */
  codes(slotCount: number): Int32Array {
    return this.#codes.withRoom(slotCount)
  }

  /** @returns Whether the code changed. */
  setCode(slot: number, code: number): boolean {
    const before = this.codeAt(slot)
    if (before === code) return false
    this.#codes.writable(slot + 1)[slot] = code
    this.valueCount += (code === 0 ? 0 : 1) - (before === 0 ? 0 : 1)
    return true
  }

  /** An independent copy that shares the distinct values. */
  forked(): Column {
    const fork = new Column(this.objectType, this.attribute, this.values)
    fork.valueCount = this.valueCount
    fork.#codes = this.#codes.forked()
    return fork
  }
}

/** The value with a code, as it is stored. */
export function storedValue({ values, name }: Column, code: number): string | readonly string[] {
  switch (values.kind) {
    case 'text':
      return values.dictionary.textOf(code)
    case 'instant':
      return values.textOf(code)
    case 'list':
      return values.idsOf(code)
    case 'reference':
      throw new Error(`${name} is a reference`)
  }
}

/** The slots in `mask` whose code is in the set; with `negative`, those whose code is not. */
export function slotsWithCodes(column: Column, codes: CodeSet, negative: boolean, mask: Bitmap): Bitmap {
  const only = codes.onlyCode()
  if (only === 0) return negative ? mask.slice() : new Int32Array(mask.length)
  if (only !== undefined) return slotsWithCode(column, only, negative, mask)
  return slotsReferringTo(column, codes.asBitmap(column.values.size), negative, mask)
}

/** A word of the mask with fewer slots is tested slot by slot, which takes less time than all 32 at once. */
const SPARSE_WORD_COUNT = 12

/**
 * The slots in `mask` with this code; with `negative`, those with another one. Code 0 selects slots without a value.
 */
export function slotsWithCode(column: Column, code: number, negative: boolean, mask: Bitmap): Bitmap {
  const found = new Int32Array(mask.length)
  const codes = column.codes(mask.length * 32)
  const flip = negative ? -1 : 0
  for (let index = 0; index < mask.length; index += 1) {
    const wanted = mask[index] as number
    if (wanted === 0) continue
    const base = index << 5
    let word = 0
    if (bitCount(wanted) < SPARSE_WORD_COUNT) {
      for (let rest = wanted; rest !== 0; rest &= rest - 1) {
        if (codes[base + 31 - Math.clz32(rest & -rest)] === code) word |= rest & -rest
      }
      found[index] = (word ^ flip) & wanted
      continue
    }
    for (let bit = 0; bit < 32; bit += 1) {
      // The sign of `x | -x` is set unless x is 0. This avoids a branch that the CPU could not predict.
      const difference = (codes[base + bit] as number) ^ code
      word |= (((difference | -difference) >>> 31) ^ 1) << bit
    }
    found[index] = (word ^ flip) & wanted
  }
  return found
}

/** The slots in `mask` whose code is in a bitmap over codes; with `negative`, those whose code is not. */
export function slotsReferringTo(column: Column, targets: Bitmap, negative: boolean, mask: Bitmap): Bitmap {
  const found = new Int32Array(mask.length)
  const codes = column.codes(mask.length * 32)
  const flip = negative ? -1 : 0
  for (let index = 0; index < mask.length; index += 1) {
    const wanted = mask[index] as number
    if (wanted === 0) continue
    const base = index << 5
    let word = 0
    if (bitCount(wanted) < SPARSE_WORD_COUNT) {
      for (let rest = wanted; rest !== 0; rest &= rest - 1) {
        if (hasBit(targets, codes[base + 31 - Math.clz32(rest & -rest)] as number)) word |= rest & -rest
      }
      found[index] = (word ^ flip) & wanted
      continue
    }
    for (let bit = 0; bit < 32; bit += 1) {
      const code = codes[base + bit] as number
      // A shift uses the low five bits of its distance only: `>>> code` equals `>>> (code & 31)`.
      word |= (((targets[code >>> 5] as number) >>> code) & 1) << bit
    }
    found[index] = (word ^ flip) & wanted
  }
  return found
}

/**
 * The slots in `mask` whose code in a column has its counterpart in another one; with `negative`, the other slots.
 * @param counterparts By code; negative for none.
 */
export function slotsWithCounterparts(
  column: Column,
  other: Column,
  counterparts: Int32Array,
  negative: boolean,
  mask: Bitmap,
): Bitmap {
  const found = new Int32Array(mask.length)
  const [codes, otherCodes] = [column.codes(mask.length * 32), other.codes(mask.length * 32)]
  const flip = negative ? -1 : 0
  for (let index = 0; index < mask.length; index += 1) {
    const wanted = mask[index] as number
    if (wanted === 0) continue
    const base = index << 5
    let word = 0
    for (let bit = 0; bit < 32; bit += 1) {
      const slot = base + bit
      // As in `slotsWithCode`.
      const difference = (counterparts[codes[slot] as number] as number) ^ (otherCodes[slot] as number)
      word |= (((difference | -difference) >>> 31) ^ 1) << bit
    }
    found[index] = (word ^ flip) & wanted
  }
  return found
}

/** Adds the objects that the slots refer to to `targets`. */
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
