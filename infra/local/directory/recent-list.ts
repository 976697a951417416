/** The newest of the records that were added. Older ones are dropped. */
export type RecentList<T> = {
  add(record: T): void
  /** The oldest first. */
  all(): readonly T[]
  clear(): void
}

/** Keeps the latest records only, in memory, because benchmarks send many. */
export function recentList<T>(keptCount: number): RecentList<T> {
  let records: T[] = []
  return {
    add(record) {
      records.push(record)
      if (records.length > 2 * keptCount) records = records.slice(-keptCount)
    },
    all: () => records.slice(-keptCount),
    clear: () => void records.splice(0),
  }
}
