import { type Static, Type } from 'typebox'
import { Closed, Guid, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import type { Page, Versioned } from '../../kernel/versioned.ts'
import { ATTRIBUTES, type AttributeDefinition, OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { asTyped, type CustomTypes } from '../core/custom-types.ts'

export const ObjectTypeName = OneOf(OBJECT_TYPES)

/** Maximum length of an external id in characters. */
export const EXTERNAL_ID_LIMIT_COUNT = 500

/**
 * The name of an object within its connector space. Control characters and unpaired surrogates, which a URL path cannot
 * carry, are not allowed.
 */
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: EXTERNAL_ID_LIMIT_COUNT,
  pattern: '^[^\\u0000-\\u001f\\u007f\\p{Cs}]+$',
})

/** A reference as a connector sends it, to an object of the same connector. */
type ExternalReference = { readonly externalId: string }

export type DataValue = string | boolean | readonly string[] | ExternalReference | readonly ExternalReference[]

/** The attributes of a connector object by name, validated and in their stored form. */
export type ObjectData = Readonly<Record<string, DataValue>>

/** An identity that moved to another core object, with its core objects: the one after the move first. */
export type MovedIdentity = { readonly id: string; readonly coreObjectIds: readonly string[] }

/** An object in a connector space. */
export type ConnectorObject = {
  /** Derived from connector, type and external id, so that the store enforces their uniqueness. */
  readonly id: string
  readonly connectorId: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data: ObjectData
  readonly coreObjectId: string
  /** Former core objects, latest first, up to a limit; absent when the object was never assigned to another. */
  readonly formerCoreObjectIds?: readonly string[]
  /** Other identities that writes of this one have moved, the last ones; absent when there are none. */
  readonly movedIdentities?: readonly MovedIdentity[]
  /** Ids of the connector objects that the references name, by attribute, whether or not these exist. */
  readonly references: ReferenceIds
  /** Of an identity: folded values of the tenant's join keys, those excepted by which the data are looked up as sent. */
  readonly foldedKeys?: Readonly<Record<string, string>>
  /** Of an identity: join keys that others share without being one person with it, `<key> <value>`, in their order. */
  readonly conflictKeys?: readonly string[]
  /**
   * Set in an identity that was assigned while its connector supplemented others: it does not take a core object from
   * those who carried it, when the authority of its connector goes up.
   */
  readonly supplements?: true
  /** Of a deleted identity: the core object of the same person, who has another external id in its connector. */
  readonly continuedIn?: string
  /** Ids that the object had under former external ids; absent when it was never renamed. */
  readonly formerIds?: readonly string[]
  /**
   * In what is left under a former external id: the id of the renamed object. The name is free: an object that gets it
   * has the core object that is named here.
   */
  readonly renamedTo?: string
  /** Time of the first write; absent for an object that a version without this attribute wrote first. */
  readonly createdAtMs?: number
  /** Time of the soft deletion; absent for a live object. */
  readonly deletedAtMs?: number
}

export type ReferenceIds = Readonly<Record<string, string | readonly string[]>>

/** A connector object as read, with the store's time of the last write in seconds since 1970. */
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

/** @param types Of the tenant's custom attributes. */
export function toConnectorObjectDto(object: StoredConnectorObject, types: CustomTypes): ConnectorObjectDto {
  const { id, externalId, objectType, coreObjectId, lastUpdatedS } = object
  const data = asTyped(objectType, object.data, types)
  return { id, externalId, objectType, data, coreObjectId, lastUpdated: toSecondsTimestamp(lastUpdatedS) }
}

/** Derives a GUID from a list of texts. Equal lists give equal GUIDs, different lists give different ones. */
export type DeriveId = (...parts: string[]) => string

/** The members that identify an object within its tenant. */
export type ObjectNames = Pick<ConnectorObject, 'connectorId' | 'objectType' | 'externalId'>

/** Derives the id of a connector object, so that of two concurrent creations the store accepts one. */
export function connectorObjectId({ connectorId, objectType, externalId }: ObjectNames, derive: DeriveId): string {
  return derive('connector object', connectorId, objectType, externalId)
}

/** Derives the id of the core object of an object that joins no other. */
export function ownCoreObjectId(connectorObjectId: string, derive: DeriveId): string {
  return derive('core object', connectorObjectId)
}

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

/** All reference attributes: the type that has the attribute, the type it refers to, and whether it holds a list. */
export const REFERENCES = OBJECT_TYPES.flatMap((of) =>
  Object.entries<AttributeDefinition>(ATTRIBUTES[of]).flatMap(([name, { kind, to }]) =>
    to === undefined ? [] : [{ of, name, to, isList: kind === 'references' }],
  ),
)

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
 * objects of the connector, 0 by default.
 */
export type ConnectorObjectWrite = {
  readonly object: ConnectorObject
  readonly version: string | undefined
  readonly formerName?: { readonly object: ConnectorObject; readonly version: string }
  readonly liveDifference?: number
}

/** Live objects of a connector by type, and its references that lead to no object. */
export type SpaceCounts = Readonly<Record<ObjectType, number>> & { readonly unresolved: number }

/** What connectors have delivered, by their ids. */
export type TenantDeliveries = {
  /** When each last sent data, in seconds since 1970. Writes and recorded deliveries count. */
  readonly lastS: ReadonlyMap<string, number>
  /** The counts that are known. */
  readonly counts: ReadonlyMap<string, SpaceCounts>
}

/** The connector space to write to. */
type Space = {
  readonly tenantId: string
  readonly connectorId: string
  /** Days for which soft-deleted objects are kept. */
  readonly softDeletionDays: number
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

/**
 * The spaces of connectors, and what was delivered to them. A space accepts writes after it is opened and until it is
 * closed. A closed space cannot be opened again.
 */
export interface ConnectorSpaces {
  /** Opens a space unless it is open. @returns False when the space is closed. */
  open(tenantId: string, connectorId: string): Promise<boolean>
  /** Returns the version of an open space, which changes with every write; undefined when the space is not open. */
  version(tenantId: string, connectorId: string): Promise<string | undefined>
  /** Closes a space. @throws Refusal `StaleVersion` when the space was written after `version` was read. */
  close(tenantId: string, connectorId: string, version: string): Promise<void>
  /** Records that a connector has sent data, without changing any. Does nothing for a space that is not open. */
  recordDelivery(tenantId: string, connectorId: string): Promise<void>
  /** Returns what the connectors of a tenant have delivered. */
  deliveries(tenantId: string): Promise<TenantDeliveries>
  /** Returns the version of a connector's org tree; undefined before its first change. */
  treeVersion(tenantId: string, connectorId: string): Promise<string | undefined>
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
