import { chunk } from '../../kernel/chunk.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { CheckedCondition } from '../criteria/condition.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedCondition } from './condition-entry.ts'
import { type CachedEvaluation, newCachedEvaluation } from './members-now.ts'
import type { JoinedCollection, JoinedMembers } from './membership-store.ts'

/** Heads of collections that are read at once: each has a partition of its own. */
const HEADS_AT_ONCE_COUNT = 20

type MemoryDependencies = Pick<CollectionDependencies, 'memberships' | 'log'>

/** What the evaluator remembers of criteria collections, by tenant. */
export class EvaluationCache {
  readonly #deps: MemoryDependencies
  readonly #known = new Map<string, Map<string, CachedEvaluation>>()

  constructor(deps: MemoryDependencies) {
    this.#deps = deps
  }

  /** Whether there is anything of the tenant. */
  has(tenantId: string): boolean {
    return this.#known.has(tenantId)
  }

  tenantIds(): Iterable<string> {
    return this.#known.keys()
  }

  /** From now on this is what is remembered of the tenant. */
  keep(tenantId: string, known: Map<string, CachedEvaluation>): void {
    this.#known.set(tenantId, known)
  }

  forget(tenantId: string): void {
    this.#known.delete(tenantId)
  }

  forgetCollections(tenantId: string, collectionIds: readonly string[]): void {
    for (const id of collectionIds) this.#known.get(tenantId)?.delete(id)
  }

  /**
   * The memory of each collection as it is defined now. Of those that nothing is remembered of, the head is read. One
   * whose stored condition cannot be understood is left out, and the log tells.
   * @throws Refusal `StaleVersion` for one that was changed, and evaluated by another, since it was read.
   */
  async of(criteria: readonly Collection[]): Promise<Map<string, CachedEvaluation>> {
    const known = new Map<string, CachedEvaluation>()
    for (const some of chunk(criteria, HEADS_AT_ONCE_COUNT)) {
      const memories = await Promise.all(some.map((collection) => this.#memoryOf(collection)))
      for (const [index, { id }] of some.entries()) {
        const memory = memories[index]
        if (memory !== undefined) known.set(id, memory)
      }
    }
    return known
  }

  async #memoryOf(collection: Collection): Promise<CachedEvaluation | undefined> {
    const { tenantId, id, definitionVersion } = collection
    const memory = this.#known.get(tenantId)?.get(id)
    if (memory?.definitionVersion === definitionVersion) return memory
    const condition = this.#understood(collection)
    return condition && newCachedEvaluation(collection, condition, await this.#deps.memberships.head(tenantId, id))
  }

  /** One collection that nobody can evaluate must not keep a whole tenant's from being evaluated. */
  #understood(collection: Collection): CheckedCondition | undefined {
    try {
      return storedCondition(collection)
    } catch (error) {
      const { tenantId, id: collectionId } = collection
      this.#deps.log.error('collection.faulty', error, { tenantId, collectionId })
      return undefined
    }
  }
}

type Remembered = { readonly collection: JoinedCollection; readonly members: CollectionMembers }

/** What the evaluator remembers of the joinable collections that conditions name: they are read again when they change. */
export class JoinedMembersCache {
  readonly #joined: JoinedMembers
  readonly #known = new Map<string, ReadonlyMap<string, Remembered>>()

  constructor(joined: JoinedMembers) {
    this.#joined = joined
  }

  /** Who is in these collections now, and in which of them that is not what it was the last time. */
  async refreshed(
    tenantId: string,
    collectionIds: readonly string[],
  ): Promise<{ changed: ReadonlySet<string>; members: ReadonlyMap<string, CollectionMembers> }> {
    const before = this.#known.get(tenantId) ?? new Map<string, Remembered>()
    const versions = await this.#joined.versions(tenantId, collectionIds)
    const changed = collectionIds.filter((id) => before.get(id)?.collection.membershipVersion !== versions.get(id))
    const read = await this.#joined.of(tenantId, changed)
    const now = new Map<string, Remembered>()
    for (const id of collectionIds) {
      const collection = read.get(id)
      const known = before.get(id)
      if (collection !== undefined) {
        now.set(id, { collection, members: { kind: 'joinable', memberships: collection.memberships } })
      } else if (known !== undefined) now.set(id, known)
    }
    this.#known.set(tenantId, now)
    return { changed: new Set(changed), members: new Map([...now].map(([id, { members }]) => [id, members])) }
  }

  forget(tenantId: string): void {
    this.#known.delete(tenantId)
  }
}
