import { runToCompletion, type Task } from '../../../kernel/cooperative-scheduler.ts'
import { type Bitmap, countBits, hasBit } from './bitmap.ts'
import { GuidDictionary } from './guid-dictionary.ts'
import { pieces } from './packed-guid.ts'

/** All slots in ascending order of their ids, the rank of each slot, and the id texts created so far. */
type Order = {
  readonly slots: Uint32Array
  readonly ranks: Uint32Array
  readonly texts: (string | undefined)[]
  isTextComplete: boolean
}

/** For larger sets than this share of all objects, selecting from all sorted ids is faster than sorting the set. */
const DENSE_SHARE = 16

/** A pointer to the text of a GUID, and the text. */
const BYTES_PER_TEXT = 64

/** Id texts created in one step of the task. */
const TEXTS_PER_STEP_COUNT = 2048
/** New ids merged into the order in one step of the task. */
const MERGES_PER_STEP_COUNT = 1024

/**
 * Assigns a slot to every object of a type: the index of its values in all columns. An id keeps its slot: an object
 * that was only referred to so far, or was deleted, gets the same slot when it arrives. Slot 0 has no object and no
 * values, so that a missing reference needs no special case.
 */
export class IdTable {
  readonly #dictionary = new GuidDictionary()
  #order: Order = { slots: new Uint32Array(0), ranks: new Uint32Array(1), texts: [], isTextComplete: true }

  /** One more than the highest slot. */
  get size(): number {
    return this.#dictionary.size
  }

  get sizeBytes(): number {
    const { slots, ranks, texts } = this.#order
    return this.#dictionary.sizeBytes + slots.byteLength + ranks.byteLength + texts.length * BYTES_PER_TEXT
  }

  /** Makes room for more ids, so that adding them takes little time each. */
  reserve(addedCount: number): Task<void> {
    return this.#dictionary.reserve(addedCount)
  }

  /** The slot of an id, which is added when it is new. Ignores case. */
  intern(id: string): number {
    return this.#dictionary.intern(id)
  }

  /** The slot of an id, 0 for an unknown one. */
  codeOf(id: string): number {
    return this.#dictionary.codeOf(id)
  }

  /** See `CodedTexts`. */
  mixOf(slot: number, seed: number): number {
    return this.#dictionary.mixOf(slot, seed)
  }

  /** Returns the same string each time, once the slot has a rank. */
  idOf(slot: number): string {
    const order = this.#order
    const { ranks } = order
    return slot < ranks.length && slot > 0
      ? this.#idAt(ranks[slot] as number, slot, order)
      : this.#dictionary.textOf(slot)
  }

  /** The id of a slot as a new string, which takes no memory afterwards. */
  textOf(slot: number): string {
    return this.#dictionary.textOf(slot)
  }

  /** Sorts the ids, so that `idsAfter` has to sort only those that are added later. */
  *sort(): Task<void> {
    yield* this.#currentOrder()
  }

  /** The ids of a set of slots, ascending. Ids may be added between the steps of the task. */
  *idsIn(slots: Bitmap): Task<string[]> {
    const count = countBits(slots)
    const order = yield* this.#currentOrder()
    return yield* count * DENSE_SHARE > this.size
      ? this.#manyIdsIn(slots, count, order)
      : this.#fewIdsIn(slots, count, order)
  }

  /** The first `limitCount` ids of a set of slots, ascending; with `after`, those that follow it. */
  idsAfter(slots: Bitmap, after: string | undefined, limitCount: number): string[] {
    const order = runToCompletion(this.#currentOrder())
    const found: string[] = []
    let rank = after === undefined ? 0 : this.#firstRankAfter(after, order)
    for (; rank < order.slots.length && found.length < limitCount; rank += 1) {
      const slot = order.slots[rank] as number
      if (hasBit(slots, slot)) found.push(this.#idAt(rank, slot, order))
    }
    return found
  }

  #firstRankAfter(id: string, order: Order): number {
    const { slots } = order
    let low = 0
    let high = slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#idAt(middle, slots[middle] as number, order) <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  #idAt(rank: number, slot: number, { texts }: Order): string {
    const known = texts[rank]
    if (known !== undefined) return known
    const text = this.#dictionary.textOf(slot)
    texts[rank] = text
    return text
  }

  /** Selects the set from all sorted ids, in one pass over memory. */
  *#manyIdsIn(slots: Bitmap, count: number, order: Order): Task<string[]> {
    if (!order.isTextComplete) yield* this.#completeTexts(order)
    const ids = order.texts
    // Written before the set is tested, to avoid a branch: hence one more element.
    const found = new Array<string>(count + 1)
    let index = 0
    for (const [from, to] of pieces(ids.length)) {
      for (let rank = from; rank < to; rank += 1) {
        const slot = order.slots[rank] as number
        found[index] = ids[rank] as string
        index += ((slots[slot >>> 5] as number) >>> slot) & 1
      }
      yield
    }
    found.length = count
    return found
  }

  *#completeTexts(order: Order): Task<void> {
    for (let rank = 0; rank < order.slots.length; rank += 1) {
      if (rank % TEXTS_PER_STEP_COUNT === 0) yield
      this.#idAt(rank, order.slots[rank] as number, order)
    }
    order.isTextComplete = true
  }

  *#fewIdsIn(slots: Bitmap, count: number, order: Order): Task<string[]> {
    const ranks = new Uint32Array(count)
    let index = 0
    for (let at = 0; at < slots.length; at += 1) {
      for (let word = slots[at] as number; word !== 0; word &= word - 1) {
        ranks[index++] = order.ranks[(at << 5) + 31 - Math.clz32(word & -word)] as number
      }
    }
    ranks.sort()
    const found: string[] = []
    for (const rank of ranks) {
      if (found.length % TEXTS_PER_STEP_COUNT === 0) yield
      found.push(order.texts[rank] ?? this.#idAt(rank, order.slots[rank] as number, order))
    }
    return found
  }

  /** The order of all ids that exist at the time of the call. */
  *#currentOrder(): Task<Order> {
    const known = this.#order
    const knownCount = known.slots.length
    if (knownCount === this.size - 1) return known
    const added = new Uint32Array(this.size - 1 - knownCount)
    for (let index = 0; index < added.length; index += 1) added[index] = knownCount + 1 + index
    yield* this.#dictionary.sort(added)
    const order = yield* this.#merged(known, added)
    // A concurrent task may have merged more ids.
    if (this.#order.slots.length < order.slots.length) this.#order = order
    return order
  }

  *#merged(known: Order, added: Uint32Array): Task<Order> {
    const slots = yield* this.#mergedSlots(known.slots, added)
    const ranks = new Uint32Array(slots.length + 1)
    const texts = new Array<string | undefined>(slots.length)
    for (const [from, to] of pieces(slots.length)) {
      for (let rank = from; rank < to; rank += 1) {
        const slot = slots[rank] as number
        ranks[slot] = rank
        texts[rank] = slot < known.ranks.length ? known.texts[known.ranks[slot] as number] : undefined
      }
      yield
    }
    return { slots, ranks, texts, isTextComplete: false }
  }

  *#mergedSlots(known: Uint32Array, added: Uint32Array): Task<Uint32Array> {
    if (known.length === 0) return added
    const slots = new Uint32Array(known.length + added.length)
    let copied = 0
    for (const [index, slot] of added.entries()) {
      if (index % MERGES_PER_STEP_COUNT === 0) yield
      const until = this.#firstAfter(known, copied, slot)
      slots.set(known.subarray(copied, until), copied + index)
      slots[until + index] = slot
      copied = until
    }
    slots.set(known.subarray(copied), copied + added.length)
    return slots
  }

  /** The index in `known`, at or after `from`, of the first id after that of `slot`. */
  #firstAfter(known: Uint32Array, from: number, slot: number): number {
    let low = from
    let high = known.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#dictionary.compare(known[middle] as number, slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
