import type { CoreObject } from './core-object.ts'

/** How far a reader of changes has come. Opaque to it; kept in memory only. */
export type ChangeMark = {
  /** The latest write that was seen, by the store's clock. */
  readonly seenUntilS: number
  /** When that was, by this process's clock. */
  readonly seenAtMs: number
  /** The latest write that the first page of a reading showed: later pages show writes that came after it. */
  readonly firstSeenS: number
  /** When the last reading began, by this process's clock. */
  readonly readAtMs: number
  /** The store's clock had come this far at least when the last reading began. */
  readonly readFromS: number
}

/** Core objects by the time of their last write. */
export interface CoreObjectChanges {
  /**
   * Whether all deletions since the mark are still told. Deleted objects are kept for a time only: a reader that was idle
   * for longer has to begin anew.
   */
  remembersSince(mark: ChangeMark): boolean
  /**
   * Every object written since the mark, soft-deleted ones included, page after page; without a mark, all there are.
   * Some that the reader has seen already come again: the store's clock counts whole seconds.
   */
  since(
    tenantId: string,
    mark: ChangeMark | undefined,
  ): AsyncIterable<{ objects: readonly CoreObject[]; mark: ChangeMark }>
}
