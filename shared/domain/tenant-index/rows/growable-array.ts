/** Arrays grow by this factor: few copies, little unused memory. */
const GROWTH = 1.4
/** From this length on, unused memory costs more than copies. */
const LARGE_LENGTH = 1_000_000
const LARGE_GROWTH = 1.05

/** The array, or a copy with room for at least `length` elements; a grown length is a multiple of 32. */
export function grownInt32(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Int32Array(array.buffer.transfer(grownLength(length) * Int32Array.BYTES_PER_ELEMENT))
}

/** As `grownInt32`, for unsigned 32-bit numbers. */
export function grownUint32(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Uint32Array(array.buffer.transfer(grownLength(length) * Uint32Array.BYTES_PER_ELEMENT))
}

/** As `grownInt32`, for floating point numbers. */
export function grownFloat64(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  if (array.length >= length) return array
  return new Float64Array(array.buffer.transfer(grownLength(length) * Float64Array.BYTES_PER_ELEMENT))
}

/** As `grownInt32`, for bytes. */
export function grownUint8(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return array.length >= length ? array : new Uint8Array(array.buffer.transfer(grownLength(length)))
}

function grownLength(length: number): number {
  return (Math.ceil(length * (length < LARGE_LENGTH ? GROWTH : LARGE_GROWTH)) + 31) & ~31
}

/** Whether a hash table has enough free places for entries with codes below `size`. */
export function hasFreePlaces(size: number, { length }: { readonly length: number }): boolean {
  return size * 4 <= length * 3
}

/** A growing array of 32-bit numbers. A fork shares it with its origin until one of them is written (copy on write). */
export class ForkableInt32 {
  #values: Int32Array<ArrayBuffer>
  #isShared = false

  constructor(length: number) {
    this.#values = new Int32Array(length)
  }

  /** Read-only, valid until the next change. */
  get values(): Int32Array<ArrayBuffer> {
    return this.#values
  }

  get sizeBytes(): number {
    return this.#values.byteLength
  }

  /** Whether the next write copies the numbers. */
  get isShared(): boolean {
    return this.#isShared
  }

  /** The numbers, with room for at least `length`. */
  withRoom(length: number): Int32Array<ArrayBuffer> {
    if (this.#values.length < length) this.writable(length)
    return this.#values
  }

  /** Writable, with at least `length` numbers. Forks do not see the writes. */
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
