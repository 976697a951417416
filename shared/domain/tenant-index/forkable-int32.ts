import { grownInt32 } from './typed-array-growth.ts'

/** Growing 32-bit numbers that a fork shares with its origin until either is written to. */
export class ForkableInt32 {
  #values: Int32Array<ArrayBuffer>
  #isShared = false

  constructor(length: number) {
    this.#values = new Int32Array(length)
  }

  /** To be read only, and only until the next change. */
  get values(): Int32Array<ArrayBuffer> {
    return this.#values
  }

  /** The same with room for `length` numbers at least. To be read only. */
  withRoom(length: number): Int32Array<ArrayBuffer> {
    if (this.#values.length < length) this.writable(length)
    return this.#values
  }

  /** To be written, with room for `length` numbers at least. A fork does not see it. */
  writable(length: number): Int32Array<ArrayBuffer> {
    if (this.#isShared) {
      this.#values = this.#values.slice()
      this.#isShared = false
    }
    this.#values = grownInt32(this.#values, length)
    return this.#values
  }

  forked(): ForkableInt32 {
    const fork = new ForkableInt32(0)
    fork.#values = this.#values
    fork.#isShared = true
    this.#isShared = true
    return fork
  }
}
