/** A binary heap whose items can be taken out of the middle. Not safe against a change of an item's rank while it is in. */
export class PriorityQueue<T> {
  readonly #rank: (item: T) => number
  readonly #items: T[] = []
  readonly #positions = new Map<T, number>()

  /** @param rank the item with the lowest rank comes first */
  constructor(rank: (item: T) => number) {
    this.#rank = rank
  }

  get size(): number {
    return this.#items.length
  }

  /** The first item, left in. */
  peek(): T | undefined {
    return this.#items[0]
  }

  has(item: T): boolean {
    return this.#positions.has(item)
  }

  add(item: T): void {
    this.#put(item, this.#items.length)
    this.#rise(this.#items.length - 1)
  }

  /** Takes the item out; an item that is not in changes nothing. */
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
    const rank = this.#rank(item)
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.#rank(this.#at(parent)) <= rank) break
      this.#put(this.#at(parent), position)
      position = parent
    }
    if (position !== from) this.#put(item, position)
  }

  #sink(from: number): void {
    const item = this.#at(from)
    const rank = this.#rank(item)
    let position = from
    for (;;) {
      const left = 2 * position + 1
      if (left >= this.#items.length) break
      const right = left + 1
      const child =
        right < this.#items.length && this.#rank(this.#at(right)) < this.#rank(this.#at(left)) ? right : left
      if (this.#rank(this.#at(child)) >= rank) break
      this.#put(this.#at(child), position)
      position = child
    }
    if (position !== from) this.#put(item, position)
  }
}
