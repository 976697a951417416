import { type TObject, Type } from 'typebox'
import { ObjectTypeName } from '../../domain/connectors/connector-object.ts'
import type { MergedCoreObject } from '../../domain/connectors/merged-core-object.ts'
import type { CoreObject } from '../../domain/core/core-object.ts'
import { documentParser, StoredAttributes } from '../document-parser.ts'
import type { Stored } from '../documents.ts'

export type CoreObjectDocument = Stored<
  MergedCoreObject & { readonly tenantId: string; readonly ttl?: number; readonly unresolvedIn?: string }
>

/** Returns the merged object of a stored document. */
export const parseCoreObject = documentParser<TObject, MergedCoreObject>(
  'core object',
  Type.Object({
    id: Type.String(),
    objectType: ObjectTypeName,
    externalId: Type.String(),
    attributes: StoredAttributes,
    contributors: Type.Array(Type.String()),
    deleted: Type.Boolean(),
    accountChangedAtMs: Type.Optional(Type.Number()),
    claimedAccount: Type.Optional(Type.String()),
    accountSinceMs: Type.Optional(Type.Number()),
    mergedInto: Type.Optional(Type.String()),
    restored: Type.Optional(Type.Literal(true)),
    /** Not checked each, as attributes are not. */
    unresolved: Type.Optional(Type.Array(Type.Object({}))),
    changes: Type.Optional(Type.Array(Type.Object({}))),
  }),
)

/** Returns what a reader of core objects gets of a stored document. */
export function coreObject(document: CoreObjectDocument): CoreObject {
  const { id, objectType, externalId, attributes, deleted } = parseCoreObject(document)
  return { id, objectType, externalId, attributes, deleted, lastUpdatedS: document._ts }
}
