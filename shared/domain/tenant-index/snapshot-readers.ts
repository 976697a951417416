import type { RowSnapshot } from './rows/row-snapshot.ts'

/** The running computations that read a snapshot, which must not change before they have ended. */
export class SnapshotReaders {
  readonly #counts = new Map<RowSnapshot, number>()

  /** Runs work whose results must be those of one state of the snapshot. */
  async run<T>(rows: RowSnapshot, work: () => Promise<T>): Promise<T> {
    this.#counts.set(rows, (this.#counts.get(rows) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const remainingCount = (this.#counts.get(rows) as number) - 1
      if (remainingCount > 0) this.#counts.set(rows, remainingCount)
      else this.#counts.delete(rows)
    }
  }

  isRead(rows: RowSnapshot): boolean {
    return this.#counts.has(rows)
  }
}
