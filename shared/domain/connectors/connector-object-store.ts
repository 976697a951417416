import type { ObjectType } from '../core/core-object.ts'
import type { Page, Versioned } from '../versioned.ts'
import type { ConnectorObject, StoredConnectorObject } from './connector-object.ts'

/** What others need to know of an object in order to refer to it. */
export type Standing = {
  readonly id: string
  readonly coreObjectId: string
  readonly isLive: boolean
  /** The org unit above it, as named: it need not exist. */
  readonly parentId: string | undefined
}

/** A write of a connector object, with the version it replaces; without one it must be new. */
export type ConnectorObjectWrite = { readonly object: ConnectorObject; readonly version: string | undefined }

/** Whose objects are written. */
type Space = {
  readonly tenantId: string
  readonly connectorId: string
  /** How long soft-deleted objects stay. */
  readonly softDeletionDays: number
}

/**
 * The connector spaces of each tenant. Soft-deleted objects are kept until their time is over. A space takes writes from
 * being opened to being closed, and is closed once: nothing is ever written to it again.
 */
export interface ConnectorObjectStore {
  /** Reads that begin after this see all that any instance had written before. Others may see less. */
  catchUp(tenantId: string): Promise<void>
  /** Those that exist, soft-deleted ones too. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<Versioned<StoredConnectorObject>[]>
  /** The same, as far as needed to refer to them. */
  standings(tenantId: string, ids: readonly string[]): Promise<Standing[]>
  /** Every object that contributes to one of these core objects, or did before it was soft-deleted. */
  ofCoreObjects(tenantId: string, coreObjectIds: readonly string[]): Promise<Versioned<StoredConnectorObject>[]>
  /** Live identities with one of these national identity numbers or one of these directory object ids. */
  identitiesByKeys(
    tenantId: string,
    nins: readonly string[],
    directoryObjectIds: readonly string[],
  ): Promise<Versioned<StoredConnectorObject>[]>
  /** The core objects of the live objects that refer to one of these objects, which are all of one type. */
  coreObjectsReferringTo(tenantId: string, objectType: ObjectType, ids: readonly string[]): Promise<string[]>
  /** Opens a space, if it is not. @returns False when it has been closed. */
  open(tenantId: string, connectorId: string): Promise<boolean>
  /** The version of an open space: every write to it makes another. Undefined before it is opened and when it is closed. */
  version(tenantId: string, connectorId: string): Promise<string | undefined>
  /** @throws Refusal `StaleVersion` when anything was written since `version` was read. */
  close(tenantId: string, connectorId: string, version: string): Promise<void>
  /**
   * Writes all, expecting the quoted versions and an open space.
   * @returns The ids of those that were not written because someone else had changed them or their neighbours.
   */
  write(space: Space, writes: readonly ConnectorObjectWrite[]): Promise<ReadonlySet<string>>
  /** The version of a connector's org tree. Undefined before its first change. */
  treeVersion(tenantId: string, connectorId: string): Promise<string | undefined>
  /**
   * Writes what changes the org tree, in order, until one was overtaken: also by whoever has changed the tree since
   * `version` was read.
   * @returns The ids of those that were not written.
   */
  writeTree(
    space: Space,
    writes: readonly ConnectorObjectWrite[],
    version: string | undefined,
  ): Promise<ReadonlySet<string>>
  /** Live objects of a connector in the order of ids. */
  page(
    tenantId: string,
    connectorId: string,
    objectType: ObjectType | undefined,
    after: string | undefined,
    size: number,
  ): Promise<Page<StoredConnectorObject>>
  hasLive(tenantId: string, connectorId: string): Promise<boolean>
}
