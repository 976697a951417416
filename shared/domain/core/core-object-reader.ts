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
