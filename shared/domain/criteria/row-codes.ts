import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { ObjectType } from '../core/core-object.ts'
import { type Bitmap, type CodeSet, countBits, hasBit, setBit } from '../tenant-index/rows/bitmap.ts'
import { slotsWithCounterparts } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type BoundLeaf, type BoundPair, ROW_PLACE, type RowColumn } from './compile.ts'

/** Words of rows whose attributes are compared in one step of the task. */
const WORDS_PER_STEP_COUNT = 64

/**
 * The slots in `mask`, of few rows, on which a leaf holds.
 * @param codes Those for which its test is true.
 */
export function slotsHoldingCodes(
  { column, place, negative }: BoundLeaf,
  codes: CodeSet,
  objectType: ObjectType,
  mask: Bitmap,
  snapshot: RowSnapshot,
): Bitmap {
  const codeOf = codeReader({ column, place }, objectType, mask.length * 32, snapshot)
  const holding = codes.asBitmap(column.values.size)
  const found: Bitmap = new Int32Array(mask.length)
  for (let index = 0; index < mask.length; index += 1) {
    for (let word = mask[index] as number; word !== 0; word &= word - 1) {
      const slot = (index << 5) + 31 - Math.clz32(word & -word)
      if (hasBit(holding, codeOf(slot)) !== negative) setBit(found, slot)
    }
  }
  return found
}

/** The slots in `mask` on whose rows two attributes compare as a leaf demands. */
export function* slotsOfPair(
  { field, operand, test, negative }: BoundPair,
  objectType: ObjectType,
  mask: Bitmap,
  snapshot: RowSnapshot,
  todayMs: number,
): Task<Bitmap> {
  // A value is looked up for each row or once for all of them.
  const isLookedUpOnce =
    field !== undefined && field.place === operand.place && field.column.values.size <= countBits(mask)
  if (test.counterparts !== undefined && isLookedUpOnce) {
    return slotsWithCounterparts(field.column, operand.column, yield* test.counterparts(), negative, mask)
  }
  const codeOf = field && codeReader(field, objectType, mask.length * 32, snapshot)
  const otherCodeOf = codeReader(operand, objectType, mask.length * 32, snapshot)
  const found: Bitmap = new Int32Array(mask.length)
  for (let index = 0; index < mask.length; index += 1) {
    if (index % WORDS_PER_STEP_COUNT === WORDS_PER_STEP_COUNT - 1) yield
    for (let word = mask[index] as number; word !== 0; word &= word - 1) {
      const slot = (index << 5) + 31 - Math.clz32(word & -word)
      const [code, otherCode] = [codeOf === undefined ? 1 : codeOf(slot), otherCodeOf(slot)]
      const holds = code !== 0 && otherCode !== 0 && test(code, otherCode, todayMs)
      if (holds !== negative) setBit(found, slot)
    }
  }
  return found
}

/** The codes of a column on the rows of an object type. */
function codeReader(
  { column, place }: RowColumn,
  objectType: ObjectType,
  slotCount: number,
  snapshot: RowSnapshot,
): (slot: number) => number {
  if (place === ROW_PLACE[objectType]) {
    const codes = column.codes(slotCount)
    return (slot) => codes[slot] as number
  }
  const target = column.objectType
  if (objectType !== 'relationship' || target === 'relationship') return () => 0
  const links = snapshot.link(target).codes(slotCount)
  const codes = column.codes(snapshot.tables[target].slotCount)
  return (slot) => codes[links[slot] as number] as number
}
