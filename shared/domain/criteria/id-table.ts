import { type Bitmap, countBits, hasBit } from './bitmap.ts'
import { GuidDictionary } from './guid-dictionary.ts'

/** All slots in ascending order of their ids, each slot's place in that order, and the ids in it that were asked for. */
type Order = {
  readonly slots: Uint32Array
  readonly ranks: Uint32Array
  readonly texts: (string | undefined)[]
  isTextComplete: boolean
}

/** From one object in so many on, picking members out of all ids is quicker than sorting them. */
const DENSE_SHARE = 16

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
    const { ranks } = this.#order
    return slot < ranks.length && slot > 0 ? this.#idAt(ranks[slot] as number, slot) : this.#dictionary.textOf(slot)
  }

  /** The ids of a set of slots, ascending. */
  idsIn(slots: Bitmap): string[] {
    const count = countBits(slots)
    return count * DENSE_SHARE > this.size ? this.#manyIdsIn(slots, count) : this.#fewIdsIn(slots, count)
  }

  /** The first ids of a set of slots after one, or the first of all: at most `limitCount`, ascending. */
  idsAfter(slots: Bitmap, after: string | undefined, limitCount: number): string[] {
    const order = this.#currentOrder()
    const found: string[] = []
    let rank = after === undefined ? 0 : this.#firstRankAfter(after)
    for (; rank < order.slots.length && found.length < limitCount; rank += 1) {
      const slot = order.slots[rank] as number
      if (hasBit(slots, slot)) found.push(this.#idAt(rank, slot))
    }
    return found
  }

  #firstRankAfter(id: string): number {
    const { slots } = this.#order
    let low = 0
    let high = slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#idAt(middle, slots[middle] as number) <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  #idAt(rank: number, slot: number): string {
    const { texts } = this.#order
    const known = texts[rank]
    if (known !== undefined) return known
    const text = this.#dictionary.textOf(slot)
    texts[rank] = text
    return text
  }

  /** Picks the set out of all ids, in one walk through memory. */
  #manyIdsIn(slots: Bitmap, count: number): string[] {
    const order = this.#currentOrder()
    if (!order.isTextComplete) for (const [rank, slot] of order.slots.entries()) this.#idAt(rank, slot)
    order.isTextComplete = true
    const ids = order.texts
    // Written before it is known whether the slot is in the set, without a branch: hence one place more.
    const found = new Array<string>(count + 1)
    let index = 0
    for (let rank = 0; rank < ids.length; rank += 1) {
      const slot = order.slots[rank] as number
      found[index] = ids[rank] as string
      index += ((slots[slot >>> 5] as number) >>> slot) & 1
    }
    found.length = count
    return found
  }

  #fewIdsIn(slots: Bitmap, count: number): string[] {
    const order = this.#currentOrder()
    const ranks = new Uint32Array(count)
    let index = 0
    for (let at = 0; at < slots.length; at += 1) {
      for (let word = slots[at] as number; word !== 0; word &= word - 1) {
        ranks[index++] = order.ranks[(at << 5) + 31 - Math.clz32(word & -word)] as number
      }
    }
    return Array.from(ranks.sort(), (rank) => this.#idAt(rank, order.slots[rank] as number))
  }

  #currentOrder(): Order {
    const known = this.#order
    if (known.slots.length === this.size - 1) return known
    const added = Uint32Array.from(
      { length: this.size - 1 - known.slots.length },
      (_, index) => known.slots.length + 1 + index,
    )
    added.sort((left, right) => this.#dictionary.compare(left, right))
    this.#order = this.#merged(known, added)
    return this.#order
  }

  #merged(known: Order, added: Uint32Array): Order {
    const slots = new Uint32Array(known.slots.length + added.length)
    const ranks = new Uint32Array(slots.length + 1)
    const texts = new Array<string | undefined>(slots.length).fill(undefined)
    let copied = 0
    for (let index = 0; index <= added.length; index += 1) {
      const slot = added[index]
      const until = slot === undefined ? known.slots.length : this.#firstAfter(known.slots, copied, slot)
      slots.set(known.slots.subarray(copied, until), copied + index)
      for (let rank = copied; rank < until; rank += 1) texts[rank + index] = known.texts[rank]
      if (slot !== undefined) slots[until + index] = slot
      copied = until
    }
    for (let rank = 0; rank < slots.length; rank += 1) ranks[slots[rank] as number] = rank
    return { slots, ranks, texts, isTextComplete: false }
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
