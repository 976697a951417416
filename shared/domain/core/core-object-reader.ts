import type { Page } from '../versioned.ts'
import type { CoreObject, ObjectType } from './core-object.ts'

/** Whom and where a relationship joins; undefined while that end is unknown. */
export type RelationshipEnds = {
  readonly id: string
  readonly identityId: string | undefined
  readonly orgUnitId: string | undefined
}

/** Reads a tenant's live core objects: soft-deleted ones are never found. */
export interface CoreObjectReader {
  /** Those that exist, in any order. */
  ofIds(tenantId: string, objectType: ObjectType, ids: readonly string[]): Promise<CoreObject[]>
  /** In the order of ids. */
  page(tenantId: string, objectType: ObjectType, after: string | undefined, size: number): Promise<Page<CoreObject>>
  /** The relationships that one of these objects has, by id. */
  relationshipsOf(tenantId: string, end: 'identity' | 'orgUnit', ids: readonly string[]): Promise<CoreObject[]>
  /** The same, only what they join: for many of them. In any order. */
  relationshipEnds(tenantId: string, end: 'identity' | 'orgUnit', ids: readonly string[]): Promise<RelationshipEnds[]>
  /** The identity of a directory account; the one with the lowest id if there are several. */
  identityOfAccount(tenantId: string, directoryObjectId: string): Promise<string | undefined>
  /** Ids of the org units that an identity manages or is deputy of. */
  unitsLedBy(tenantId: string, identityId: string): Promise<string[]>
  /** Ids of the org units directly below these. */
  unitsBelow(tenantId: string, orgUnitIds: readonly string[]): Promise<string[]>
  /**
   * The first `limit` of what matches the text by the statement's table of searchable attributes, by display name or
   * title, then id; those without one last.
   * @param among Only objects with these ids; undefined for all.
   */
  search(
    tenantId: string,
    objectType: ObjectType,
    text: string,
    among: ReadonlySet<string> | undefined,
    limit: number,
  ): Promise<CoreObject[]>
}
