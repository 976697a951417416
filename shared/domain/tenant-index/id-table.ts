import { runToCompletion, type Task } from '../../kernel/cooperative-scheduler.ts'
import { type Bitmap, countBits, hasBit } from './bitmap.ts'
import { GuidDictionary } from './guid-dictionary.ts'
import { pieces } from './packed-guid.ts'

/** All slots in ascending order of their ids, each slot's place in that order, and the ids in it that were asked for. */
type Order = {
  readonly slots: Uint32Array
  readonly ranks: Uint32Array
  readonly texts: (string | undefined)[]
  isTextComplete: boolean
}

/** From one object in so many on, picking members out of all ids is quicker than sorting them. */
const DENSE_SHARE = 16

/** Ids made into texts between two pauses. */
const TEXTS_PER_STEP_COUNT = 2048
/** New ids put in their places among the others between two pauses. */
const MERGES_PER_STEP_COUNT = 1024

/**
 * Gives every object of a type its slot, the index of its values in all columns. An id keeps its slot for good: an object
 * that was only referred to, or deleted, finds its old one when it arrives. Slot 0 belongs to no object and has no values,
 * so that what refers to nothing needs no special case.
 */
export class IdTable {
  readonly #dictionary = new GuidDictionary()
  #order: Order = { slots: new Uint32Array(0), ranks: new Uint32Array(1), texts: [], isTextComplete: true }

  /** One more than the highest slot. */
  get size(): number {
    return this.#dictionary.size
  }

  /** The slot of an id, a new one when need be. Ids are GUIDs: without case. */
  intern(id: string): number {
    return this.#dictionary.intern(id)
  }

  /** The slot of an id, 0 when it was never heard of. */
  codeOf(id: string): number {
    return this.#dictionary.codeOf(id)
  }

  /** Once the slot has its place among the others, the same string serves all answers. */
  idOf(slot: number): string {
    const order = this.#order
    const { ranks } = order
    return slot < ranks.length && slot > 0
      ? this.#idAt(ranks[slot] as number, slot, order)
      : this.#dictionary.textOf(slot)
  }

  /** The ids of a set of slots, ascending, in steps between which more ids may be added. */
  *idsIn(slots: Bitmap): Task<string[]> {
    const count = countBits(slots)
    const order = yield* this.#currentOrder()
    return yield* count * DENSE_SHARE > this.size
      ? this.#manyIdsIn(slots, count, order)
      : this.#fewIdsIn(slots, count, order)
  }

  /** The first ids of a set of slots after one, or the first of all: at most `limitCount`, ascending. */
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

  /** Picks the set out of all ids, in one walk through memory. */
  *#manyIdsIn(slots: Bitmap, count: number, order: Order): Task<string[]> {
    if (!order.isTextComplete) yield* this.#completeTexts(order)
    const ids = order.texts
    // Written before it is known whether the slot is in the set, without a branch: hence one place more.
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
      found.push(this.#idAt(rank, order.slots[rank] as number, order))
    }
    return found
  }

  /** The order of all ids that there are when it is asked for. */
  *#currentOrder(): Task<Order> {
    const known = this.#order
    const knownCount = known.slots.length
    if (knownCount === this.size - 1) return known
    const added = new Uint32Array(this.size - 1 - knownCount)
    for (let index = 0; index < added.length; index += 1) added[index] = knownCount + 1 + index
    yield* this.#dictionary.sort(added)
    const order = yield* this.#merged(known, added)
    // Somebody else may have come further meanwhile.
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

  /** Where in `known`, from `from` on, the first id after that of `slot` stands. */
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
