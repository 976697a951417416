import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection, CollectionKind } from './collection.ts'

export type CollectionFilter = {
  readonly kind?: CollectionKind
  readonly objectType?: string
  /** In their normalised form. Of each list a collection must have one. */
  readonly tags?: readonly (readonly string[])[]
  /** A collection must have them all. */
  readonly attributes?: readonly { readonly key: string; readonly value: string }[]
  /** Only those whose definition names this collection. */
  readonly refersTo?: string
}

/**
 * Collections of a tenant. Whoever adds, changes or removes a reference between collections quotes the tenant's
 * reference version, read before looking at the references: of two who do so at once, one is refused.
 */
export interface CollectionStore {
  /** Undefined when there is none, or when it is of another kind than asked for. */
  find(tenantId: string, id: string, kind?: CollectionKind): Promise<Versioned<Collection> | undefined>
  /** By name, then id. */
  list(tenantId: string, filter: CollectionFilter): Promise<Collection[]>
  /** Those of the ids that exist, with what they refer to. */
  existing(tenantId: string, ids: readonly string[]): Promise<Collection[]>
  referenceVersion(tenantId: string): Promise<string>
  /** Runs what changes collections of the tenant, one after the other within this process, in the order given. */
  serialize<T>(tenantId: string, run: () => Promise<T>): Promise<T>
  /** Makes every reference version read before stale, for what refers to collections without being one. */
  noteReference(tenantId: string): Promise<void>
  /** @throws Refusal `StaleVersion` when the reference version is no longer current. */
  add(collection: Collection, referenceVersion: string | undefined): Promise<Versioned<Collection>>
  /** @throws Refusal `StaleVersion` when either version is no longer current. */
  replace(collection: Collection, version: string, referenceVersion: string | undefined): Promise<Versioned<Collection>>
  /**
   * Remembers the id: what belongs to the collection elsewhere may outlast it.
   * @throws Refusal `StaleVersion` when either version is no longer current.
   */
  remove(tenantId: string, id: string, version: string, referenceVersion: string): Promise<void>
  /** Ids of collections that were removed before an instant and not forgotten since. */
  removedBefore(tenantId: string, instantMs: number): Promise<string[]>
  /** Nothing of the removed collection is left. */
  forgetRemoved(tenantId: string, id: string): Promise<void>
}
