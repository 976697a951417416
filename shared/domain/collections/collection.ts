import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { RowObjectType } from '../criteria/collection-members.ts'

/** Criteria collections fill themselves by a condition, joinable ones by request and approval. */
export type CollectionKind = 'criteria' | 'joinable'

/** Decisions, section 6. `User` and `Group` are known, and refused until directory objects are read in. */
const OBJECT_TYPES = ['Identity', 'Relationship', 'OrgUnit', 'User', 'Group'] as const
export const CollectionObjectType = OneOf(OBJECT_TYPES)
export type CollectionObjectType = (typeof OBJECT_TYPES)[number]

/** The types whose objects are core objects: what a criteria collection can hold. */
export type CriteriaObjectType = RowObjectType

export const Name = Type.String({ minLength: 1, maxLength: 256, pattern: '\\S' })
export const Description = Type.String({ maxLength: 2048 })

/** Characters of a tag or an attribute's key: decisions, section 6. */
export const TAG_LENGTH_LIMIT = 50

const Tag = Type.String({ minLength: 1, maxLength: TAG_LENGTH_LIMIT, pattern: '\\S' })
const AttributeValue = Type.String({ maxLength: 200 })

/** What clients file a collection under. Tags and keys are trimmed and lower-cased when stored. */
export const Metadata = Type.Object({
  tags: Type.Optional(Type.Array(Tag, { maxItems: 20 })),
  attributes: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      propertyNames: Tag,
      additionalProperties: AttributeValue,
      maxProperties: 20,
    }),
  ),
})

export type CollectionMetadata = {
  readonly tags: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
}

/** A collection as it is kept. `definition` is what decides its members: the condition or the join policy. */
export type Collection = {
  readonly id: string
  readonly tenantId: string
  readonly kind: CollectionKind
  readonly objectType: CollectionObjectType
  readonly name: string
  readonly description: string | null
  readonly definition: object
  /** Rises with each change of the definition. */
  readonly definitionVersion: number
  readonly metadata: CollectionMetadata
  /** Ids of the collections that the definition names. */
  readonly refersTo: readonly string[]
  /** The creator's object id in the directory. */
  readonly createdBy: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The order in which collections are listed: by name, then id. */
export function byName(one: Collection, other: Collection): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1
  return one.id < other.id ? -1 : 1
}

/** A collection as `/collections/beta` answers it: it does not say of which kind it is. */
export const CollectionRecord = Closed({
  id: Guid,
  objectType: CollectionObjectType,
  name: Type.String(),
  description: Nullable(Type.String()),
  metadata: Closed({ tags: Type.Array(Type.String()), attributes: Type.Record(Type.String(), Type.String()) }),
  createdBy: Described(Type.String(), 'The object id of the creator in the directory.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type CollectionRecord = Static<typeof CollectionRecord>

/** The members of a collection of either kind. */
export const CollectionResults = Closed({
  collectionId: Guid,
  name: Type.String(),
  description: Nullable(Type.String()),
  objectType: CollectionObjectType,
  memberIds: Described(
    Type.Array(Type.Union([Guid, Closed({ objectId: Guid, relationshipId: Nullable(Guid) })])),
    'Ids in a criteria collection; identities, with their positions, in a joinable one.',
  ),
  evaluatedAt: Described(
    Nullable(Timestamp),
    'Null until a criteria collection has been evaluated for the first time.',
  ),
})
export type CollectionResults = Static<typeof CollectionResults>
