import type { Page } from '../../kernel/versioned.ts'
import type { CoreObject, ObjectType } from './core-object.ts'

/** The set of objects of one type that a search is restricted to. */
export type SearchScope = {
  readonly count: number
  has(id: string): boolean
  /** Whether an object in it may be found by its national identity number: a match tells the number. */
  isFoundByNin(object: CoreObject): boolean
  /** All ids in ascending order. */
  ids(): readonly string[]
}

/** Attributes by whose absence lists can be narrowed: accounts of identities, holders of relationships. */
export type MissingAttribute = 'directoryObjectId' | 'identity'

/** Reads a tenant's live core objects. Soft-deleted objects are never returned. */
export interface CoreObjectReader {
  /** An object that exists. That there is none includes all earlier writes of all instances. */
  find(tenantId: string, objectType: ObjectType, id: string): Promise<CoreObject | undefined>
  /** Returns the objects that exist, ordered by id. */
  ofIds(tenantId: string, objectType: ObjectType, ids: readonly string[]): Promise<CoreObject[]>
  /** Returns a page of objects, ordered by id. @param missing Only objects without this attribute. */
  page(
    tenantId: string,
    objectType: ObjectType,
    after: string | undefined,
    size: number,
    missing?: MissingAttribute,
  ): Promise<Page<CoreObject>>
  /** Returns the relationships of these objects, ordered by id. */
  relationshipsOf(tenantId: string, end: 'identity' | 'orgUnit', ids: readonly string[]): Promise<CoreObject[]>
  /**
   * Returns the first `limit` matches by the searchable attributes, ordered by display name or title, then id. Objects
   * without a name come last.
   * @param among Restricts the search to these objects; undefined for all.
   */
  search(
    tenantId: string,
    objectType: ObjectType,
    text: string,
    among: SearchScope | undefined,
    limit: number,
  ): Promise<CoreObject[]>
}

/** A soft-deleted core object with its last attributes. */
export type DeletedCoreObject = CoreObject & {
  /** The core object that its contributors belong to now; absent when the contributors were deleted. */
  readonly mergedInto?: string
  /** The time until which it can be restored. */
  readonly expiresAtMs?: number
}

/** A soft-deleted core object whose contributors belong to another one now. */
export type MergedAway = Required<Pick<DeletedCoreObject, 'id' | 'mergedInto'>>

/** Reads soft-deleted core objects. */
export interface DeletedCoreObjects {
  /** Returns the objects that are soft-deleted and not yet expired, in any order, as of all earlier writes. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<DeletedCoreObject[]>
  /** Returns those that were merged into one of these objects, and have not yet expired. */
  mergedInto(tenantId: string, ids: readonly string[]): Promise<MergedAway[]>
}

/** A change of the directory account of an identity, or of a relationship whose holder changed. */
export type AccountChange = {
  readonly id: string
  readonly objectType: ObjectType
  /** By the clock of the process that merged the object, shortly before the change could be read. */
  readonly changedAtMs: number
}

/** Reads account changes, those of soft-deleted objects included: for each core object, the last one. */
export interface AccountChangeStore {
  /** Returns all changes at or after this time. */
  since(tenantId: string, sinceMs: number): Promise<readonly AccountChange[]>
  /** Returns the changes of these objects at or after this time. */
  amongSince(tenantId: string, ids: readonly string[], sinceMs: number): Promise<readonly AccountChange[]>
}

/**
 * An account change has its time from another instance's clock, before it is written. Who began to read within this time
 * after it may have missed the change.
 */
export const ACCOUNT_CHANGE_DELAY_MS = 5 * 60 * 1000
