import { coalesce } from '../../kernel/concurrency.ts'
import { enqueueEvaluation } from '../../kernel/enqueue-messages.ts'
import { UTC } from '../../kernel/time-zone.ts'
import { isConflict } from '../../kernel/versioned.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { IncludedWrites } from '../tenant-index/core-object-changes.ts'
import { settingsIdOf } from '../tenant-index/row-settings.ts'
import type { RowChanges } from '../tenant-index/rows/row-changes.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type BatchDependencies, evaluateBatches, type TenantPass } from './evaluate-batches.ts'
import { EvaluationCache, JoinedMembersCache } from './evaluation-cache.ts'
import { type EvaluationEnd, type EvaluationLeaseStore, HELD_RETRY_MS } from './evaluation-lease.ts'
import { reportPass, reportTooLarge } from './evaluation-report.ts'
import { EvaluationLeases, type HeldLease } from './held-lease.ts'
import { joinablesReferredTo, memberContext, todayFor } from './members-now.ts'
import { type OrphanDependencies, OrphanedMembers } from './orphaned-members.ts'

/** Passes of one evaluation: another one follows when a collection was changed or deleted during the last. */
const MAX_PASSES = 3

/**
 * No collection is begun later in an evaluation: the next message continues. An invocation must end well before
 * `functionTimeout` in host.json, 10 min.
 */
const MAX_EVALUATION_MS = 2 * 60 * 1000

/** `interrupted` when the time was over before every collection was evaluated; `covered` when all are. */
type Progress = Extract<EvaluationEnd, object> | 'interrupted' | 'conflict'

/** Receives the changes of a tenant's core objects: for data that belong to these objects. */
export interface ChangeReconciler {
  /**
   * Called with the changes of each pass, before anything is evaluated. The same changes may come more than once. When
   * it fails, nothing is evaluated: members that follow from what it would have changed stay.
   * @returns Whether definitions of collections were changed.
   */
  reconcile(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<boolean>
}

/** All that use cases of collections and their evaluation are composed with. */
export type EvaluatedDependencies = CollectionDependencies &
  OrphanDependencies & { readonly evaluationLeases: EvaluationLeaseStore }

type EvaluatorDependencies = Omit<BatchDependencies, 'cache'> &
  OrphanDependencies &
  Pick<CollectionDependencies, 'scheduler' | 'log' | 'metrics'> & {
    readonly evaluationLeases: EvaluationLeaseStore
    readonly reconciler: ChangeReconciler
    /** The clocks of two evaluators differ by less. */
    readonly clockDifferenceMs: number
    /** A monotonic clock. */
    elapsedMs(): number
    deriveId(...parts: string[]): string
    /** The next rows are read by settings that include all earlier writes. */
    forgetSettings(tenantId: string): void
  }

/** What a pass has read before it evaluates. */
type ReadState = Pick<TenantPass, 'tenantId' | 'criteria' | 'heads' | 'rows' | 'changes' | 'readAtMs'> & {
  readonly included: IncludedWrites | undefined
}

/**
 * Keeps the members of a tenant's criteria collections consistent with its core objects.
 *
 * One evaluator at a time evaluates a tenant, under a lease. The evaluator caches what it has evaluated and drops from
 * the cache what others have written since it last held the lease. When a lease expires while its holder is still alive,
 * or a holder fails, the next one writes all heads of members, so that a late write finds another version.
 */
export class TenantEvaluator {
  readonly #deps: EvaluatorDependencies
  readonly #cache: EvaluationCache
  readonly #joined: JoinedMembersCache
  readonly #leases: EvaluationLeases
  readonly #orphans: OrphanedMembers
  /** Calls during an evaluation share the next one. */
  readonly #attempt = coalesce((tenantId) => this.#evaluateUnderLease(tenantId))

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#cache = new EvaluationCache(deps)
    this.#joined = new JoinedMembersCache(deps.joined)
    this.#leases = new EvaluationLeases(deps.evaluationLeases, deps.newId(), deps)
    this.#orphans = new OrphanedMembers(deps)
    // Without the rows, all collections must be evaluated anyway.
    deps.snapshots.onEvicted((tenantId) => this.#drop(tenantId))
  }

  /**
   * Evaluates all collections that are due. When this takes long, enqueues the rest. While another instance evaluates
   * the tenant, enqueues a later attempt. A tenant that is too large for the memory is reported. The next sweep tries
   * again.
   */
  async evaluate(tenantId: string): Promise<void> {
    try {
      await this.#attempt(tenantId)
    } catch (error) {
      reportTooLarge(tenantId, error, this.#deps)
    }
    await this.#saveRows(tenantId)
  }

  /** Evaluations load rows more often than anything else does, and no caller waits for them. */
  async #saveRows(tenantId: string): Promise<void> {
    try {
      await this.#deps.snapshots.saveIfDue(tenantId)
    } catch (error) {
      // The collections are evaluated: only later loads cost more.
      this.#deps.log.error('core-objects.rows-not-saved', error, { tenantId })
    }
  }

  async #evaluateUnderLease(tenantId: string): Promise<void> {
    const { snapshots, nowMs } = this.#deps
    if (!snapshots.holds(tenantId)) {
      if (await this.#leases.isHeldByOther(tenantId)) return this.#enqueue(tenantId, HELD_RETRY_MS)
      // Loading all rows may take longer than the lease lasts.
      await snapshots.fresh(tenantId)
    }
    const lease = await this.#leases.acquire(tenantId)
    if ('retryMs' in lease) return this.#enqueue(tenantId, lease.retryMs)
    const progress = await this.#evaluateUntilConsistent(tenantId, lease, nowMs() + MAX_EVALUATION_MS)
    const isKeptUntilEnd = await lease.release(typeof progress === 'object' ? progress : 'incomplete')
    if (progress !== 'conflict' && isKeptUntilEnd) {
      // This message is completed after the next one is enqueued. What was evaluated is in the database and in the
      // cache.
      if (progress === 'interrupted') return this.#enqueue(tenantId)
      return this.#orphans.remove(tenantId)
    }
    this.#drop(tenantId)
    this.#deps.log.warn('collections.evaluation-conflict', { tenantId })
    await this.#enqueue(tenantId, HELD_RETRY_MS)
  }

  async #enqueue(tenantId: string, delayMs?: number): Promise<void> {
    await enqueueEvaluation(tenantId, this.#deps.newId(), this.#deps, delayMs)
  }

  /** Ends with a conflict when others wrote during every pass. */
  async #evaluateUntilConsistent(tenantId: string, lease: HeldLease, untilMs: number): Promise<Progress> {
    for (let passes = 1; passes <= MAX_PASSES; passes += 1) {
      try {
        return await lease.during(() => this.#evaluateOnce(tenantId, lease, untilMs))
      } catch (error) {
        // Changes were taken from the snapshot that did not reach every collection: the next pass evaluates all of
        // them.
        this.#drop(tenantId)
        if (isConflict(error)) continue
        await lease.release('failed')
        throw error
      }
    }
    return 'conflict'
  }

  async #evaluateOnce(tenantId: string, lease: HeldLease, untilMs: number): Promise<Progress> {
    const { collections, snapshots, nowMs } = this.#deps
    const readAtMs = nowMs()
    const criteria = await collections.list(tenantId, 'criteria')
    let heads = await this.#cache.headsOf(tenantId, criteria, lease)
    const rows = await this.#currentRows(tenantId, lease)
    if (this.#cache.dropUnlessTyped(tenantId, rows.settings.types)) {
      heads = await this.#cache.headsOf(tenantId, criteria, lease)
    }
    // Another request has read the rows since. The changes would be lost for the next evaluation.
    if (snapshots.hasReplaced(tenantId, rows)) return this.#evaluateOnce(tenantId, lease, untilMs)
    const taken = snapshots.takeChanges(tenantId)
    const included = snapshots.includedWrites(tenantId)
    // The changes that a failed evaluation took are lost: without a cache, everything is evaluated.
    const changes = this.#cache.has(tenantId) ? taken : 'everything'
    // Other requests refresh the rows meanwhile: a collection and those that refer to it would see different objects.
    const read = { tenantId, criteria, heads, rows, changes, readAtMs, included }
    return snapshots.whileUnchanged(rows, () => this.#evaluateRows(read, lease, untilMs))
  }

  /**
   * The rows, by settings that are not older than those of the last evaluation. That was possibly made by an instance
   * which has read newer ones than this one has cached: their members would change back for some seconds.
   */
  async #currentRows(tenantId: string, lease: HeldLease): Promise<RowSnapshot> {
    const { snapshots } = this.#deps
    const rows = await snapshots.fresh(tenantId)
    if (settingsIdOf(rows.settings, this.#deps) === lease.settingsId) return rows
    this.#deps.forgetSettings(tenantId)
    const current = await snapshots.fresh(tenantId)
    await lease.readBy(settingsIdOf(current.settings, this.#deps))
    return current
  }

  async #evaluateRows(
    { tenantId, rows, changes, readAtMs, included, ...read }: ReadState,
    lease: HeldLease,
    untilMs: number,
  ): Promise<Progress> {
    const { collections, reconciler, nowMs } = this.#deps
    let { criteria, heads } = read
    const evaluations = this.#cache.evaluationsOf(tenantId)
    if (await reconciler.reconcile(tenantId, rows, changes)) {
      criteria = await collections.list(tenantId, 'criteria')
      heads = await this.#cache.headsOf(tenantId, criteria, lease)
    }
    const joined = await this.#joined.refreshed(tenantId, joinablesReferredTo(criteria))
    const { zone } = rows.settings
    const clocks = { nowMs: nowMs(), clockDifferenceMs: this.#deps.clockDifferenceMs }
    const todayMs = todayFor(heads.values(), zone, clocks)
    const context = memberContext(todayMs, criteria, evaluations, joined.members)
    const changedMembers = new Set(joined.changed)
    const pass = {
      tenantId,
      criteria,
      heads,
      evaluations,
      rows,
      changes,
      changedMembers,
      context,
      lease,
      readAtMs,
      followedUntilMs: lease.coveredAtMs ?? 0,
      untilMs,
    }
    const result = await evaluateBatches(pass, { ...this.#deps, cache: this.#cache })
    reportPass(pass, result, nowMs() - readAtMs, this.#deps)
    if (result.remainingCount > 0) return 'interrupted'
    const readsDay = evaluations.values().some(({ dependsOnDay }) => dependsOnDay)
    const readsRequests = joinablesReferredTo(criteria).length > 0
    return {
      covered: {
        readsRequests,
        ...(readsDay && { dayMs: todayMs }),
        ...(zone !== UTC && { timeZone: zone.name }),
        ...(included !== undefined && { coreObjects: included }),
      },
    }
  }

  #drop(tenantId: string): void {
    this.#cache.drop(tenantId)
    this.#joined.drop(tenantId)
  }
}
