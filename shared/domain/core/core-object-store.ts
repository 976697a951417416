import type { Page } from '../../kernel/versioned.ts'
import type { CoreObject, ObjectType } from './core-object.ts'

/** Objects of one type that a search keeps to. */
export type SearchScope = {
  readonly count: number
  has(id: string): boolean
  /** All of them, ascending. */
  ids(): readonly string[]
}

/** Reads a tenant's live core objects: soft-deleted ones are never found. */
export interface CoreObjectReader {
  /** Those that exist, in the order of ids. */
  ofIds(tenantId: string, objectType: ObjectType, ids: readonly string[]): Promise<CoreObject[]>
  /** In the order of ids. */
  page(tenantId: string, objectType: ObjectType, after: string | undefined, size: number): Promise<Page<CoreObject>>
  /** The relationships that one of these objects has, in the order of ids. */
  relationshipsOf(tenantId: string, end: 'identity' | 'orgUnit', ids: readonly string[]): Promise<CoreObject[]>
  /**
   * The first `limit` of what matches the text by the statement's table of searchable attributes, by display name or
   * title, then id; those without one last.
   * @param among Only these objects; undefined for all.
   */
  search(
    tenantId: string,
    objectType: ObjectType,
    text: string,
    among: SearchScope | undefined,
    limit: number,
  ): Promise<CoreObject[]>
}

/** Core objects that are soft-deleted, as they were last. */
export interface DeletedCoreObjects {
  /** Those of the ids that are soft-deleted and still remembered, in any order. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<CoreObject[]>
}

/** That another directory account stands behind a core object than before: an identity, or the position that it holds. */
export type AccountChange = {
  readonly id: string
  readonly objectType: ObjectType
  /** By the clock of whoever merged the object, shortly before the change could be read. */
  readonly movedAtMs: number
}

/** Which core objects changed accounts, soft-deleted ones included; each with the last time that it did. */
export interface AccountChangeStore {
  /** All that did at this time or later. */
  since(tenantId: string, sinceMs: number): Promise<readonly AccountChange[]>
  /** Those of the ids that did. */
  amongSince(tenantId: string, ids: readonly string[], sinceMs: number): Promise<readonly AccountChange[]>
}

/**
 * How long a change of account is looked for. Whole groups are compared every hour, which finds what is older; this
 * leaves room for one sweep that was missed.
 */
export const ACCOUNT_CHANGE_WINDOW_MS = 2 * 60 * 60 * 1000
