import { type Bitmap, emptyBitmap, hasBit, setBit } from './bitmap.ts'
import { grownInt32 } from './typed-array-growth.ts'

/** So many codes are kept one by one before a bit for every code of the dictionary is the smaller form. */
const MAX_LISTED_COUNT = 64

/** A growing set of the codes of one dictionary: a thousand conditions keep several each. */
export class CodeSet {
  readonly #listed = new Set<number>()
  #bits: Bitmap | undefined
  #highest = 0

  add(code: number): void {
    this.#highest = Math.max(this.#highest, code)
    if (this.#bits === undefined) {
      this.#listed.add(code)
      if (this.#listed.size <= Math.max(MAX_LISTED_COUNT, this.#highest >>> 8)) return
      this.#bits = this.asBitmap(this.#highest + 1)
      this.#listed.clear()
    }
    this.#bits = grownInt32(this.#bits as Int32Array<ArrayBuffer>, (code >>> 5) + 1)
    setBit(this.#bits, code)
  }

  has(code: number): boolean {
    if (this.#bits === undefined) return this.#listed.has(code)
    return code >>> 5 < this.#bits.length && hasBit(this.#bits, code)
  }

  /** The one code in the set, 0 when it is empty; undefined when there are more. */
  onlyCode(): number | undefined {
    if (this.#bits !== undefined || this.#listed.size > 1) return undefined
    const [code = 0] = this.#listed
    return code
  }

  /** The set with a bit for every code below `codeCount`, not to be changed. */
  asBitmap(codeCount: number): Bitmap {
    if (this.#bits !== undefined) {
      this.#bits = grownInt32(this.#bits as Int32Array<ArrayBuffer>, (codeCount + 31) >>> 5)
      return this.#bits
    }
    const bits = emptyBitmap(codeCount)
    for (const code of this.#listed) setBit(bits, code)
    return bits
  }
}
