import { type Static, Type } from 'typebox'
import type { SnapshotObject } from './rows/apply-objects.ts'

/** A write that was read: the version that it has given the document, and its time in seconds of the store's clock. */
export type ReadWrite = { readonly version: string; readonly writtenAtS: number }

/** Writes that a reader has included: all before a time of the store's clock, and later ones with these versions. */
export const IncludedWrites = Type.Object({ sinceS: Type.Number(), versions: Type.Array(Type.String()) })
export type IncludedWrites = Readonly<Static<typeof IncludedWrites>>

/**
 * The position of a reader of changes. Opaque to the reader; kept in memory only: another process continues from a
 * time.
 */
export type ChangeMark = {
  /** The time of the latest write that was read, by the store's clock. */
  readonly seenUntilS: number
  /** The time of that read, by this process's clock. */
  readonly seenAtMs: number
  /** The latest write on the first page of a reading. Later pages can miss writes that were made after it. */
  readonly firstSeenS: number
  /** The store's clock had come this far at least when the last reading began. */
  readonly readFromS: number
  /** When the last reading began, by this process's clock. */
  readonly readAtMs: number
  /** The latest writes that were read, newest first. */
  readonly latest: readonly ReadWrite[]
}

/**
 * The mark of a reader that has read all writes before a time.
 * @param readUntilS The time by the store's clock, in seconds since 1970.
 * @param nowMs This process's clock.
 */
export function markAt(readUntilS: number, nowMs: number): ChangeMark {
  const seen = { seenUntilS: readUntilS, firstSeenS: readUntilS, readFromS: readUntilS }
  return { ...seen, seenAtMs: nowMs, readAtMs: nowMs, latest: [] }
}

/** Core objects in the order of their last write. */
export interface CoreObjectChanges {
  /**
   * Whether all deletions since the mark can still be read. Deleted objects expire; an older reader must start again.
   */
  remembersSince(mark: ChangeMark): boolean
  /**
   * All objects written since the mark, soft-deleted ones included, in pages; without a mark, all objects. Some objects
   * are returned again, because the store's clock has whole seconds.
   */
  since(
    tenantId: string,
    mark: ChangeMark | undefined,
  ): AsyncIterable<{ objects: readonly SnapshotObject[]; mark: ChangeMark }>
  /** What was read up to the mark. Undefined when too many of the writes are recent. */
  includedWrites(mark: ChangeMark): IncludedWrites | undefined
  /** The number of objects of a tenant, including soft-deleted ones. */
  count(tenantId: string): Promise<number>
}
