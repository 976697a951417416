import { type Bitmap, clearBit, emptyBitmap, setBit } from './bitmap.ts'
import { grownInt32 } from './typed-array-growth.ts'

/**
 * The other direction of a reference: which relationships name an identity, or an org unit. Doubly linked lists over
 * slots, so that one comes and goes at once however many there are. Slot 0 ends a list.
 */
export class Referrers {
  #first: Int32Array<ArrayBuffer> = new Int32Array(32)
  #next: Int32Array<ArrayBuffer> = new Int32Array(32)
  #previous: Int32Array<ArrayBuffer> = new Int32Array(32)
  #referred: Bitmap = emptyBitmap(32)

  /** The first relationship that names the target, 0 when none does. */
  first(target: number): number {
    return this.#first[target] ?? 0
  }

  /** The one after it in the same list, 0 at the end. */
  next(relationship: number): number {
    return this.#next[relationship] ?? 0
  }

  /** The targets that at least one relationship names, as a set of its own. */
  referredSlots(slotCount: number): Bitmap {
    const referred = emptyBitmap(slotCount)
    referred.set(this.#referred.subarray(0, referred.length))
    return referred
  }

  add(target: number, relationship: number): void {
    if (target === 0) return
    this.#first = grownInt32(this.#first, target + 1)
    this.#next = grownInt32(this.#next, relationship + 1)
    this.#previous = grownInt32(this.#previous, relationship + 1)
    this.#referred = grownInt32(this.#referred as Int32Array<ArrayBuffer>, (target >>> 5) + 1)
    const after = this.#first[target] as number
    this.#first[target] = relationship
    this.#next[relationship] = after
    this.#previous[relationship] = 0
    if (after !== 0) this.#previous[after] = relationship
    setBit(this.#referred, target)
  }

  remove(target: number, relationship: number): void {
    if (target === 0) return
    const before = this.#previous[relationship] as number
    const after = this.#next[relationship] as number
    if (before === 0) this.#first[target] = after
    else this.#next[before] = after
    if (after !== 0) this.#previous[after] = before
    if (this.#first[target] === 0) clearBit(this.#referred, target)
  }
}
