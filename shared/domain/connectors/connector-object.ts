import { type Static, Type } from 'typebox'
import { Closed, Guid, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import type { Page, Versioned } from '../../kernel/versioned.ts'
import { ATTRIBUTES, type AttributeDefinition, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'

export const ObjectTypeName = OneOf(OBJECT_TYPES)

/** Characters of an external id, wherever it is given. */
export const EXTERNAL_ID_LIMIT_COUNT = 500

/**
 * How a connector names an object within its own space. Control characters have no place in a name, nor have halves of
 * surrogate pairs, which no path can carry.
 */
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: EXTERNAL_ID_LIMIT_COUNT,
  pattern: '^[^\\u0000-\\u001f\\u007f\\p{Cs}]+$',
})

/** A reference as a connector gives it: to an object of the same connector. */
type ExternalReference = { readonly externalId: string }

export type DataValue = string | boolean | readonly string[] | ExternalReference | readonly ExternalReference[]

/** What a connector says of an object: attributes by name, checked and in their stored form. */
export type ObjectData = Readonly<Record<string, DataValue>>

/** An object as one connector knows it. */
export type ConnectorObject = {
  /** Derived from connector, type and external id, so that the store keeps the three unique. */
  readonly id: string
  readonly connectorId: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data: ObjectData
  readonly coreObjectId: string
  /** To which it belonged before, the latest first, as far as that is remembered; absent when it never came to another. */
  readonly formerCoreObjectIds?: readonly string[]
  /** The ids of the connector objects that the references name, by attribute, whether or not these exist. */
  readonly references: ReferenceIds
  /** Since when it is soft-deleted; absent for a live object. */
  readonly deletedAtMs?: number
}

export type ReferenceIds = Readonly<Record<string, string | readonly string[]>>

/** As kept, with the store's own time of the last write in seconds since 1970. */
export type StoredConnectorObject = ConnectorObject & { readonly lastUpdatedS: number }

export const ConnectorObjectDto = Closed({
  id: Guid,
  externalId: ExternalId,
  objectType: ObjectTypeName,
  data: Type.Record(Type.String(), Type.Unknown()),
  coreObjectId: Guid,
  lastUpdated: Type.Optional(Timestamp),
})
export type ConnectorObjectDto = Static<typeof ConnectorObjectDto>

/** As answered. */
export function toConnectorObjectDto(object: StoredConnectorObject): ConnectorObjectDto {
  const { id, externalId, objectType, data, coreObjectId, lastUpdatedS } = object
  return { id, externalId, objectType, data, coreObjectId, lastUpdated: toSecondsTimestamp(lastUpdatedS) }
}

/** Makes a GUID from a list of texts: the same for the same list, another for any other. */
export type DeriveId = (...parts: string[]) => string

/** The names of an object within its tenant. */
export type ObjectNames = Pick<ConnectorObject, 'connectorId' | 'objectType' | 'externalId'>

/** Derived from its names: of two that create it at once, the store lets one. */
export function connectorObjectId({ connectorId, objectType, externalId }: ObjectNames, derive: DeriveId): string {
  return derive('connector object', connectorId, objectType, externalId)
}

/** The core object that an object makes when it joins none. */
export function ownCoreObjectId(connectorObjectId: string, derive: DeriveId): string {
  return derive('core object', connectorObjectId)
}

/** The ids of the connector objects to which `data` refers. */
export function referenceIds(
  { connectorId, objectType }: Pick<ObjectNames, 'connectorId' | 'objectType'>,
  data: ObjectData,
  derive: DeriveId,
): ReferenceIds {
  const ids: Record<string, string | string[]> = {}
  for (const { name, to } of REFERENCES.filter((reference) => reference.of === objectType)) {
    const value = data[name] as ExternalReference | readonly ExternalReference[] | undefined
    if (value === undefined) continue
    const idOf = ({ externalId }: ExternalReference) =>
      connectorObjectId({ connectorId, objectType: to, externalId }, derive)
    ids[name] = 'externalId' in value ? idOf(value) : value.map(idOf)
  }
  return ids
}

/** Every attribute that refers to other objects: of which type, to which, and whether to several. */
export const REFERENCES = OBJECT_TYPES.flatMap((of) =>
  Object.entries<AttributeDefinition>(ATTRIBUTES[of]).flatMap(([name, { kind, to }]) =>
    to === undefined ? [] : [{ of, name, to, isList: kind === 'references' }],
  ),
)

/** What others need to know of an object in order to refer to it. */
export type ReferenceTarget = {
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
  /** Those that exist, soft-deleted ones too. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<Versioned<StoredConnectorObject>[]>
  /** The same, as far as needed to refer to them. */
  referenceTargets(tenantId: string, ids: readonly string[]): Promise<ReferenceTarget[]>
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
