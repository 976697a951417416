import type { ChangeMark } from './core-object-changes.ts'
import type { LoadedRows } from './row-loader.ts'
import { AppliedVersions } from './rows/applied-versions.ts'
import type { CollectingChanges } from './rows/row-changes.ts'
import type { RowSnapshot } from './rows/row-snapshot.ts'
import type { SavableRows } from './saved/row-saver.ts'

/** The rows of a tenant in memory, and how far they were read. */
export type SnapshotEntry = SavableRows & {
  rows: RowSnapshot
  /** `seenCount` of the rows when they were loaded. */
  readonly loadedCount: number
  mark: ChangeMark
  changes: 'everything' | CollectingChanges
  readonly applied: AppliedVersions
}

/** The entry of rows that were just loaded. */
export function newEntry({ rows, mark, saved }: LoadedRows): SnapshotEntry {
  return {
    rows,
    loadedCount: rows.seenCount,
    mark,
    changes: 'everything',
    applied: new AppliedVersions(),
    saved,
    saveNotBeforeMs: 0,
  }
}

/** A snapshot may grow by this number of values in any case. */
const GROWTH_ALLOWED_COUNT = 200_000

/** Whether the snapshot has more than doubled its ids and values since it was loaded. */
export function isOvergrown({ rows, loadedCount }: SnapshotEntry): boolean {
  return rows.seenCount - loadedCount > Math.max(loadedCount, GROWTH_ALLOWED_COUNT)
}
