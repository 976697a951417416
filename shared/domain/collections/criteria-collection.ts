import { type Static, Type } from 'typebox'
import { Closed, Nullable } from '../../kernel/schema.ts'
import { type Collection, CollectionObjectType, CollectionRecord, Description, Metadata, Name } from './collection.ts'
import { collectionRecord } from './collection-record.ts'

/**
 * A tree of groups and leaves: decisions, section 5. Its inside is checked by the condition's own rules. By its title
 * the API's description tells it from any other object.
 */
export const Condition = Type.Unsafe<object>({ type: 'object', title: 'Condition' })

export const NewCriteriaCollection = Type.Object({
  objectType: CollectionObjectType,
  name: Name,
  condition: Condition,
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type NewCriteriaCollection = Static<typeof NewCriteriaCollection>

/** Statement, "Collection", rule 1: what is left out keeps its value. */
export const CriteriaCollectionUpdate = Type.Object({
  objectType: CollectionObjectType,
  name: Type.Optional(Name),
  condition: Type.Optional(Condition),
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type CriteriaCollectionUpdate = Static<typeof CriteriaCollectionUpdate>

export const CriteriaCollectionRecord = Closed({ ...CollectionRecord.properties, condition: Condition })
export type CriteriaCollectionRecord = Static<typeof CriteriaCollectionRecord>

/** The record under the prefix of criteria collections: with the condition. */
export function criteriaCollectionRecord(collection: Collection): CriteriaCollectionRecord {
  return { ...collectionRecord(collection), condition: collection.definition }
}
