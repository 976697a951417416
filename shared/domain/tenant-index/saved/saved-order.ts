import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { Column } from '../rows/column.ts'
import type { ObjectTable } from '../rows/object-table.ts'
import { pieces, sortByIds } from '../rows/packed-guid.ts'
import type { RowSnapshot } from '../rows/row-snapshot.ts'

/** The order in which the objects of a type are saved. */
export type SavedOrder = {
  /** Live objects first, then those that others may still refer to. */
  readonly slots: Uint32Array
  readonly liveCount: number
  /** The place of a slot in the order. */
  readonly places: Uint32Array
}

const BYTES_PER_WORD = 4

/**
 * Orders objects by the first characters of their external ids. Connectors number their objects, so that neighbours
 * have similar values and refer to neighbours: this compresses to three quarters of the size of a random order.
 */
export function* savedOrders(rows: RowSnapshot): Task<Readonly<Record<ObjectType, SavedOrder>>> {
  const orders = {} as Record<ObjectType, SavedOrder>
  for (const type of OBJECT_TYPES) orders[type] = yield* savedOrder(rows.tables[type])
  return orders
}

function* savedOrder(table: ObjectTable): Task<SavedOrder> {
  const { slotCount, liveCount } = table
  const slots = new Uint32Array(slotCount - 1)
  let [live, other] = [0, liveCount]
  for (const [from, to] of pieces(slotCount)) {
    for (let slot = Math.max(from, 1); slot < to; slot += 1) slots[table.isLive(slot) ? live++ : other++] = slot
    yield
  }
  yield* sortByIds(slots.subarray(0, liveCount), firstCharacters(table.column('externalId')))
  const places = new Uint32Array(slotCount)
  for (const [from, to] of pieces(slots.length)) {
    for (let place = from; place < to; place += 1) places[slots[place] as number] = place
    yield
  }
  return { slots, liveCount, places }
}

/** The values of a text column as words that sort as the texts do. Later characters do not count. */
function firstCharacters(column: Column): Parameters<typeof sortByIds>[1] {
  const { values } = column
  if (values.kind !== 'text') throw new Error(`${column.attribute} is not a text`)
  const { bytes, offsets } = values.dictionary.entries
  const wordOf = (slot: number, word: number): number => {
    const code = column.codeAt(slot)
    const end = offsets[code + 1] as number
    const from = (offsets[code] as number) + word * BYTES_PER_WORD
    let packed = 0
    for (let at = from; at < from + BYTES_PER_WORD; at += 1)
      packed = (packed << 8) | (at < end ? (bytes[at] as number) : 0)
    return packed >>> 0
  }
  const compare = (left: number, right: number): number => {
    for (let word = 0; word < 4; word += 1) {
      const difference = wordOf(left, word) - wordOf(right, word)
      if (difference !== 0) return difference
    }
    return 0
  }
  return { wordOf, compare }
}
