import { forEachConcurrent } from '../../kernel/concurrency.ts'
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

type Head = Versioned<MembershipHead> | undefined

/** Heads of members by collection; undefined for a collection that was never evaluated. */
export type Heads = ReadonlyMap<string, Head>

/**
 * Evaluated criteria collections, by tenant. An entry is valid until another evaluator writes the collection's members,
 * which changes the version of their head.
 */
export class EvaluationCache {
  readonly #deps: CacheDependencies
  readonly #tenants = new Map<string, Map<string, CachedEvaluation>>()
  /** Tenants whose members others may have written. Their heads are read again. */
  readonly #unverified = new Set<string>()
  /** The collections that had links when this process last read them. */
  readonly #linked = new Map<string, ReadonlySet<string>>()

  constructor(deps: CacheDependencies) {
    this.#deps = deps
  }

  has(tenantId: string): boolean {
    return this.#tenants.has(tenantId)
  }

  /** By collection. Entries are added and changed by the evaluation. */
  evaluationsOf(tenantId: string): Map<string, CachedEvaluation> {
    const evaluations = this.#tenants.get(tenantId) ?? new Map<string, CachedEvaluation>()
    this.#tenants.set(tenantId, evaluations)
    return evaluations
  }

  drop(tenantId: string): void {
    this.#tenants.delete(tenantId)
    this.#unverified.delete(tenantId)
    this.#linked.delete(tenantId)
  }

  keepLinked(tenantId: string, collectionIds: ReadonlySet<string>): void {
    this.#linked.set(tenantId, collectionIds)
  }

  /** The collections that had links when this process last read them. */
  linkedOf(tenantId: string): ReadonlySet<string> {
    return this.#linked.get(tenantId) ?? new Set()
  }

  /** Drops what other evaluators have written. */
  dropStale(tenantId: string, collectionIds: WrittenCollections): void {
    const evaluations = this.#tenants.get(tenantId)
    if (evaluations === undefined) return
    if (collectionIds === 'all') this.#unverified.add(tenantId)
    else for (const id of collectionIds) evaluations.delete(id)
  }

  /**
   * The heads of the members of all these collections: of the tenant's criteria collections. Drops evaluations of other
   * collections, of former definitions and of members that others have written.
   * @param seesFormerWrites Whether all reads include what others have written: see `HeldLease`.
   */
  async headsOf(tenantId: string, criteria: readonly Collection[], seesFormerWrites: boolean): Promise<Heads> {
    const cached = this.#tenants.get(tenantId) ?? new Map<string, CachedEvaluation>()
    const definitions = new Map(criteria.map(({ id, definitionVersion }) => [id, definitionVersion]))
    for (const [id, { definitionVersion }] of cached) {
      if (definitions.get(id) !== definitionVersion) cached.delete(id)
    }
    const isVerified = !this.#unverified.has(tenantId)
    const unknown = (isVerified ? criteria.filter(({ id }) => !cached.has(id)) : criteria).map(({ id }) => id)
    const read = await this.#readHeads(tenantId, unknown, seesFormerWrites)
    const heads = new Map(criteria.map(({ id }) => [id, read.has(id) ? read.get(id) : cached.get(id)?.head]))
    for (const [id, { head }] of cached) if (heads.get(id)?.version !== head?.version) cached.delete(id)
    this.#unverified.delete(tenantId)
    return heads
  }

  async #readHeads(tenantId: string, collectionIds: readonly string[], seesFormerWrites: boolean): Promise<Heads> {
    const { memberships } = this.#deps
    if (seesFormerWrites) {
      const found = await memberships.heads(tenantId, collectionIds)
      return new Map(collectionIds.map((id) => [id, found.get(id)]))
    }
    const heads = new Map<string, Head>()
    await forEachConcurrent(collectionIds, HEADS_AT_ONCE_COUNT, async (id) => {
      heads.set(id, await memberships.head(tenantId, id))
    })
    return heads
  }

  /**
   * The cached evaluation of a collection, or a new one, which is cached. Undefined for a collection with an invalid
   * stored condition, which is logged: it must not block the evaluation of the tenant's other collections.
   * @throws Refusal `StaleVersion` when the collection was changed and evaluated by others since it was read.
   */
  async evaluationOf(
    collection: Collection,
    head: Head,
    evaluations: Map<string, CachedEvaluation>,
  ): Promise<CachedEvaluation | undefined> {
    const cached = evaluations.get(collection.id)
    if (cached !== undefined) return cached
    const evaluation = await this.#deps.scheduler.run(this.#newEvaluation(collection, head))
    if (evaluation !== undefined) evaluations.set(collection.id, evaluation)
    return evaluation
  }

  *#newEvaluation(collection: Collection, head: Head): Task<CachedEvaluation | undefined> {
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

/**
 * The members of joinable collections that conditions refer to, by tenant. They are read again when their version
 * changes.
 */
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
