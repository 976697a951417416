import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { storedConditionTask } from '../collections/condition-entry.ts'
import type { JoinedCollection, JoinedMembers, MembershipHead } from '../collections/membership-store.ts'
import { type CustomTypes, isSameCustomTypes } from '../core/custom-types.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { CheckedCondition } from '../criteria/condition.ts'
import type { HeldLease } from './held-lease.ts'
import { type CachedEvaluation, newCachedEvaluation } from './members-now.ts'

type CacheDependencies = Pick<CollectionDependencies, 'memberships' | 'scheduler' | 'log'>

type Head = Versioned<MembershipHead> | undefined

/** Heads of members by collection; undefined for a collection that was never evaluated. */
export type Heads = ReadonlyMap<string, Head>

/**
 * Evaluated criteria collections, by tenant. An entry is valid until another evaluator writes the collection's members,
 * which changes the version of their head. Heads are read again whenever another evaluator may have held the lease.
 */
export class EvaluationCache {
  readonly #deps: CacheDependencies
  readonly #tenants = new Map<string, Map<string, CachedEvaluation>>()
  /** The types of custom attributes by which the conditions of a tenant were read. */
  readonly #types = new Map<string, CustomTypes>()
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
    this.#linked.delete(tenantId)
    this.#types.delete(tenantId)
  }

  /** Drops the evaluations of conditions that were read by other types. @returns Whether there were any. */
  dropUnlessTyped(tenantId: string, types: CustomTypes): boolean {
    const former = this.#types.get(tenantId)
    const isOther = former !== undefined && !isSameCustomTypes(former, types)
    if (isOther) this.drop(tenantId)
    this.#types.set(tenantId, types)
    return isOther
  }

  keepLinked(tenantId: string, collectionIds: ReadonlySet<string>): void {
    this.#linked.set(tenantId, collectionIds)
  }

  /** The collections that had links when this process last read them. */
  linkedOf(tenantId: string): ReadonlySet<string> {
    return this.#linked.get(tenantId) ?? new Set()
  }

  /**
   * The heads of the members of all these collections: of the tenant's criteria collections. Drops evaluations of other
   * collections, of former definitions, of members that others have written, and of those that must be written again.
   */
  async headsOf(
    tenantId: string,
    criteria: readonly Collection[],
    { isContinued, unfencedEpoch }: Pick<HeldLease, 'isContinued' | 'unfencedEpoch'>,
  ): Promise<Heads> {
    const cached = this.#tenants.get(tenantId) ?? new Map<string, CachedEvaluation>()
    const definitions = new Map(criteria.map(({ id, definitionVersion }) => [id, definitionVersion]))
    for (const [id, { definitionVersion }] of cached) {
      if (definitions.get(id) !== definitionVersion) cached.delete(id)
    }
    const unknown = (isContinued ? criteria.filter(({ id }) => !cached.has(id)) : criteria).map(({ id }) => id)
    const read = await this.#deps.memberships.heads(tenantId, unknown)
    const isRead = new Set(unknown)
    const heads = new Map(criteria.map(({ id }) => [id, isRead.has(id) ? read.get(id) : cached.get(id)?.head]))
    for (const [id, { head }] of cached) {
      const isUnfenced = head !== undefined && head.value.epoch <= unfencedEpoch
      if (isUnfenced || heads.get(id)?.version !== head?.version) cached.delete(id)
    }
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
    types: CustomTypes,
  ): Promise<CachedEvaluation | undefined> {
    const cached = evaluations.get(collection.id)
    if (cached !== undefined) return cached
    const evaluation = await this.#deps.scheduler.run(this.#newEvaluation(collection, head, types))
    if (evaluation !== undefined) evaluations.set(collection.id, evaluation)
    return evaluation
  }

  *#newEvaluation(collection: Collection, head: Head, types: CustomTypes): Task<CachedEvaluation | undefined> {
    let condition: CheckedCondition
    try {
      condition = yield* storedConditionTask(collection, types)
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
 * The members of joinable collections that conditions refer to, by tenant. They are read again when their revision
 * changes: whenever someone joins or leaves, or the position of a membership changes.
 */
export class JoinedMembersCache {
  readonly #joined: JoinedMembers
  readonly #tenants = new Map<string, ReadonlyMap<string, CachedMembers>>()

  constructor(joined: JoinedMembers) {
    this.#joined = joined
  }

  /** The current members of these collections, and the collections whose members or positions have changed since. */
  async refreshed(
    tenantId: string,
    collectionIds: readonly string[],
  ): Promise<{ changed: ReadonlySet<string>; members: ReadonlyMap<string, CollectionMembers> }> {
    const before = this.#tenants.get(tenantId) ?? new Map<string, CachedMembers>()
    const revisions = await this.#joined.revisions(tenantId, collectionIds)
    const changed = collectionIds.filter((id) => before.get(id)?.collection.revision !== revisions.get(id))
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
