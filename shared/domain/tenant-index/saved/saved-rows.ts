import type { KeptDeletions } from '../row-settings.ts'

/**
 * A tenant's rows as the database keeps them. They read cheaper than the core objects, and are refreshed with the
 * changes.
 */
export type SavedRows = {
  /** The rows contain all writes before this time, by the store's clock in seconds since 1970. */
  readonly completeUntilS: number
  /** Live objects. */
  readonly objectCount: number
  /** The fingerprint of the types by which the rows were read: what does not read as its type is not saved. */
  readonly types: string
  /** As in `KeptDeletions`. Undefined for rows of a former release, which expire within a day. */
  readonly connectors: string | undefined
  /** The rows as text: see `RowBlockReader`. @throws UnusableRows when they are damaged */
  blocks(): AsyncIterable<string>
}

/** Rows to be saved, with how long deletions are kept. */
export type RowsToSave = Omit<SavedRows, 'connectors'> & { readonly deletions: KeptDeletions }

/** Saved rows cannot be used: they are damaged, or of another version of the service. */
export class UnusableRows extends Error {}

/** What is stored for a tenant. `rows` is undefined for rows that cannot be used and may be replaced. */
type StoredRows = { readonly version: string; readonly rows: SavedRows | undefined }

/**
 * Saved rows expire before a deletion that they do not contain can no longer be read as a change: two hours before the
 * time for which deleted objects are kept, and within eight days. The weekly evaluation of a tenant that is not in use
 * finds them.
 */
export interface SavedRowsStore {
  /** Undefined when nothing is stored, or when it has expired. */
  find(tenantId: string): Promise<StoredRows | undefined>
  /**
   * Claims to be the only writer, and keeps others from writing for some minutes. Undefined while another one has the
   * claim.
   */
  claim(tenantId: string): Promise<RowsClaim | undefined>
}

type RowsClaim = {
  /** The time of the claim by the store's clock, in seconds since 1970. */
  readonly claimedAtS: number
  /**
   * Replaces the rows. Readers find the former ones until all is written.
   * @param version What it replaces; undefined when nothing was stored.
   * @returns The new version. Undefined when the rows were replaced in the meantime, or when writing them took too
   * long.
   */
  replace(rows: RowsToSave, version: string | undefined): Promise<string | undefined>
}

/** Reading fewer objects costs less than to save them once a day. */
const OBJECTS_AT_LEAST_COUNT = 500

/** Rows with as many changes are saved again, and those of a larger tenant with as many as this part of its objects. */
const CHANGES_AT_LEAST_COUNT = 100
const OBJECTS_PER_CHANGE_COUNT = 50

/** Saved rows can expire after 22 hours. A tenant in use is saved before. */
const SAVED_AGAIN_AFTER_S = 20 * 60 * 60

/** What an instance knows of a tenant's saved rows. */
export type SavedState = {
  readonly version: string | undefined
  /** Undefined without rows that can be used. */
  readonly completeUntilS: number | undefined
  /** Objects that have changed since. */
  readonly changedCount: number
}

/** Whether the rows are worth saving, or saving again, so that the next instance to load them reads less. */
export function isSaveDue(
  { completeUntilS, changedCount }: Omit<SavedState, 'version'>,
  objectCount: number,
  nowS: number,
): boolean {
  if (objectCount < OBJECTS_AT_LEAST_COUNT) return false
  if (completeUntilS === undefined || nowS - completeUntilS > SAVED_AGAIN_AFTER_S) return true
  return changedCount > Math.max(CHANGES_AT_LEAST_COUNT, objectCount / OBJECTS_PER_CHANGE_COUNT)
}
