import { coalesce } from '../../kernel/concurrency.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { isConflict } from '../../kernel/versioned.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { RowChanges } from '../tenant-index/tenant-snapshots.ts'
import type { Collection } from './collection.ts'
import { type CollectionDependencies, notifyEvaluation } from './collection-dependencies.ts'
import { removeOrphanedMembers } from './delete-collection.ts'
import { EvaluationCache, JoinedMembersCache } from './evaluation-cache.ts'
import { EvaluatorCoordination, type Writing } from './evaluator-coordination.ts'
import {
  type CachedEvaluation,
  definitionKeyOf,
  type EvaluationPass,
  idsNow,
  inOrder,
  joinablesReferredTo,
  memberContext,
  todayFor,
} from './members-now.ts'
import { notifyLinks } from './notify-links.ts'

/** An evaluation goes on while it or another writes, so often at most. */
const ROUNDS_AT_MOST = 10

/** `others-wrote`: some collections are to be evaluated anew. */
type RoundOutcome = 'settled' | 'wrote' | 'others-wrote'

/** What became of a collection in a round. */
type Outcome = 'changed' | 'same' | 'overtaken' | 'faulty'

/** Whoever keeps something of core objects that has to end with them. */
export interface ChangeFollower {
  /** Called with each round's changes, before anything is evaluated. Repeated ones do no harm. */
  follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void>
}

type WritingRound = EvaluationPass & { readonly writing: Writing }

type EvaluatorDependencies = CollectionDependencies & { readonly follower: ChangeFollower }

/**
 * Keeps the members of a tenant's criteria collections true to its core objects.
 *
 * Two evaluators do not undo each other: each reads the heads first, then the changes, and quotes those heads when it
 * writes. So whoever writes has seen all that the writer before it had seen. One that finds nothing to write quotes
 * nothing. Therefore each tells the others before it writes; looks at its end whether another has told so meanwhile; and
 * after it has written looks once more at what there is, as one that began later may have found nothing to do.
 */
export class TenantEvaluator {
  readonly #deps: EvaluatorDependencies
  readonly #memory: EvaluationCache
  readonly #others: EvaluatorCoordination
  readonly #joined: JoinedMembersCache
  /** Evaluates all that is due. Calls during an evaluation share the next one. */
  readonly evaluate = coalesce(async (tenantId) => {
    await this.#evaluateUntilSettled(tenantId)
    await removeOrphanedMembers(tenantId, this.#deps)
  })

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#memory = new EvaluationCache(deps)
    this.#others = new EvaluatorCoordination(deps.evaluationLog, deps.newId(), deps)
    this.#joined = new JoinedMembersCache(deps.joined)
  }

  async #evaluateUntilSettled(tenantId: string): Promise<void> {
    for (let round = 1; ; round += 1) {
      const outcome = await this.#evaluateOnce(tenantId).catch((error: unknown) => {
        // Changes have been taken from the snapshot that are not in every collection: all is evaluated from the start.
        this.#forget(tenantId)
        if (!isConflict(error)) throw error
        return 'others-wrote' as const
      })
      if (outcome === 'settled') return
      if (round < ROUNDS_AT_MOST) continue
      if (outcome === 'wrote') return notifyEvaluation(tenantId, this.#deps)
      throw new Refusal('StaleVersion', `Others evaluate tenant ${tenantId} all the time`)
    }
  }

  async #evaluateOnce(tenantId: string): Promise<RoundOutcome> {
    const { collections, snapshots, follower, nowMs, log, metrics } = this.#deps
    const startedMs = nowMs()
    const numberBefore = await this.#hearOthers(tenantId)
    const criteria = await collections.list(tenantId, { kind: 'criteria' })
    const known = await this.#memory.of(criteria)
    const rows = await snapshots.fresh(tenantId)
    const taken = snapshots.takeChanges(tenantId)
    // What an evaluation that failed had taken is gone: whoever remembers nothing looks at everything.
    const changes = this.#memory.has(tenantId) ? taken : 'everything'
    this.#memory.keep(tenantId, known)
    this.#forgetTheDropped()
    await follower.follow(tenantId, rows, changes)
    const joined = await this.#joined.refreshed(tenantId, joinablesReferredTo(criteria))
    const context = memberContext(todayFor(known, nowMs()), criteria, known, joined.members)
    const writing = this.#others.writing(tenantId)
    const round = { rows, changes, changedMembers: new Set(joined.changed), context, writing }
    const outcomes = await this.#evaluateAll(tenantId, criteria, known, round).finally(writing.end)
    const counts = Object.groupBy(outcomes.values(), (outcome) => outcome)
    const durationMs = nowMs() - startedMs
    metrics.record('evaluation.duration', durationMs, {})
    for (const [outcome, { length }] of Object.entries(counts))
      metrics.record('evaluation.collections', length, { outcome })
    log.info('collections.evaluated', {
      tenantId,
      collectionCount: criteria.length,
      changedCount: counts.changed?.length ?? 0,
      overtakenCount: counts.overtaken?.length ?? 0,
      faultyCount: counts.faulty?.length ?? 0,
      rowCount: rows.rowCount,
      durationMs,
    })
    if (writing.hasBegun()) return 'wrote'
    const isAlone = numberBefore === (await this.#hearOthers(tenantId))
    return isAlone && counts.overtaken === undefined ? 'settled' : 'others-wrote'
  }

  /** Forgets what others have written. Answers which entry of the log is the last. */
  async #hearOthers(tenantId: string): Promise<number> {
    const { written, lastNumber } = await this.#others.look(tenantId)
    if (written === 'anything') this.#forget(tenantId)
    else this.#memory.forgetCollections(tenantId, written)
    return lastNumber
  }

  /** In the order of references. */
  async #evaluateAll(
    tenantId: string,
    criteria: readonly Collection[],
    known: Map<string, CachedEvaluation>,
    round: WritingRound,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const outcomes = new Map<string, Outcome>()
    const idsBefore = new Map([...known].map(([id, { ids }]) => [id, ids]))
    try {
      for (const collection of inOrder(criteria)) {
        const memory = known.get(collection.id)
        const outcome =
          memory === undefined
            ? 'faulty'
            : (heldUp(collection, outcomes) ?? (await this.#evaluateCollection(collection, memory, round)))
        outcomes.set(collection.id, outcome)
        if (outcome === 'overtaken' || outcome === 'faulty') known.delete(collection.id)
      }
    } finally {
      const evaluated = criteria.map((collection) => {
        const before = idsBefore.get(collection.id)
        const memory = known.get(collection.id)
        return {
          collection,
          before,
          after: memory?.ids ?? before,
          isChanged: outcomes.get(collection.id) === 'changed',
          membershipVersion: memory?.head?.value.membershipVersion,
        }
      })
      await notifyLinks(tenantId, { criteria: evaluated, rows: round.rows, changes: round.changes }, this.#deps)
    }
    return outcomes
  }

  /** Once a tenant's rows have left memory, all of it is evaluated anew: what is remembered of it only takes room. */
  #forgetTheDropped(): void {
    for (const tenantId of this.#memory.tenantIds()) {
      if (!this.#deps.snapshots.holds(tenantId)) this.#forget(tenantId)
    }
  }

  #forget(tenantId: string): void {
    this.#memory.forget(tenantId)
    this.#joined.forget(tenantId)
  }

  async #evaluateCollection(collection: Collection, memory: CachedEvaluation, round: WritingRound): Promise<Outcome> {
    const definitionKey = definitionKeyOf(memory, round.context.todayMs)
    const ids = await this.#deps.snapshots.reading(round.rows, idsNow(collection, memory, definitionKey, round))
    if (ids === undefined) return 'same'
    const { memberships, nowMs } = this.#deps
    const isFirst = memory.head === undefined
    try {
      const evaluation = { ids, definitionKey, evaluatedAtMs: nowMs() }
      const { tenantId, id } = collection
      const { head, change } = await memberships.replace(tenantId, id, memory.head, evaluation, () =>
        round.writing.begin(id),
      )
      const isChanged = change.added.length + change.removed.length > 0
      // Another evaluator may have written the change already: what refers to the collection has not seen it here.
      if (isChanged || memory.ids === undefined) round.changedMembers.add(collection.id)
      memory.head = head
      memory.ids = ids
      if (isFirst) await this.#removeUnlessThere(collection)
      return isChanged ? 'changed' : 'same'
    } catch (error) {
      if (!isConflict(error)) throw error
      await this.#removeUnlessThere(collection)
      return 'overtaken'
    }
  }

  /**
   * A collection deleted while its members were written: the deletion may have looked for them too early. Looking at the
   * collection after the write tells, as it was deleted before they were looked for.
   */
  async #removeUnlessThere({ tenantId, id }: Collection): Promise<void> {
    const { collections, memberships } = this.#deps
    if ((await collections.find(tenantId, id, 'criteria')) === undefined) await memberships.remove(tenantId, id)
  }
}

/**
 * What keeps a collection from being evaluated now, as it refers to one that is not: it keeps the members that it has.
 * What another evaluator has written is read in the next round; a fault lasts until the definition is changed.
 */
function heldUp({ refersTo }: Collection, outcomes: ReadonlyMap<string, Outcome>): 'overtaken' | 'faulty' | undefined {
  const referred = new Set(refersTo.map((id) => outcomes.get(id)))
  if (referred.has('faulty')) return 'faulty'
  return referred.has('overtaken') ? 'overtaken' : undefined
}
