import { type Static, Type } from 'typebox'
import { Closed, Guid, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toSecondsTimestamp } from '../../kernel/timestamp.ts'
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

/**
 * Why no object gets the name; undefined for others. Dot segments are removed from a URL path, also percent-encoded ones.
 * Earlier releases have stored them.
 */
export function dotSegmentFault(externalId: string): string | undefined {
  return externalId === '.' || externalId === '..'
    ? `A URL path cannot contain the external id ${externalId}`
    : undefined
}

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
   * Of an identity with `conflictKeys`: the live one of its connector that had its join keys when it was created. Absent
   * when there was none or several, when the deletion of that one has seen this one, and after a time without conflicts.
   */
  readonly createdBesideId?: string
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

/**
 * A connector object as read, with the store's time of the last write in seconds since 1970, and that of the end of one
 * that is soft-deleted.
 */
export type StoredConnectorObject = ConnectorObject & { readonly lastUpdatedS: number; readonly expiresAtS?: number }

/**
 * The seconds for which a soft-deleted object is still kept: they count from its deletion, not from later writes of the
 * object. Undefined for a live one.
 */
export function keptForS({ expiresAtS }: StoredConnectorObject, nowMs: number): number | undefined {
  return expiresAtS === undefined ? undefined : Math.max(1, expiresAtS - Math.floor(nowMs / 1000))
}

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
