/** Grown arrays get this much more than asked for: few copies, little waste. */
const GROWTH = 1.4
/** Elements from which on waste weighs more than copies. */
const LARGE_LENGTH = 1_000_000
const LARGE_GROWTH = 1.05

/** The same contents with room for at least `length` elements, a multiple of 32; the array itself where it has the room. */
export function grownInt32(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Int32Array(array.buffer.transfer(grownLength(length) * Int32Array.BYTES_PER_ELEMENT))
}

/** The same for 32 bits without a sign. */
export function grownUint32(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Uint32Array(array.buffer.transfer(grownLength(length) * Uint32Array.BYTES_PER_ELEMENT))
}

/** The same for floating point numbers. */
export function grownFloat64(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Float64Array(array.buffer.transfer(grownLength(length) * Float64Array.BYTES_PER_ELEMENT))
}

/** The same for bytes. */
export function grownUint8(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return array.length >= length ? array : new Uint8Array(array.buffer.transfer(grownLength(length)))
}

function grownLength(length: number): number {
  return (Math.ceil(length * (length < LARGE_LENGTH ? GROWTH : LARGE_GROWTH)) + 31) & ~31
}

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
