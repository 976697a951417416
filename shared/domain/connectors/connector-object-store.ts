import type { Page, Versioned } from '../../kernel/versioned.ts'
import type { ObjectType } from '../core/core-object.ts'
import type { ConnectorObject, StoredConnectorObject } from './connector-object.ts'
import type { ConnectorSpaces } from './connector-spaces.ts'

/** The members of a connector object that references to it need. */
export type ReferenceTarget = {
  readonly id: string
  readonly coreObjectId: string
  readonly isLive: boolean
  /** The parent that an org unit names, which need not exist. */
  readonly parentId: string | undefined
  /** The id of the object that had this name and has another one now. */
  readonly renamedTo?: string | undefined
}

/** What is known of an identity that shares a join key with others. */
export type ConflictingIdentity = Pick<ConnectorObject, 'connectorId' | 'coreObjectId'> & {
  readonly conflictKeys: readonly string[]
}

/** What says who an identity is: the data are those of the join keys and of the account. */
export type JoiningIdentity = Pick<ConnectorObject, 'id' | 'connectorId' | 'coreObjectId' | 'data'>

/**
 * A write of a connector object, with the version it replaces. Without a version, the object must be new. What it leaves
 * under its former name is written in the same transaction, and the difference that both make to the number of live
 * objects of the connector, 0 by default. A soft-deleted object is kept for `keptS` from now, by default for
 * `softDeletionDays`.
 */
export type ConnectorObjectWrite = {
  readonly object: ConnectorObject
  readonly version: string | undefined
  readonly formerName?: FormerNameWrite
  readonly liveDifference?: number
  readonly keptS?: number
}

/** What an object leaves under its former name, and under the one before that. */
export type FormerNameWrite = {
  readonly object: ConnectorObject
  readonly version: string
  readonly formerName?: FormerNameWrite
}

/** The connector space to write to. */
type Space = {
  readonly tenantId: string
  readonly connectorId: string
  /** Days for which soft-deleted objects are kept. */
  readonly softDeletionDays: number
  /** Whether the connector has sent what is written. Other writes leave the time of its last delivery as it is. */
  readonly isDelivery: boolean
}

/** Finds connector objects, for decisions on writes and for merges. */
export interface ConnectorObjectLookup {
  /** Returns the objects that exist, soft-deleted ones included. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<Versioned<StoredConnectorObject>[]>
  /** Returns the reference targets that exist, soft-deleted ones included. */
  referenceTargets(tenantId: string, ids: readonly string[]): Promise<ReferenceTarget[]>
  /** Returns the objects that contribute to one of these core objects, or did before they were soft-deleted. */
  ofCoreObjects(tenantId: string, coreObjectIds: readonly string[]): Promise<Versioned<StoredConnectorObject>[]>
  /** Returns identities with one of these folded values of a join key, by key, soft-deleted ones included. */
  identitiesByKeys(
    tenantId: string,
    values: ReadonlyMap<string, readonly string[]>,
  ): Promise<Versioned<StoredConnectorObject>[]>
  /** Returns the core object ids of the live objects that refer to one of these objects, all of the given type. */
  coreObjectsReferringTo(tenantId: string, objectType: ObjectType, ids: readonly string[]): Promise<string[]>
  /** Returns the live objects that refer to one of these objects, all of the given type. */
  referringTo(
    tenantId: string,
    objectType: ObjectType,
    ids: readonly string[],
  ): Promise<Versioned<StoredConnectorObject>[]>
}

/** The objects of a connector or a tenant as a whole. */
export interface ConnectorObjectLists {
  /** Returns the core object ids of the next `size` live objects, in ascending order. An id can occur several times. */
  coreObjectIds(tenantId: string, after: string | undefined, size: number): Promise<string[]>
  /** Returns those of the next `size` identities, soft-deleted ones included, in the same way. */
  coreObjectIdsOfIdentities(tenantId: string, after: string | undefined, size: number): Promise<string[]>
  /** Returns the live identities with `conflictKeys`. */
  conflicting(tenantId: string): Promise<ConflictingIdentity[]>
  /** Returns all live identities with their join keys. */
  joiningIdentities(tenantId: string, joinKeys: readonly string[]): AsyncIterable<readonly JoiningIdentity[]>
  /** Returns live objects of a connector, ordered by id. */
  page(
    tenantId: string,
    connectorId: string,
    objectType: ObjectType | undefined,
    after: string | undefined,
    size: number,
  ): Promise<Page<StoredConnectorObject>>
  /** The number of stored objects of all connectors, including soft-deleted ones. */
  count(tenantId: string): Promise<number>
  /** Whether the connector has live objects. */
  hasLive(tenantId: string, connectorId: string): Promise<boolean>
}

/** Writes connector objects. Soft-deleted ones are kept for `softDeletionDays`. */
export interface ConnectorObjectWriter {
  /**
   * Writes all objects on the condition of the quoted versions and an open space.
   * @returns The ids of the objects that were not written because they, or objects of the same transaction, had
   * changed.
   */
  write(space: Space, writes: readonly ConnectorObjectWrite[]): Promise<ReadonlySet<string>>
  /**
   * Writes changes of the org tree in order, up to the first conflict. A concurrent change of the tree since `version`
   * was read is a conflict.
   * @returns The ids of the objects that were not written.
   */
  writeTree(
    space: Space,
    writes: readonly ConnectorObjectWrite[],
    version: string | undefined,
  ): Promise<ReadonlySet<string>>
}

export type ConnectorObjectStore = ConnectorObjectLookup &
  ConnectorObjectLists &
  ConnectorSpaces &
  ConnectorObjectWriter
