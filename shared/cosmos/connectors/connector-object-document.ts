import { type TObject, Type } from 'typebox'
import {
  type ConnectorObject,
  ObjectTypeName,
  type StoredConnectorObject,
} from '../../domain/connectors/connector-object.ts'
import type { ConnectorObjectWrite, ReferenceTarget } from '../../domain/connectors/connector-object-store.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { documentParser, StoredAttributes } from '../document-parser.ts'
import type { Stored } from '../documents.ts'
import type { VersionedWrite } from '../versioned-writes.ts'

/** A connector object as stored. Container `connectorObjects`. */
export type ConnectorObjectDocument = ConnectorObject & {
  readonly tenantId: string
  readonly ttl?: number
  /** Set in one with `conflictKeys`. */
  readonly hasConflicts?: true
}

const DAY_S = 24 * 60 * 60

const Strings = Type.Array(Type.String())

const parse = documentParser<TObject, ConnectorObject>(
  'connector object',
  Type.Object({
    id: Type.String(),
    connectorId: Type.String(),
    objectType: ObjectTypeName,
    externalId: Type.String(),
    data: StoredAttributes,
    coreObjectId: Type.String(),
    formerCoreObjectIds: Type.Optional(Strings),
    movedIdentities: Type.Optional(Type.Array(Type.Object({ id: Type.String(), coreObjectIds: Strings }))),
    references: Type.Record(Type.String(), Type.Union([Type.String(), Strings])),
    continuedIn: Type.Optional(Type.String()),
    foldedKeys: Type.Optional(Type.Record(Type.String(), Type.String())),
    conflictKeys: Type.Optional(Strings),
    createdBesideId: Type.Optional(Type.String()),
    supplements: Type.Optional(Type.Literal(true)),
    formerIds: Type.Optional(Strings),
    renamedTo: Type.Optional(Type.String()),
    createdAtMs: Type.Optional(Type.Number()),
    deletedAtMs: Type.Optional(Type.Number()),
  }),
)

/** The members of a document that a reference to it needs. */
export const parseTargetRow = documentParser(
  'reference target',
  Type.Object({
    id: Type.String(),
    coreObjectId: Type.String(),
    deletedAtMs: Type.Optional(Type.Number()),
    renamedTo: Type.Optional(Type.String()),
    parent: Type.Optional(Type.String()),
  }),
)

type ReferenceTargetRow = Omit<ReturnType<typeof parseTargetRow>, 'parent'> & { readonly parent?: string | undefined }

export function referenceTarget({ deletedAtMs, parent: parentId, ...row }: ReferenceTargetRow): ReferenceTarget {
  const { id, coreObjectId, renamedTo } = row
  return { id, coreObjectId, isLive: deletedAtMs === undefined, parentId, renamedTo }
}

/** The write of a document, and of what the object leaves under its former name. */
export function documentWrite(
  tenantId: string,
  { object, version, formerName, keptS }: ConnectorObjectWrite,
  softDeletionDays: number,
): VersionedWrite {
  // What is left under a former name stays for as long as the core object that is derived from it can exist.
  const expires = object.deletedAtMs !== undefined && object.renamedTo === undefined
  const isConflict = object.conflictKeys !== undefined
  const marks = { tenantId, ...(isConflict && { hasConflicts: true as const }) }
  const document: ConnectorObjectDocument = {
    ...parse(object),
    ...marks,
    ...(expires && { ttl: keptS ?? softDeletionDays * DAY_S }),
  }
  return {
    document: document as unknown as VersionedWrite['document'],
    version,
    ...(formerName && { companion: documentWrite(tenantId, formerName, softDeletionDays) }),
  }
}

/** A stored object with the version that its next write must quote. */
export function versionedObject(document: Stored<ConnectorObjectDocument>): Versioned<StoredConnectorObject> {
  return { value: storedObject(document), version: document._etag }
}

/** @throws Error when the document is no connector object. */
export function storedObject(document: Stored<ConnectorObjectDocument>): StoredConnectorObject {
  const { _ts: lastUpdatedS, ttl } = document
  return { ...parse(document), lastUpdatedS, ...(ttl !== undefined && { expiresAtS: lastUpdatedS + ttl }) }
}

const SENT_KEYS: Readonly<Record<string, readonly string[]>> = {
  // Folded where it was sent in another form.
  nin: ['c.data.nin', 'c.foldedKeys.nin'],
  directoryObjectId: ['c.data.directoryObjectId'],
}

/** The members of a document by which identities with a join key are found. */
export const joinKeyProperties = (key: string): readonly string[] =>
  SENT_KEYS[key] ?? [key.includes('/') ? `c.foldedKeys[${JSON.stringify(key)}]` : `c.foldedKeys.${key}`]

/** A `nin` with capitals that a version before folded ones were stored has written. */
export const storedForms = (key: string, values: readonly string[]): string[] =>
  key === 'nin' ? [...new Set(values.flatMap((value) => [value, value.toUpperCase()]))] : [...values]
