import { coalescing } from '../coalescing.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import { dayOf } from '../criteria/instant.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { Measures } from '../measures.ts'
import { Refusal } from '../refusal.ts'
import { isStale } from '../while-stale.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import { type CollectionDependencies, ringEvaluation } from './collection-dependencies.ts'
import { CollectionMemory } from './collection-memory.ts'
import { JoinedMemory } from './joined-memory.ts'
import { removeLeftMembers } from './left-members.ts'
import { ringForLinks } from './link-bells.ts'
import { definitionKeyOf, idsNow, type Known, type Round } from './members-now.ts'
import { OtherEvaluators, type Writing } from './other-evaluators.ts'
import type { RowChanges } from './tenant-snapshots.ts'

/** An evaluation goes on while it or another writes, so often at most. */
const ROUNDS_AT_MOST = 10

/** `others-wrote`: some collections are to be evaluated anew. */
type RoundOutcome = 'settled' | 'wrote' | 'others-wrote'

/** Whoever keeps something of core objects that has to end with them. */
export interface ChangeFollower {
  /** Called with each round's changes, before anything is evaluated. Repeated ones do no harm. */
  follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void>
}

type WritingRound = Round & { readonly writing: Writing }

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
  readonly #memory: CollectionMemory
  readonly #others: OtherEvaluators
  readonly #joined: JoinedMemory
  /** Evaluates all that is due. Calls during an evaluation share the next one. */
  readonly evaluate = coalescing(async (tenantId) => {
    await this.#evaluateUntilSettled(tenantId)
    await removeLeftMembers(tenantId, this.#deps)
  })

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#memory = new CollectionMemory(deps.memberships)
    this.#others = new OtherEvaluators(deps.evaluationLog, deps.newId(), deps)
    this.#joined = new JoinedMemory(deps.joined)
  }

  async #evaluateUntilSettled(tenantId: string): Promise<void> {
    for (let round = 1; ; round += 1) {
      const outcome = await this.#evaluateOnce(tenantId).catch((error: unknown) => {
        // Changes have been taken from the snapshot that are not in every collection: all is evaluated from the start.
        this.#forget(tenantId)
        if (!isStale(error)) throw error
        return 'others-wrote' as const
      })
      if (outcome === 'settled') return
      if (round < ROUNDS_AT_MOST) continue
      if (outcome === 'wrote') return ringEvaluation(tenantId, this.#deps)
      throw new Refusal('StaleVersion', `Others evaluate tenant ${tenantId} all the time`)
    }
  }

  async #evaluateOnce(tenantId: string): Promise<RoundOutcome> {
    const { collections, snapshots, follower, nowMs, log, measures } = this.#deps
    const startedMs = nowMs()
    const numberBefore = await this.#hearOthers(tenantId)
    const criteria = await collections.list(tenantId, { kind: 'criteria' })
    const known = await this.#memory.of(tenantId, criteria)
    const rows = await snapshots.fresh(tenantId)
    const taken = snapshots.takeChanges(tenantId)
    // What an evaluation that failed had taken is gone: whoever remembers nothing looks at everything.
    const changes = this.#memory.has(tenantId) ? taken : 'everything'
    this.#memory.keep(tenantId, known)
    this.#forgetTheDropped()
    await follower.follow(tenantId, rows, changes)
    const joined = await this.#joined.refreshed(tenantId, referredToBy(criteria))
    const context = memberContext(dayOf(nowMs()), criteria, known, joined.members)
    const writing = this.#others.writing(tenantId)
    const round = { rows, changes, changedMembers: new Set(joined.changed), context, writing }
    const { changed, overtaken } = await this.#evaluateAll(tenantId, criteria, known, round).finally(writing.end)
    const durationMs = nowMs() - startedMs
    measures.record('evaluation.duration', durationMs, {})
    measureEvaluated(criteria.length, changed.size, overtaken.size, measures)
    log.info('collections.evaluated', {
      tenantId,
      collectionCount: criteria.length,
      changedCount: changed.size,
      overtakenCount: overtaken.size,
      rowCount: rows.rowCount,
      durationMs,
    })
    if (writing.hasBegun()) return 'wrote'
    const isAlone = numberBefore === (await this.#hearOthers(tenantId))
    return isAlone && overtaken.size === 0 ? 'settled' : 'others-wrote'
  }

  /** Forgets what others have written. Answers which entry of the log is the last. */
  async #hearOthers(tenantId: string): Promise<number> {
    const { written, lastNumber } = await this.#others.look(tenantId)
    if (written === 'anything') this.#forget(tenantId)
    else this.#memory.forgetCollections(tenantId, written)
    return lastNumber
  }

  /** In the order of references. A collection that another evaluator wrote, and what refers to it, is left for later. */
  async #evaluateAll(
    tenantId: string,
    criteria: readonly Collection[],
    known: Map<string, Known>,
    round: WritingRound,
  ): Promise<{ changed: ReadonlySet<string>; overtaken: ReadonlySet<string> }> {
    const changed = new Set<string>()
    const overtaken = new Set<string>()
    const idsBefore = new Map([...known].map(([id, { ids }]) => [id, ids]))
    try {
      for (const collection of inOrder(criteria)) {
        const memory = known.get(collection.id)
        if (memory === undefined) continue
        const outcome = collection.refersTo.some((id) => overtaken.has(id))
          ? 'overtaken'
          : await this.#evaluateCollection(collection, memory, round)
        if (outcome === 'changed') changed.add(collection.id)
        if (outcome !== 'overtaken') continue
        overtaken.add(collection.id)
        known.delete(collection.id)
      }
    } finally {
      const evaluated = criteria.map((collection) => {
        const before = idsBefore.get(collection.id)
        const memory = known.get(collection.id)
        return {
          collection,
          before,
          after: memory?.ids ?? before,
          isChanged: changed.has(collection.id),
          membershipVersion: memory?.head?.value.membershipVersion,
        }
      })
      await ringForLinks(tenantId, { criteria: evaluated, rows: round.rows, changes: round.changes }, this.#deps)
    }
    return { changed, overtaken }
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

  async #evaluateCollection(
    collection: Collection,
    memory: Known,
    round: WritingRound,
  ): Promise<'changed' | 'same' | 'overtaken'> {
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
      if (!isStale(error)) throw error
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

function measureEvaluated(count: number, changedCount: number, overtakenCount: number, measures: Measures): void {
  const counts = { changed: changedCount, overtaken: overtakenCount, same: count - changedCount - overtakenCount }
  for (const [outcome, value] of Object.entries(counts)) {
    if (value > 0) measures.record('evaluation.collections', value, { outcome })
  }
}

function inOrder(criteria: readonly Collection[]): Collection[] {
  const byId = new Map(criteria.map((collection) => [collection.id, collection]))
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  return order.flatMap((id) => byId.get(id) ?? [])
}

/** Those that are not criteria collections among what conditions name are joinable ones. */
function referredToBy(criteria: readonly Collection[]): string[] {
  const own = new Set(criteria.map(({ id }) => id))
  return [...new Set(criteria.flatMap(({ refersTo }) => refersTo))].filter((id) => !own.has(id))
}

/** The members of other collections, as this round has them: in dependency order they are there when asked for. */
function memberContext(
  todayMs: number,
  criteria: readonly Collection[],
  known: ReadonlyMap<string, Known>,
  joined: ReadonlyMap<string, CollectionMembers>,
): EvaluationContext {
  const objectTypes = new Map(criteria.map(({ id, objectType }) => [id, objectType as CriteriaObjectType]))
  const sets = new WeakMap<readonly string[], CollectionMembers>()
  return {
    todayMs,
    membersOf: (id) => {
      const ids = known.get(id)?.ids
      const objectType = objectTypes.get(id)
      if (ids === undefined || objectType === undefined) return joined.get(id)
      const members = sets.get(ids) ?? { kind: 'criteria', objectType, ids: new Set(ids) }
      sets.set(ids, members)
      return members
    },
  }
}
