import { type Static, Type } from 'typebox'
import { Closed, Guid, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
import { ATTRIBUTES, type AttributeDefinition } from '../core/attributes.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'

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

export const ConnectorObjectRecord = Closed({
  id: Guid,
  externalId: ExternalId,
  objectType: ObjectTypeName,
  data: Type.Record(Type.String(), Type.Unknown()),
  coreObjectId: Guid,
  lastUpdated: Type.Optional(Timestamp),
})
export type ConnectorObjectRecord = Static<typeof ConnectorObjectRecord>

/** As answered. */
export function toConnectorObjectRecord(object: StoredConnectorObject): ConnectorObjectRecord {
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
