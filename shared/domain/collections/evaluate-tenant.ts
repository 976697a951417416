import { coalescing } from '../coalescing.ts'
import { CORE_TYPE, type CollectionMembers } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { attributesRead, dependsOnDay } from '../criteria/condition.ts'
import { type EvaluationContext, evaluate, evaluateObjects } from '../criteria/evaluate.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { Log } from '../log.ts'
import { Refusal } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedCondition } from './condition-entry.ts'
import { dayOf } from './evaluation-context.ts'
import { JoinedMemory } from './joined-memory.ts'
import type { MembershipHead } from './membership-store.ts'
import { joinableWithMovedAccounts, mayMoveAccounts, withMovedAccounts } from './moved-accounts.ts'
import type { RowChanges } from './tenant-snapshots.ts'

/** What the evaluator remembers of a collection from one evaluation to the next. */
type Known = {
  readonly definitionVersion: number
  readonly condition: CompiledCondition
  readonly dependsOnDay: boolean
  /** Schema names. */
  readonly attributesRead: ReadonlySet<string>
  /** As last read or written here: whoever else writes makes it stale, and this evaluator notices. */
  head: Versioned<MembershipHead> | undefined
  /** Ascending. Undefined until evaluated here. */
  ids: readonly string[] | undefined
}

/** Evaluations that lose against another evaluator are begun anew, so often at most. */
const ROUNDS_AT_MOST = 3

/** Whoever keeps something of core objects that has to end with them. */
export interface ChangeFollower {
  /** Called with each round's changes, before anything is evaluated. Repeated ones do no harm. */
  follow(tenantId: string, rows: RowSnapshot, changes: RowChanges): Promise<void>
}

type EvaluatorDependencies = CollectionDependencies & { readonly log: Log; readonly follower: ChangeFollower }

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
  readonly evaluate = coalescing((tenantId) => this.#evaluateUntilSettled(tenantId))

  constructor(deps: EvaluatorDependencies) {
    this.#deps = deps
    this.#joined = new JoinedMemory(deps.joined)
  }

  async #evaluateUntilSettled(tenantId: string): Promise<void> {
    for (let round = 1; ; round += 1) {
      try {
        return await this.#evaluateOnce(tenantId)
      } catch (error) {
        // Changes have been taken from the snapshot that are not in every collection: all is evaluated from the start.
        this.#known.delete(tenantId)
        this.#joined.forget(tenantId)
        if (!(error instanceof Refusal) || error.code !== 'StaleVersion' || round === ROUNDS_AT_MOST) throw error
      }
    }
  }

  async #evaluateOnce(tenantId: string): Promise<void> {
    const { collections, snapshots, follower, nowMs, log } = this.#deps
    const startedMs = nowMs()
    const criteria = await collections.list(tenantId, { kind: 'criteria' })
    const known = await this.#knownOf(tenantId, criteria)
    const rows = await snapshots.fresh(tenantId)
    const changes = snapshots.takeChanges(tenantId)
    await follower.follow(tenantId, rows, changes)
    const joined = await this.#joined.refreshed(tenantId, referredToBy(criteria))
    const changedMembers = new Set(joined.changed)
    const changedCollections = new Set<string>()
    const context = memberContext(dayOf(nowMs()), criteria, known, joined.members)
    const idsBefore = new Map([...known].map(([id, { ids }]) => [id, ids]))
    for (const collection of inOrder(criteria)) {
      const memory = known.get(collection.id)
      if (memory === undefined) continue
      const isChanged = await this.#evaluateCollection(collection, memory, {
        rows,
        changes,
        changedMembers,
        context,
      })
      if (!isChanged) continue
      changedMembers.add(collection.id)
      changedCollections.add(collection.id)
    }
    const overTime = criteria.map((collection) => {
      return { collection, before: idsBefore.get(collection.id), after: known.get(collection.id)?.ids }
    })
    await this.#ringLinks(tenantId, changedCollections, changes, withMovedAccounts(overTime, changes))
    log.info('collections.evaluated', {
      tenantId,
      collectionCount: criteria.length,
      changedCount: changedCollections.size,
      rowCount: rows.rowCount,
      durationMs: nowMs() - startedMs,
    })
  }

  /** The memory of each collection as it is defined now; heads of new ones are read before the changes are. */
  async #knownOf(tenantId: string, criteria: readonly Collection[]): Promise<Map<string, Known>> {
    const before = this.#known.get(tenantId) ?? new Map<string, Known>()
    const known = new Map<string, Known>()
    for (const collection of criteria) {
      const memory = before.get(collection.id)
      if (memory?.definitionVersion === collection.definitionVersion) {
        known.set(collection.id, memory)
        continue
      }
      const condition = storedCondition(collection)
      known.set(collection.id, {
        definitionVersion: collection.definitionVersion,
        condition: compile(condition),
        dependsOnDay: dependsOnDay(condition),
        attributesRead: attributesRead(condition),
        head: await this.#deps.memberships.head(tenantId, collection.id),
        ids: undefined,
      })
    }
    this.#known.set(tenantId, known)
    return known
  }

  async #evaluateCollection(collection: Collection, memory: Known, round: Round): Promise<boolean> {
    const definitionKey = definitionKeyOf(memory, round.context.todayMs)
    const ids = idsNow(collection, memory, definitionKey, round)
    if (ids === undefined) return false
    const { head, change } = await this.#deps.memberships.replace(collection.tenantId, collection.id, memory.head, {
      ids,
      definitionKey,
      evaluatedAtMs: this.#deps.nowMs(),
    })
    memory.head = head
    memory.ids = ids
    return change.added.length + change.removed.length > 0
  }

  async #ringLinks(
    tenantId: string,
    changed: ReadonlySet<string>,
    changes: RowChanges,
    criteriaMoved: readonly string[],
  ): Promise<void> {
    if (changed.size === 0 && !mayMoveAccounts(changes)) return
    const { links, joined } = this.#deps
    const linked = await links.linkedCollections(tenantId)
    const joinable = [...linked].filter((id) => this.#known.get(tenantId)?.has(id) !== true)
    const moved = new Set([
      ...criteriaMoved.filter((id) => linked.has(id)),
      ...(await joinableWithMovedAccounts(tenantId, joinable, changes, joined)),
    ])
    if (moved.size > 0) await links.accountsMoved(tenantId, [...moved])
    for (const collectionId of linked.intersection(changed).union(moved)) {
      const message = { tenantId, collectionId }
      await this.#deps.doorbells.ring({ queue: 'membership-changes', message }, { id: `change:${this.#deps.newId()}` })
    }
  }
}

type Round = {
  readonly rows: RowSnapshot
  readonly changes: RowChanges
  /** Collections of either kind whose members have changed: those that refer to them are evaluated as a whole. */
  readonly changedMembers: ReadonlySet<string>
  readonly context: EvaluationContext
}

/** A new day is as good as a new definition for a condition that asks for today. */
function definitionKeyOf(memory: Known, todayMs: number): string {
  return memory.dependsOnDay ? `${memory.definitionVersion}@${todayMs}` : String(memory.definitionVersion)
}

/** The members now; undefined when nothing has happened that could have changed them. */
function idsNow(
  collection: Collection,
  memory: Known,
  definitionKey: string,
  round: Round,
): readonly string[] | undefined {
  const { rows, changes, changedMembers, context } = round
  const objectType = collection.objectType as CriteriaObjectType
  if (memory.ids === undefined || changes === 'everything') return evaluate(memory.condition, rows, objectType, context)
  const isWhole =
    memory.head?.value.definitionKey !== definitionKey || collection.refersTo.some((id) => changedMembers.has(id))
  if (isWhole) return evaluate(memory.condition, rows, objectType, context)
  if (!changes.rowsMoved && memory.attributesRead.isDisjointFrom(changes.attributes)) return undefined
  const touched = changes.ids[CORE_TYPE[objectType]]
  if (touched.size === 0) return undefined
  return withVerdicts(memory.ids, evaluateObjects(memory.condition, rows, objectType, touched, context))
}

/** The ascending ids with those added that are members now, and without those that are not; undefined if unchanged. */
export function withVerdicts(
  ids: readonly string[],
  isMember: ReadonlyMap<string, boolean>,
): readonly string[] | undefined {
  const before = new Set(ids)
  const added = [...isMember].filter(([id, member]) => member && !before.has(id)).map(([id]) => id)
  const removed = new Set([...isMember].filter(([id, member]) => !member && before.has(id)).map(([id]) => id))
  if (added.length + removed.size === 0) return undefined
  return [...ids.filter((id) => !removed.has(id)), ...added].sort()
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
