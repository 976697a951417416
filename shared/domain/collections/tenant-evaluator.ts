import { coalesce } from '../../kernel/concurrency.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { isConflict } from '../../kernel/versioned.ts'
import type { DeletedCoreObjects } from '../core/core-object-store.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { RowChanges } from '../tenant-index/tenant-snapshots.ts'
import { attributeChange } from './attribute-change.ts'
import type { Collection } from './collection.ts'
import { type CollectionDependencies, enqueueEvaluation } from './collection-dependencies.ts'
import { removeOrphanedMembers } from './delete-collection.ts'
import { EvaluationCache, JoinedMembersCache } from './evaluation-cache.ts'
import { EvaluationLeases, HELD_RETRY_MS, type HeldLease } from './evaluation-lease.ts'
import {
  type CachedEvaluation,
  definitionKeyOf,
  type EvaluationPass,
  idsNow,
  inOrder,
  joinablesReferredTo,
  memberContext,
  sizeBytesOf,
  todayFor,
} from './members-now.ts'
import type { MembershipChange } from './membership-store.ts'
import { notifyLinks } from './notify-links.ts'

/** Passes of one evaluation: another one follows when a collection was changed or deleted during the last. */
const PASSES_AT_MOST = 3

/** The result of one collection in a pass. */
type Outcome = 'changed' | 'same' | 'invalid'

/** Receives the changes of a tenant's core objects: for data that belong to these objects. */
export interface ChangeReconciler {
  /**
   * Called with the changes of each pass, before anything is evaluated. The same changes may come more than once.
   * @returns Whether definitions of collections were changed.
   */
  reconcile(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<boolean>
}

type EvaluatorDependencies = CollectionDependencies & {
  readonly reconciler: ChangeReconciler
  readonly deletedObjects: DeletedCoreObjects
  /** The clocks of two evaluators differ by less. */
  readonly clockDifferenceMs: number
}

/**
 * Keeps the members of a tenant's criteria collections consistent with its core objects.
 *
 * One evaluator at a time evaluates a tenant, under a lease. It caches what it has evaluated and drops from the cache
 * what others have written since it last held the lease. When a lease expires while its holder is still alive, member
 * heads reject writes that quote an old version, and the tenant is evaluated once more.
 */
export class TenantEvaluator {
  readonly #deps: EvaluatorDependencies
  readonly #cache: EvaluationCache
  readonly #joined: JoinedMembersCache
  readonly #leases: EvaluationLeases
  /** Calls during an evaluation share the next one. */
  readonly #attempt = coalesce((tenantId) => this.#evaluateUnderLease(tenantId))

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#cache = new EvaluationCache(deps)
    this.#joined = new JoinedMembersCache(deps.joined)
    this.#leases = new EvaluationLeases(deps.evaluationLeases, deps.newId(), deps)
    // Without the rows, all collections must be evaluated anyway.
    deps.snapshots.onEvicted((tenantId) => this.#drop(tenantId))
  }

  /**
   * Evaluates all collections that are due. While another instance evaluates the tenant, enqueues a later attempt. A tenant
   * that is too large for the memory is logged. The next sweep tries again.
   */
  async evaluate(tenantId: string): Promise<void> {
    try {
      await this.#attempt(tenantId)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'TenantTooLarge') throw error
      this.#deps.log.error('collections.tenant-too-large', error, { tenantId })
    }
  }

  async #evaluateUnderLease(tenantId: string): Promise<void> {
    const { snapshots } = this.#deps
    // Loading all rows may take longer than the lease lasts.
    if (!snapshots.holds(tenantId)) await snapshots.fresh(tenantId)
    const lease = await this.#leases.acquire(tenantId)
    if ('stale' in lease) {
      this.#cache.drop(tenantId, lease.stale)
      const isConsistent = await this.#evaluateUntilConsistent(tenantId, lease)
      const isHeldToEnd = await lease.release()
      if (isConsistent && isHeldToEnd) {
        await removeOrphanedMembers(tenantId, this.#deps)
        return
      }
      this.#drop(tenantId)
      this.#deps.log.warn('collections.evaluation-conflict', { tenantId })
    }
    await enqueueEvaluation(tenantId, this.#deps, 'retryMs' in lease ? lease.retryMs : HELD_RETRY_MS)
  }

  /** @returns False when others wrote during every pass. */
  async #evaluateUntilConsistent(tenantId: string, lease: HeldLease): Promise<boolean> {
    for (let passes = 1; passes <= PASSES_AT_MOST; passes += 1) {
      try {
        await this.#evaluateOnce(tenantId, lease)
        return true
      } catch (error) {
        // Changes were taken from the snapshot that did not reach every collection: the next pass evaluates all of them.
        this.#drop(tenantId)
        if (isConflict(error)) continue
        await lease.release()
        throw error
      }
    }
    return false
  }

  async #evaluateOnce(tenantId: string, lease: HeldLease): Promise<void> {
    const { collections, snapshots, reconciler, clockDifferenceMs, nowMs, log, metrics } = this.#deps
    const startedMs = nowMs()
    // The evaluation before this one may have read newer states than this process has seen.
    await Promise.all([collections.catchUp(tenantId), snapshots.catchUp(tenantId)])
    let criteria = await collections.list(tenantId, { kind: 'criteria' })
    let cached = await this.#cache.of(criteria)
    const rows = await snapshots.fresh(tenantId)
    const taken = snapshots.takeChanges(tenantId)
    // The changes that a failed evaluation took are lost: without a cache, everything is evaluated.
    const changes = this.#cache.has(tenantId) ? taken : 'everything'
    this.#cache.set(tenantId, cached)
    if (await reconciler.reconcile(tenantId, rows, changes)) {
      criteria = await collections.list(tenantId, { kind: 'criteria' })
      cached = await this.#cache.of(criteria)
      this.#cache.set(tenantId, cached)
    }
    const joined = await this.#joined.refreshed(tenantId, joinablesReferredTo(criteria))
    const context = memberContext(
      todayFor(cached, { nowMs: nowMs(), clockDifferenceMs }),
      criteria,
      cached,
      joined.members,
    )
    const pass = { rows, changes, changedMembers: new Set(joined.changed), context }
    const outcomes = await this.#evaluateAll(tenantId, criteria, cached, pass, lease)
    if (!snapshots.keepComputed(tenantId, sizeBytesOf(cached.values(), rows))) this.#drop(tenantId)
    const counts = Object.groupBy(outcomes.values(), (outcome) => outcome)
    const durationMs = nowMs() - startedMs
    metrics.record('evaluation.duration', durationMs, {})
    for (const [outcome, { length }] of Object.entries(counts))
      metrics.record('evaluation.collections', length, { outcome })
    log.info('collections.evaluated', {
      tenantId,
      collectionCount: criteria.length,
      changedCount: counts.changed?.length ?? 0,
      invalidCount: counts.invalid?.length ?? 0,
      rowCount: rows.rowCount,
      durationMs,
    })
  }

  /** In the order of references. */
  async #evaluateAll(
    tenantId: string,
    criteria: readonly Collection[],
    cached: Map<string, CachedEvaluation>,
    pass: EvaluationPass,
    lease: HeldLease,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const outcomes = new Map<string, Outcome>()
    const idsBefore = new Map([...cached].map(([id, { ids }]) => [id, ids]))
    try {
      for (const collection of inOrder(criteria)) {
        const evaluation = cached.get(collection.id)
        const isInvalid = evaluation === undefined || collection.refersTo.some((id) => outcomes.get(id) === 'invalid')
        // A collection that refers to an invalid one keeps the members that it has.
        const outcome = isInvalid ? 'invalid' : await this.#evaluateCollection(collection, evaluation, pass, lease)
        outcomes.set(collection.id, outcome)
        if (outcome === 'invalid') cached.delete(collection.id)
      }
    } finally {
      const evaluated = criteria.map((collection) => {
        const before = idsBefore.get(collection.id)
        const evaluation = cached.get(collection.id)
        return {
          collection,
          before,
          after: evaluation?.ids ?? before,
          isChanged: outcomes.get(collection.id) === 'changed',
          membershipVersion: evaluation?.head?.value.membershipVersion,
        }
      })
      await notifyLinks(tenantId, { criteria: evaluated, rows: pass.rows, changes: pass.changes }, this.#deps)
    }
    return outcomes
  }

  #drop(tenantId: string): void {
    this.#cache.drop(tenantId, 'all')
    this.#joined.drop(tenantId)
  }

  /** @throws Refusal `StaleVersion` when the collection or its members were written by others since the pass began. */
  async #evaluateCollection(
    collection: Collection,
    evaluation: CachedEvaluation,
    pass: EvaluationPass,
    lease: HeldLease,
  ): Promise<Outcome> {
    const definitionKey = definitionKeyOf(evaluation, pass.context.todayMs)
    const ids = await this.#deps.snapshots.reading(pass.rows, idsNow(collection, evaluation, definitionKey, pass))
    if (ids === undefined) return 'same'
    const { memberships, nowMs } = this.#deps
    const { tenantId, id } = collection
    const isFirst = evaluation.head === undefined
    try {
      const evaluated = { collection, cached: evaluation, definitionKey, pass }
      const attribute = (difference: MembershipChange) => attributeChange(difference, evaluated, this.#deps)
      const members = { ids, definitionKey, evaluatedAtMs: nowMs(), attribute }
      const { head, change } = await memberships.replace(tenantId, id, evaluation.head, members, () =>
        lease.beforeWrite(id),
      )
      const isChanged = change.added.length + change.removed.length > 0
      // The change may be older than this cache: collections that refer to this one have not been evaluated with it here.
      if (isChanged || evaluation.ids === undefined) pass.changedMembers.add(id)
      evaluation.head = head
      evaluation.ids = ids
      if (isFirst) await this.#removeIfDeleted(collection)
      return isChanged ? 'changed' : 'same'
    } catch (error) {
      if (isConflict(error)) await this.#removeIfDeleted(collection)
      throw error
    }
  }

  /**
   * A deletion removes the collection first and then its members. Reading the collection after its members were written
   * shows whether the deletion may have missed them. Both read current states.
   */
  async #removeIfDeleted({ tenantId, id }: Collection): Promise<void> {
    const { collections, memberships } = this.#deps
    if ((await collections.findCurrent(tenantId, id, 'criteria')) === undefined) await memberships.remove(tenantId, id)
  }
}
