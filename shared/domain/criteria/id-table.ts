import { type Bitmap, countBits } from './bitmap.ts'
import { compareBytes } from './code-point-bytes.ts'
import { TextDictionary } from './text-dictionary.ts'

/** All slots in ascending order of their ids, each slot's place in that order, and the ids themselves once asked for. */
type Order = { readonly slots: Uint32Array; readonly ranks: Uint32Array; ids?: readonly string[] }

/** From one object in so many on, picking members out of all ids is quicker than sorting them. */
const DENSE_SHARE = 16

/**
 * Gives every object of a type its slot, the index of its values in all columns. An id keeps its slot for good: an object
 * that was only referred to, or deleted, finds its old one when it arrives. Slot 0 belongs to no object and has no values,
 * so that what refers to nothing needs no special case.
 */
export class IdTable {
  readonly #dictionary = new TextDictionary()
  /** Ids that were asked for: the same string serves all answers. */
  readonly #texts: (string | undefined)[] = []
  #order: Order = { slots: new Uint32Array(0), ranks: new Uint32Array(0) }

  /** One more than the highest slot. */
  get size(): number {
    return this.#dictionary.size
  }

  /** The slot of an id, a new one when need be. Ids are GUIDs: without case. */
  intern(id: string): number {
    return this.#dictionary.intern(id.toLowerCase())
  }

  /** The slot of an id, 0 when it was never heard of. */
  codeOf(id: string): number {
    return this.#dictionary.codeOf(id.toLowerCase())
  }

  idOf(slot: number): string {
    return this.#texts[slot] ?? this.#decoded(slot)
  }

  /** The ids of a set of slots, ascending. */
  idsIn(slots: Bitmap): string[] {
    const count = countBits(slots)
    return count * DENSE_SHARE > this.size ? this.#manyIdsIn(slots, count) : this.#fewIdsIn(slots, count)
  }

  /** Picks the set out of all ids, in one walk through memory. */
  #manyIdsIn(slots: Bitmap, count: number): string[] {
    const order = this.#currentOrder()
    order.ids ??= Array.from(order.slots, (slot) => this.idOf(slot))
    const ids = order.ids
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
    return Array.from(ranks.sort(), (rank) => this.idOf(order.slots[rank] as number))
  }

  #currentOrder(): Order {
    const known = this.#order.slots
    if (known.length === this.size - 1) return this.#order
    const added = Uint32Array.from({ length: this.size - 1 - known.length }, (_, index) => known.length + 1 + index)
    const slots = this.#merged(known, this.#sorted(added))
    const ranks = new Uint32Array(this.size)
    for (let rank = 0; rank < slots.length; rank += 1) ranks[slots[rank] as number] = rank
    this.#order = { slots, ranks }
    return this.#order
  }

  #decoded(slot: number): string {
    // Filled up one by one: an array written far past its end would turn into a hash table.
    while (this.#texts.length < this.size) this.#texts.push(undefined)
    const id = this.#dictionary.textOf(slot)
    this.#texts[slot] = id
    return id
  }

  #sorted(slots: Uint32Array): Uint32Array {
    const first = slots[0] ?? 0
    const prefixes = Float64Array.from(slots, (slot) => this.#prefixOf(slot))
    return slots.sort(
      (left, right) =>
        (prefixes[left - first] as number) - (prefixes[right - first] as number) || this.#compare(left, right),
    )
  }

  #merged(known: Uint32Array, added: Uint32Array): Uint32Array {
    if (known.length === 0) return added
    const merged = new Uint32Array(known.length + added.length)
    let copied = 0
    for (let index = 0; index < added.length; index += 1) {
      const slot = added[index] as number
      const until = this.#firstAfter(known, copied, slot)
      merged.set(known.subarray(copied, until), copied + index)
      merged[until + index] = slot
      copied = until
    }
    merged.set(known.subarray(copied), copied + added.length)
    return merged
  }

  /** Where in `known`, from `from` on, the first id after that of `slot` stands. */
  #firstAfter(known: Uint32Array, from: number, slot: number): number {
    let low = from
    let high = known.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(known[middle] as number, slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The first six bytes as a number: settles most comparisons of GUIDs. */
  #prefixOf(slot: number): number {
    const { bytes, offsets } = this.#dictionary.entries
    const start = offsets[slot] as number
    const end = offsets[slot + 1] as number
    let prefix = 0
    for (let at = start; at < start + 6; at += 1) prefix = prefix * 256 + (at < end ? (bytes[at] as number) : 0)
    return prefix
  }

  #compare(left: number, right: number): number {
    const { bytes, offsets } = this.#dictionary.entries
    const [leftEnd, rightEnd] = [offsets[left + 1] as number, offsets[right + 1] as number]
    return compareBytes(bytes, offsets[left] as number, leftEnd, bytes, offsets[right] as number, rightEnd)
  }
}
