/** Keeps the first `limit` rows in the given order. Holds at most about twice as many. */
export class TopRows<T> {
  readonly #limit: number
  readonly #compare: (one: T, other: T) => number
  #rows: T[] = []

  constructor(limit: number, compare: (one: T, other: T) => number) {
    this.#limit = limit
    this.#compare = compare
  }

  add(row: T): void {
    this.#rows.push(row)
    if (this.#rows.length > 2 * this.#limit + 1000) this.#prune()
  }

  sorted(): readonly T[] {
    this.#prune()
    return this.#rows
  }

  #prune(): void {
    this.#rows = this.#rows.sort(this.#compare).slice(0, this.#limit)
  }
}
