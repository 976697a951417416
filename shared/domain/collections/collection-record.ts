import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Collection, CollectionRecord } from './collection.ts'

/** What every reader of a collection sees of it, whatever its kind. */
export function collectionRecord(collection: Collection): CollectionRecord {
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
