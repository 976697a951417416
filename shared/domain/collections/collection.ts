import { type Static, Type } from 'typebox'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { Closed, characterCount, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { compareNames } from '../core/search-text.ts'
import type { RowObjectType } from '../criteria/collection-members.ts'
import type { WireGroup } from '../criteria/condition.ts'
import { withHiddenValues } from '../criteria/hidden-values.ts'

/**
 * The members of a criteria collection follow from a condition, those of a joinable one from requests and approvals.
 */
export type CollectionKind = 'criteria' | 'joinable'

/** `User` and `Group` are refused until the service reads directory objects. */
const OBJECT_TYPES = ['Identity', 'Relationship', 'OrgUnit', 'User', 'Group'] as const
export const CollectionObjectType = OneOf(OBJECT_TYPES)
export type CollectionObjectType = (typeof OBJECT_TYPES)[number]

/** The object types of criteria collections: those whose objects are core objects. */
export type CriteriaObjectType = RowObjectType

const Name = Type.String({ minLength: 1, maxLength: 256, pattern: '\\S' })
const Description = Type.String({ maxLength: 2048 })

/** Characters of a tag or an attribute key. */
export const TAG_LENGTH_LIMIT = 50

const Tag = Type.String({ minLength: 1, maxLength: TAG_LENGTH_LIMIT, pattern: '\\S' })
const AttributeValue = Type.String({ maxLength: 200 })

/** Tags and attributes by which clients find a collection. Tags and keys are trimmed and lower-cased when stored. */
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

/** A stored collection. `definition` decides its members: the condition or the join policy. */
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
  /** Ids of the collections that the definition refers to. */
  readonly refersTo: readonly string[]
  /** The actor id of who last changed the definition: see `actorIdOf`. */
  readonly definedBy: string
  /** The creator's object id in the directory. */
  readonly createdBy: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The order of lists of collections: by name, then id. */
export function byName(left: Collection, right: Collection): number {
  return compareNames(left.name, right.name) || (left.id < right.id ? -1 : 1)
}

/** A collection under `/collections/beta`, without its definition. */
export const CollectionDto = Closed({
  id: Guid,
  objectType: CollectionObjectType,
  name: Type.String(),
  description: Nullable(Type.String()),
  metadata: Closed({ tags: Type.Array(Type.String()), attributes: Type.Record(Type.String(), Type.String()) }),
  createdBy: Described(Type.String(), 'The object id of the creator in the directory.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type CollectionDto = Static<typeof CollectionDto>

/** The members of a collection of either kind, as returned. */
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

/** The members that collections of either kind have in common. */
export function toCollectionDto(collection: Collection): CollectionDto {
  return {
    id: collection.id,
    objectType: collection.objectType,
    name: collection.name,
    description: collection.description,
    metadata: { tags: [...collection.metadata.tags], attributes: { ...collection.metadata.attributes } },
    createdBy: collection.createdBy,
    createdAt: toTimestamp(collection.createdAtMs),
    updatedAt: toTimestamp(collection.updatedAtMs),
  }
}

/**
 * A tree of groups and leaves. `checkCondition` checks its content. The API description
 * identifies the schema by its title.
 */
export const Condition = Type.Unsafe<object>({ type: 'object', title: 'Condition' })

/** The body members of a new collection of either kind. */
export const NEW_COLLECTION = {
  objectType: CollectionObjectType,
  name: Name,
  description: Type.Optional(Description),
  metadata: Type.Optional(Metadata),
}

export const NewCriteriaCollection = Type.Object({ ...NEW_COLLECTION, condition: Condition })
export type NewCriteriaCollection = Static<typeof NewCriteriaCollection>

/** The body of an update: a member that is left out keeps its value. */
export const CriteriaCollectionUpdate = Type.Object({
  ...Type.Partial(NewCriteriaCollection).properties,
  objectType: CollectionObjectType,
})
export type CriteriaCollectionUpdate = Static<typeof CriteriaCollectionUpdate>

export const CriteriaCollectionDto = Closed({ ...CollectionDto.properties, condition: Condition })
export type CriteriaCollectionDto = Static<typeof CriteriaCollectionDto>

/** A criteria collection with its condition, for readers with or without access to sensitive attributes. */
export const toCriteriaCollectionDto =
  ({ showsSensitive }: { readonly showsSensitive: boolean }) =>
  (collection: Collection): CriteriaCollectionDto => {
    const { definition } = collection
    const condition = showsSensitive ? definition : withHiddenValues(definition as WireGroup)
    return { ...toCollectionDto(collection), condition }
  }

export const NO_METADATA: CollectionMetadata = { tags: [], attributes: {} }

/** Tags, keys and search terms are compared without case and surrounding spaces. */
export function normalisedTerm(text: string): string {
  return text.trim().toLowerCase()
}

export type GivenMetadata = {
  /** In stored form. Members that the body leaves out are absent, and keep their value. */
  readonly metadata: Partial<CollectionMetadata>
  /** Tags and keys that are too long or duplicate in stored form. */
  readonly faults: readonly RefusalEntry[]
}

/** The metadata of a body, normalised. */
export function readMetadata(input: Static<typeof Metadata> = {}): GivenMetadata {
  const tags = input.tags?.map(normalisedTerm)
  const attributes =
    input.attributes && Object.entries(input.attributes).map(([key, value]) => [normalisedTerm(key), value] as const)
  const metadata = { ...(tags && { tags }), ...(attributes && { attributes: Object.fromEntries(attributes) }) }
  const keys = attributes?.map(([key]) => key) ?? []
  return { metadata, faults: [...tooLong(tags ?? [], keys), ...repetitions(tags ?? [], keys)] }
}

/** A few capitals, such as İ, are two characters in lower case. A stored record must be valid when it is sent back. */
function tooLong(tags: readonly string[], keys: readonly string[]): RefusalEntry[] {
  const isTooLong = (term: string) => characterCount(term) > TAG_LENGTH_LIMIT
  const fault = (pointer: string) =>
    refusalEntry('InvalidLength', `Must have at most ${TAG_LENGTH_LIMIT} characters in lower case`, pointer)
  return [
    ...tags.flatMap((tag, index) => (isTooLong(tag) ? [fault(`/metadata/tags/${index}`)] : [])),
    ...keys.filter(isTooLong).map(() => fault('/metadata/attributes')),
  ]
}

function repetitions(tags: readonly string[], keys: readonly string[]): RefusalEntry[] {
  return [
    ...repeated(tags).map((index) =>
      refusalEntry('DuplicateTag', `The tag ${tags[index]} is given twice`, `/metadata/tags/${index}`),
    ),
    ...repeated(keys).map((index) =>
      refusalEntry('DuplicateTag', `The attribute ${keys[index]} is given twice`, '/metadata/attributes'),
    ),
  ]
}

/** Indexes of values that occur earlier in the list. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []))
}
