import { chunk } from '../../kernel/chunk.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { CheckedCondition } from '../criteria/condition.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedConditionTask } from './condition-entry.ts'
import type { WrittenCollections } from './evaluation-lease.ts'
import { type CachedEvaluation, newCachedEvaluation } from './members-now.ts'
import type { JoinedCollection, JoinedMembers, MembershipHead } from './membership-store.ts'

/** Member heads read concurrently: each has a partition of its own. */
const HEADS_AT_ONCE_COUNT = 20

type CacheDependencies = Pick<CollectionDependencies, 'memberships' | 'scheduler' | 'log'>

/** Evaluated criteria collections, by tenant. An entry is valid until another evaluator writes the collection's members. */
export class EvaluationCache {
  readonly #deps: CacheDependencies
  readonly #tenants = new Map<string, Map<string, CachedEvaluation>>()

  constructor(deps: CacheDependencies) {
    this.#deps = deps
  }

  has(tenantId: string): boolean {
    return this.#tenants.has(tenantId)
  }

  set(tenantId: string, evaluations: Map<string, CachedEvaluation>): void {
    this.#tenants.set(tenantId, evaluations)
  }

  drop(tenantId: string, collectionIds: WrittenCollections): void {
    if (collectionIds === 'all') this.#tenants.delete(tenantId)
    else for (const id of collectionIds) this.#tenants.get(tenantId)?.delete(id)
  }

  /**
   * The cached evaluation of each collection, or a new one with the head of its members. Collections with an invalid
   * stored condition are logged and left out.
   * @throws Refusal `StaleVersion` when a collection was changed and evaluated by others since it was read.
   */
  async of(criteria: readonly Collection[]): Promise<Map<string, CachedEvaluation>> {
    const evaluations = new Map<string, CachedEvaluation>()
    for (const some of chunk(criteria, HEADS_AT_ONCE_COUNT)) {
      const found = await Promise.all(some.map((collection) => this.#evaluationOf(collection)))
      for (const [index, { id }] of some.entries()) {
        const evaluation = found[index]
        if (evaluation !== undefined) evaluations.set(id, evaluation)
      }
    }
    return evaluations
  }

  async #evaluationOf(collection: Collection): Promise<CachedEvaluation | undefined> {
    const { tenantId, id, definitionVersion } = collection
    const cached = this.#tenants.get(tenantId)?.get(id)
    if (cached?.definitionVersion === definitionVersion) return cached
    const head = await this.#deps.memberships.head(tenantId, id)
    return this.#deps.scheduler.run(this.#newEvaluation(collection, head))
  }

  /** One invalid collection must not block the evaluation of the tenant's other collections. */
  *#newEvaluation(
    collection: Collection,
    head: Versioned<MembershipHead> | undefined,
  ): Task<CachedEvaluation | undefined> {
    let condition: CheckedCondition
    try {
      condition = yield* storedConditionTask(collection)
    } catch (error) {
      const { tenantId, id: collectionId } = collection
      this.#deps.log.error('collection.invalid', error, { tenantId, collectionId })
      return undefined
    }
    yield
    return newCachedEvaluation(collection, condition, head)
  }
}

type CachedMembers = { readonly collection: JoinedCollection; readonly members: CollectionMembers }

/** The members of joinable collections that conditions refer to, by tenant. They are read again when their version changes. */
export class JoinedMembersCache {
  readonly #joined: JoinedMembers
  readonly #tenants = new Map<string, ReadonlyMap<string, CachedMembers>>()

  constructor(joined: JoinedMembers) {
    this.#joined = joined
  }

  /** The current members of these collections, and the collections whose members have changed since the last call. */
  async refreshed(
    tenantId: string,
    collectionIds: readonly string[],
  ): Promise<{ changed: ReadonlySet<string>; members: ReadonlyMap<string, CollectionMembers> }> {
    const before = this.#tenants.get(tenantId) ?? new Map<string, CachedMembers>()
    if (collectionIds.length > 0) await this.#joined.catchUp(tenantId)
    const versions = await this.#joined.versions(tenantId, collectionIds)
    const changed = collectionIds.filter((id) => before.get(id)?.collection.membershipVersion !== versions.get(id))
    const read = await this.#joined.of(tenantId, changed)
    const now = new Map<string, CachedMembers>()
    for (const id of collectionIds) {
      const collection = read.get(id)
      const cached = before.get(id)
      if (collection !== undefined) {
        now.set(id, { collection, members: { kind: 'joinable', memberships: collection.memberships } })
      } else if (cached !== undefined) now.set(id, cached)
    }
    this.#tenants.set(tenantId, now)
    return { changed: new Set(changed), members: new Map([...now].map(([id, { members }]) => [id, members])) }
  }

  drop(tenantId: string): void {
    this.#tenants.delete(tenantId)
  }
}
