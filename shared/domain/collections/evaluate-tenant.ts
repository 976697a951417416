import { coalescing } from '../coalescing.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import { dayOf } from '../criteria/instant.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { Measures } from '../measures.ts'
import { Refusal } from '../refusal.ts'
import { slices } from '../slices.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { JoinedMemory } from './joined-memory.ts'
import { removeLeftMembers } from './left-members.ts'
import { ringForLinks } from './link-bells.ts'
import { definitionKeyOf, idsNow, type Known, newlyKnown, type Round } from './members-now.ts'
import type { RowChanges } from './tenant-snapshots.ts'

/** What another evaluator has written meanwhile is evaluated anew, so often at most. */
const ROUNDS_AT_MOST = 10

/** Heads of collections that are read at once: each has a partition of its own. */
const HEADS_AT_ONCE_COUNT = 20

/** Whoever keeps something of core objects that has to end with them. */
export interface ChangeFollower {
  /** Called with each round's changes, before anything is evaluated. Repeated ones do no harm. */
  follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void>
}

type EvaluatorDependencies = CollectionDependencies & { readonly follower: ChangeFollower }

/**
 * Keeps the members of a tenant's criteria collections true to its core objects.
 *
 * Two evaluators do not undo each other: each reads the heads first, then the changes, and quotes those heads when it
 * writes. So whoever writes has seen all that the writer before it had seen.
 */
export class TenantEvaluator {
  readonly #deps: EvaluatorDependencies
  readonly #known = new Map<string, Map<string, Known>>()
  readonly #joined: JoinedMemory
  /** Evaluates all that is due. Calls during an evaluation share the next one. */
  readonly evaluate = coalescing(async (tenantId) => {
    await this.#evaluateUntilSettled(tenantId)
    await removeLeftMembers(tenantId, this.#deps)
  })

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#joined = new JoinedMemory(deps.joined)
  }

  async #evaluateUntilSettled(tenantId: string): Promise<void> {
    for (let round = 1; ; round += 1) {
      try {
        if (await this.#evaluateOnce(tenantId)) return
      } catch (error) {
        // Changes have been taken from the snapshot that are not in every collection: all is evaluated from the start.
        this.#forget(tenantId)
        if (!isStale(error)) throw error
      }
      if (round === ROUNDS_AT_MOST) throw new Refusal('StaleVersion', `Others evaluate tenant ${tenantId} all the time`)
    }
  }

  /** Whether every collection is as it should be; else some are to be evaluated anew, as another evaluator wrote them. */
  async #evaluateOnce(tenantId: string): Promise<boolean> {
    const { collections, snapshots, follower, nowMs, log, measures } = this.#deps
    const startedMs = nowMs()
    const criteria = await collections.list(tenantId, { kind: 'criteria' })
    const known = await this.#knownOf(tenantId, criteria)
    const rows = await snapshots.fresh(tenantId)
    const taken = snapshots.takeChanges(tenantId)
    // What an evaluation that failed had taken is gone: whoever remembers nothing looks at everything.
    const changes = this.#known.has(tenantId) ? taken : 'everything'
    this.#known.set(tenantId, known)
    this.#forgetTheDropped()
    await follower.follow(tenantId, rows, changes)
    const joined = await this.#joined.refreshed(tenantId, referredToBy(criteria))
    const context = memberContext(dayOf(nowMs()), criteria, known, joined.members)
    const round = { rows, changes, changedMembers: new Set(joined.changed), context }
    const { changed, overtaken } = await this.#evaluateAll(tenantId, criteria, known, round)
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
    return overtaken.size === 0
  }

  /** In the order of references. A collection that another evaluator wrote, and what refers to it, is left for later. */
  async #evaluateAll(
    tenantId: string,
    criteria: readonly Collection[],
    known: Map<string, Known>,
    round: Round,
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

  /** The memory of each collection as it is defined now; heads of new ones are read before the changes are. */
  async #knownOf(tenantId: string, criteria: readonly Collection[]): Promise<Map<string, Known>> {
    const before = this.#known.get(tenantId) ?? new Map<string, Known>()
    const known = new Map<string, Known>()
    for (const some of slices(criteria, HEADS_AT_ONCE_COUNT)) {
      const memories = await Promise.all(
        some.map(async (collection) => {
          const memory = before.get(collection.id)
          if (memory?.definitionVersion === collection.definitionVersion) return memory
          return newlyKnown(collection, await this.#deps.memberships.head(tenantId, collection.id))
        }),
      )
      for (const [index, { id }] of some.entries()) known.set(id, memories[index] as Known)
    }
    return known
  }

  /** Once a tenant's rows have left memory, all of it is evaluated anew: what is remembered of it only takes room. */
  #forgetTheDropped(): void {
    for (const tenantId of this.#known.keys()) {
      if (!this.#deps.snapshots.holds(tenantId)) this.#forget(tenantId)
    }
  }

  #forget(tenantId: string): void {
    this.#known.delete(tenantId)
    this.#joined.forget(tenantId)
  }

  async #evaluateCollection(
    collection: Collection,
    memory: Known,
    round: Round,
  ): Promise<'changed' | 'same' | 'overtaken'> {
    const definitionKey = definitionKeyOf(memory, round.context.todayMs)
    const ids = await this.#deps.snapshots.reading(round.rows, idsNow(collection, memory, definitionKey, round))
    if (ids === undefined) return 'same'
    const { memberships, nowMs } = this.#deps
    const isFirst = memory.head === undefined
    try {
      const evaluation = { ids, definitionKey, evaluatedAtMs: nowMs() }
      const { head, change } = await memberships.replace(collection.tenantId, collection.id, memory.head, evaluation)
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

function isStale(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'StaleVersion'
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
