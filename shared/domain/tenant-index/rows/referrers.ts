import { type Bitmap, clearBit, emptyBitmap, hasBit, setBit } from './bitmap.ts'
import { ForkableInt32 } from './growable-array.ts'

/**
 * The inverse of a reference: the relationships that refer to an identity or org unit. Doubly linked lists over slots,
 * so that adding and removing take constant time. Slot 0 ends a list.
 */
export class Referrers {
  #first = new ForkableInt32(32)
  #next = new ForkableInt32(32)
  #previous = new ForkableInt32(32)
  #referred = new ForkableInt32(1)

  /** The first relationship that refers to the target, 0 when there is none. */
  first(target: number): number {
    return this.#first.values[target] ?? 0
  }

  /** The next relationship in the same list, 0 at the end. */
  next(relationship: number): number {
    return this.#next.values[relationship] ?? 0
  }

  /** The relationships in `mask` that refer to any of the targets; undefined when there are more than `atMostCount`. */
  of(targets: Bitmap, mask: Bitmap, atMostCount: number): Bitmap | undefined {
    const found = new Int32Array(mask.length)
    const [first, next] = [this.#first.values, this.#next.values]
    let count = 0
    for (let index = 0; index < targets.length; index += 1) {
      for (let word = targets[index] as number; word !== 0; word &= word - 1) {
        const target = (index << 5) + 31 - Math.clz32(word & -word)
        for (let slot = first[target] ?? 0; slot !== 0; slot = next[slot] as number) {
          count += 1
          if (count > atMostCount) return undefined
          if (hasBit(mask, slot)) setBit(found, slot)
        }
      }
    }
    return found
  }

  /** The targets with at least one relationship, as a new set. */
  referredSlots(slotCount: number): Bitmap {
    const referred = emptyBitmap(slotCount)
    referred.set(this.#referred.values.subarray(0, referred.length))
    return referred
  }

  get sizeBytes(): number {
    return this.#first.sizeBytes + this.#next.sizeBytes + this.#previous.sizeBytes + this.#referred.sizeBytes
  }

  add(target: number, relationship: number): void {
    if (target === 0) return
    const first = this.#first.writable(target + 1)
    const next = this.#next.writable(relationship + 1)
    const previous = this.#previous.writable(relationship + 1)
    const after = first[target] as number
    first[target] = relationship
    next[relationship] = after
    previous[relationship] = 0
    if (after !== 0) previous[after] = relationship
    setBit(this.#referred.writable((target >>> 5) + 1), target)
  }

  remove(target: number, relationship: number): void {
    if (target === 0) return
    const first = this.#first.writable(target + 1)
    const next = this.#next.writable(relationship + 1)
    const previous = this.#previous.writable(relationship + 1)
    const before = previous[relationship] as number
    const after = next[relationship] as number
    if (before === 0) first[target] = after
    else next[before] = after
    if (after !== 0) previous[after] = before
    if (first[target] === 0) clearBit(this.#referred.writable((target >>> 5) + 1), target)
  }

  /** An independent copy. */
  forked(): Referrers {
    const fork = new Referrers()
    fork.#first = this.#first.forked()
    fork.#next = this.#next.forked()
    fork.#previous = this.#previous.forked()
    fork.#referred = this.#referred.forked()
    return fork
  }
}
