import { Refusal } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { Collection } from './collection.ts'

/** @throws Refusal `CollectionNotFound` */
export function found(collection: Versioned<Collection> | undefined, id: string): Versioned<Collection> {
  if (collection === undefined) throw new Refusal('CollectionNotFound', `There is no collection ${id}`)
  return collection
}
