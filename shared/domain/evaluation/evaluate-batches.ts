import { chunk } from '../../kernel/chunk.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { isConflict } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { EvaluatedMembers, MembershipChange } from '../collections/membership-store.ts'
import { type AttributionDependencies, attributeChange } from './attribute-change.ts'
import type { EvaluationCache, Heads } from './evaluation-cache.ts'
import type { HeldLease } from './held-lease.ts'
import { accountsOfChange } from './member-accounts.ts'
import {
  type CachedEvaluation,
  definitionKeyOf,
  type EvaluationPass,
  idsNow,
  inLevels,
  release,
  scopeOf,
  sizeBytesOf,
} from './members-now.ts'
import { type Evaluated, type EvaluatedCollection, type NotifyLinksDependencies, notifyLinks } from './notify-links.ts'
import { ReferencedMembers } from './referenced-members.ts'

/** Collections evaluated concurrently: reads and writes of the store overlap, computations share the thread. */
const EVALUATED_AT_ONCE_COUNT = 8

/** After this number of collections, it is decided whether the batch ends. */
const COLLECTIONS_PER_CHUNK_COUNT = 16

/** A batch ends when its evaluations have added this share of the memory for rows. */
const BATCH_SHARE = 1 / 8

/** The result of one collection. */
type Outcome = 'changed' | 'same' | 'invalid'

/** A pass over the criteria collections of a tenant. */
export type TenantPass = EvaluationPass & {
  readonly tenantId: string
  readonly criteria: readonly Collection[]
  readonly heads: Heads
  /** The cache of the tenant. */
  readonly evaluations: Map<string, CachedEvaluation>
  readonly lease: HeldLease
  /** The rows include everything that was written before. */
  readonly readAtMs: number
  /** Links have been notified of the account changes that could be read before. */
  readonly followedUntilMs: number
  /** No collection is begun later. */
  readonly untilMs: number
}

export type PassResult = {
  readonly outcomes: ReadonlyMap<string, Outcome>
  /** Collections that were not reached in time. They are no longer cached: the next pass evaluates them in full. */
  readonly remainingCount: number
}

/** Receives the changes of members, for events. */
interface MemberEvents {
  /** Called after the changes are written. Never throws. */
  changed(tenantId: string, collectionIds: readonly string[]): Promise<void>
}

export type BatchDependencies = NotifyLinksDependencies &
  AttributionDependencies &
  Pick<CollectionDependencies, 'collections' | 'memberships'> & {
    readonly cache: EvaluationCache
    readonly memberEvents: MemberEvents
  }

/**
 * Evaluates collections, each after those that it refers to, in batches. After a batch, links are notified of its
 * changes, and the evaluations of the batch are released if they do not fit into the memory.
 * @throws Refusal `StaleVersion` when a collection or its members were written by others since the pass began.
 */
export function evaluateBatches(pass: TenantPass, deps: BatchDependencies): Promise<PassResult> {
  return new BatchedEvaluation(pass, deps).run()
}

class BatchedEvaluation {
  readonly #pass: TenantPass
  readonly #deps: BatchDependencies
  readonly #outcomes = new Map<string, Outcome>()
  readonly #failures: unknown[] = []
  /** The members of these collections are needed for the evaluation of others. */
  readonly #referredTo: ReadonlySet<string>
  readonly #referenced: ReferencedMembers
  #batch: EvaluatedCollection[] = []
  #addedBytes = 0
  #isOver = false

  constructor(pass: TenantPass, deps: BatchDependencies) {
    this.#pass = pass
    this.#deps = deps
    this.#referredTo = new Set(pass.criteria.flatMap(({ refersTo }) => refersTo))
    this.#referenced = new ReferencedMembers(pass, deps.snapshots)
  }

  async run(): Promise<PassResult> {
    const { criteria, evaluations } = this.#pass
    const atMostBytes = this.#deps.snapshots.maxBytes * BATCH_SHARE
    const levels = inLevels(criteria)
    for (const collections of levels.flatMap((level) => chunk(this.#inOrder(level), COLLECTIONS_PER_CHUNK_COUNT))) {
      await forEachConcurrent(collections, EVALUATED_AT_ONCE_COUNT, (collection) => this.#attempt(collection))
      if (this.#failures.length > 0) break
      if (this.#addedBytes > atMostBytes) await this.#finishBatch({})
    }
    // Links are notified of what was evaluated before a failure, which is thrown even if this fails as well.
    const joinablesBeside = new Set(criteria.map(({ id }) => id))
    await this.#finishBatch({ joinablesBeside }).catch((fault: unknown) => void this.#failures.push(fault))
    if (this.#failures.length > 0) throw this.#failures[0]
    if (!this.#fits()) this.#release(this.#referredTo)
    const remaining = levels.flat().filter(({ id }) => !this.#outcomes.has(id))
    for (const { id } of remaining) evaluations.delete(id)
    return { outcomes: this.#outcomes, remainingCount: remaining.length }
  }

  /** The collections that the last pass did not reach come first. */
  #inOrder(level: readonly Collection[]): Collection[] {
    const isCached = ({ id }: Collection) => this.#pass.evaluations.has(id)
    return [...level.filter((collection) => !isCached(collection)), ...level.filter(isCached)]
  }

  /**
   * After a failure, no collection is begun. After the time is over, only those are reached that no change concerns.
   */
  async #attempt(collection: Collection): Promise<void> {
    const { evaluations, rows, untilMs } = this.#pass
    const cached = evaluations.get(collection.id)
    this.#isOver ||= this.#deps.nowMs() >= untilMs
    if (this.#failures.length > 0 || (this.#isOver && this.#isDue(collection, cached))) return
    const before = cached?.ids
    const beforeBytes = sizeBytesOf(cached === undefined ? [] : [cached], rows)
    try {
      const outcome = await this.#evaluate(collection)
      this.#outcomes.set(collection.id, outcome)
      if (outcome === 'invalid') evaluations.delete(collection.id)
    } catch (fault) {
      this.#failures.push(fault)
    }
    const evaluation = evaluations.get(collection.id)
    const isChanged = this.#outcomes.get(collection.id) === 'changed'
    const membershipVersion = evaluation?.head?.value.membershipVersion
    this.#batch.push({ collection, before, after: evaluation?.ids ?? before, isChanged, membershipVersion })
    this.#addedBytes += sizeBytesOf(evaluation === undefined ? [] : [evaluation], rows) - beforeBytes
  }

  #isDue(collection: Collection, cached: CachedEvaluation | undefined): boolean {
    if (cached === undefined) return true
    return scopeOf(collection, cached, definitionKeyOf(cached, this.#pass.context.todayMs), this.#pass) !== 'nothing'
  }

  async #evaluate(collection: Collection): Promise<Outcome> {
    const { heads, evaluations, lease, rows } = this.#pass
    // A collection that refers to an invalid one keeps the members that it has.
    if (collection.refersTo.some((id) => this.#outcomes.get(id) === 'invalid')) return 'invalid'
    await lease.renew()
    const evaluation = await this.#deps.cache.evaluationOf(
      collection,
      heads.get(collection.id),
      evaluations,
      rows.settings.types,
    )
    return evaluation === undefined ? 'invalid' : this.#store(collection, evaluation)
  }

  /** @throws Refusal `StaleVersion` when the collection or its members were written by others since the pass began. */
  async #store(collection: Collection, evaluation: CachedEvaluation): Promise<Outcome> {
    const { rows, context, changedMembers, lease } = this.#pass
    const { snapshots, memberships, nowMs } = this.#deps
    const definitionKey = definitionKeyOf(evaluation, context.todayMs)
    if (this.#isDue(collection, evaluation)) await this.#referenced.restore(collection)
    const ids = await snapshots.reading(rows, idsNow(collection, evaluation, definitionKey, this.#pass))
    if (ids === undefined) return 'same'
    const { tenantId, id } = collection
    const isFirst = evaluation.head === undefined
    try {
      const evaluated = { collection, cached: evaluation, definitionKey, pass: this.#passFor(collection, evaluation) }
      const attribute = (difference: MembershipChange) => attributeChange(difference, evaluated, this.#deps)
      const accountsOf = this.#accountsOf(collection, ids)
      const { epoch, unfencedEpoch } = lease
      const members = { ids, definitionKey, evaluatedAtMs: nowMs(), epoch, unfencedEpoch, attribute, accountsOf }
      const { head, change } = await memberships.replace(tenantId, id, evaluation.head, members, lease.renew)
      const isChanged = change.added.length + change.removed.length > 0
      // The change may be older than this cache: collections that refer to this one have not been evaluated with it
      // here.
      if (isChanged || evaluation.ids === undefined) changedMembers.add(id)
      evaluation.head = head
      evaluation.ids = ids
      evaluation.isReleased = false
      if (isFirst) await this.#removeIfDeleted(collection)
      return isChanged ? 'changed' : 'same'
    } catch (error) {
      if (isConflict(error)) await this.#removeIfDeleted(collection)
      throw error
    }
  }

  /** Of a collection with links only: they need the accounts of its changes. For a new link, they determine them. */
  #accountsOf(collection: Collection, ids: readonly string[]): NonNullable<EvaluatedMembers['accountsOf']> {
    const { tenantId, rows, readAtMs, followedUntilMs } = this.#pass
    const isLinked = this.#deps.cache.linkedOf(tenantId).has(collection.id)
    const members = { collection, ids, rows, followedUntilMs }
    return async (change) => (isLinked ? accountsOfChange(change, members, readAtMs, this.#deps) : undefined)
  }

  /** The changes since the last evaluation. They are not known for a collection that an earlier pass did not reach. */
  #passFor({ refersTo }: Collection, { ids, isReleased }: CachedEvaluation): EvaluationPass {
    if (ids !== undefined || isReleased) return this.#pass
    return { ...this.#pass, changes: 'everything', changedMembers: new Set(refersTo) }
  }

  /**
   * A deletion removes the collection first and then its members. Reading the collection after its members were written
   * shows whether the deletion may have missed them.
   */
  async #removeIfDeleted({ tenantId, id }: Collection): Promise<void> {
    const { collections, memberships } = this.#deps
    if ((await collections.find(tenantId, id, 'criteria')) === undefined) await memberships.remove(tenantId, id)
  }

  async #finishBatch(joinables: Pick<Evaluated, 'joinablesBeside'>): Promise<void> {
    const { tenantId, rows, changes, followedUntilMs } = this.#pass
    const batch = this.#batch
    this.#batch = []
    this.#addedBytes = 0
    const { cache } = this.#deps
    const knownLinked = cache.linkedOf(tenantId)
    const evaluated = { criteria: batch, rows, changes, followedUntilMs, knownLinked, ...joinables }
    const linked = await notifyLinks(tenantId, evaluated, this.#deps)
    if (linked !== undefined) cache.keepLinked(tenantId, linked)
    const changed = batch.filter(({ isChanged }) => isChanged).map(({ collection }) => collection.id)
    await this.#deps.memberEvents.changed(tenantId, changed)
    if (this.#fits()) return
    this.#release(batch.map(({ collection }) => collection.id).filter((id) => !this.#referredTo.has(id)))
  }

  #release(ids: Iterable<string>): void {
    for (const id of ids) {
      const evaluation = this.#pass.evaluations.get(id)
      if (evaluation !== undefined) release(evaluation)
    }
  }

  #fits(): boolean {
    const { tenantId, rows, evaluations } = this.#pass
    return this.#deps.snapshots.cacheComputed(tenantId, sizeBytesOf(evaluations.values(), rows))
  }
}
