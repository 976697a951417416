import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from './collection.ts'
import type { CollectionStore } from './collection-dependencies.ts'

/** @throws Refusal `CollectionNotFound` */
export function found(collection: Versioned<Collection> | undefined, id: string): Versioned<Collection> {
  if (collection === undefined) throw new Refusal('CollectionNotFound', `There is no collection ${id}`)
  return collection
}

/** For `whileStale`: the turn of those who change collections of a tenant. */
export function serializedBy<T>(
  tenantId: string,
  { collections }: { readonly collections: Pick<CollectionStore, 'serialize'> },
): (run: () => Promise<T>) => Promise<T> {
  return (run) => collections.serialize(tenantId, run)
}
