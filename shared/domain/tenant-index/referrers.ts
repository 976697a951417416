import { type Bitmap, clearBit, emptyBitmap, setBit } from './bitmap.ts'
import { ForkableInt32 } from './forkable-int32.ts'

/**
 * The other direction of a reference: which relationships name an identity, or an org unit. Doubly linked lists over
 * slots, so that one comes and goes at once however many there are. Slot 0 ends a list.
 */
export class Referrers {
  #first = new ForkableInt32(32)
  #next = new ForkableInt32(32)
  #previous = new ForkableInt32(32)
  #referred = new ForkableInt32(1)

  /** The first relationship that names the target, 0 when none does. */
  first(target: number): number {
    return this.#first.values[target] ?? 0
  }

  /** The one after it in the same list, 0 at the end. */
  next(relationship: number): number {
    return this.#next.values[relationship] ?? 0
  }

  /** The targets that at least one relationship names, as a set of its own. */
  referredSlots(slotCount: number): Bitmap {
    const referred = emptyBitmap(slotCount)
    referred.set(this.#referred.values.subarray(0, referred.length))
    return referred
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

  /** The same lists, to be changed on their own. */
  forked(): Referrers {
    const fork = new Referrers()
    fork.#first = this.#first.forked()
    fork.#next = this.#next.forked()
    fork.#previous = this.#previous.forked()
    fork.#referred = this.#referred.forked()
    return fork
  }
}
