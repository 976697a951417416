/** A binary heap that supports removal of any item. The order of items must not change while they are in the heap. */
export class PriorityQueue<T> {
  readonly #compare: (left: T, right: T) => number
  readonly #items: T[] = []
  readonly #positions = new Map<T, number>()

  /** @param compare negative if the left item comes first, like `Array.prototype.sort` */
  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  /** The first item, without removing it. */
  peek(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    this.#put(item, this.#items.length)
    this.#rise(this.#items.length - 1)
  }

  /** Removes the item, if it is in the heap. */
  remove(item: T): void {
    const position = this.#positions.get(item)
    if (position === undefined) return
    this.#positions.delete(item)
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#put(last, position)
    this.#rise(position)
    this.#sink(this.#positions.get(last) ?? position)
  }

  #put(item: T, position: number): void {
    this.#items[position] = item
    this.#positions.set(item, position)
  }

  #at(position: number): T {
    return this.#items[position] as T
  }

  #rise(from: number): void {
    const item = this.#at(from)
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.#compare(this.#at(parent), item) <= 0) break
      this.#put(this.#at(parent), position)
      position = parent
    }
    if (position !== from) this.#put(item, position)
  }

  #sink(from: number): void {
    const item = this.#at(from)
    let position = from
    for (;;) {
      const left = 2 * position + 1
      if (left >= this.#items.length) break
      const right = left + 1
      const isRightFirst = right < this.#items.length && this.#compare(this.#at(right), this.#at(left)) < 0
      const child = isRightFirst ? right : left
      if (this.#compare(this.#at(child), item) >= 0) break
      this.#put(this.#at(child), position)
      position = child
    }
    if (position !== from) this.#put(item, position)
  }
}
