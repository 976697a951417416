import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { dayOf } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { CORE_TYPE, type CollectionMembers } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { attributesRead, type CheckedCondition, dependsOnDay } from '../criteria/condition.ts'
import { evaluationTask, objectEvaluationTask } from '../criteria/evaluate.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { RowChanges } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import { CLOCKS_DIFFER_AT_MOST_MS } from './evaluation-lease.ts'
import type { MembershipHead } from './membership-store.ts'

/** What the evaluator remembers of a collection from one evaluation to the next. */
export type CachedEvaluation = {
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

/** What one evaluation of a tenant's collections goes by. */
export type EvaluationPass = {
  readonly rows: RowSnapshot
  readonly changes: RowChanges
  /** Collections of either kind whose members have changed: those that refer to them are evaluated as a whole. */
  readonly changedMembers: Set<string>
  readonly context: EvaluationContext
}

/**
 * What there is to remember of a collection before it is evaluated here.
 * @throws Refusal `StaleVersion` when its members are already those of a later definition than this one.
 */
export function newCachedEvaluation(
  { id, definitionVersion }: Collection,
  condition: CheckedCondition,
  head: Versioned<MembershipHead> | undefined,
): CachedEvaluation {
  if (Number.parseInt(head?.value.definitionKey ?? '0', 10) > definitionVersion) {
    throw new Refusal('StaleVersion', `Collection ${id} was changed and evaluated meanwhile`)
  }
  return {
    definitionVersion,
    condition: compile(condition),
    dependsOnDay: dependsOnDay(condition),
    attributesRead: attributesRead(condition),
    head,
    ids: undefined,
  }
}

/** A new day is as good as a new definition for a condition that asks for today. */
export function definitionKeyOf(memory: CachedEvaluation, todayMs: number): string {
  return memory.dependsOnDay ? `${memory.definitionVersion}${daySuffix(todayMs)}` : String(memory.definitionVersion)
}

/**
 * The day to evaluate by. At midnight it has begun as soon as one evaluator's clock says so, or a slower one would undo
 * what a faster one has written, and the other way round.
 */
export function todayFor(known: ReadonlyMap<string, CachedEvaluation>, nowMs: number): number {
  const [todayMs, soonMs] = [dayOf(nowMs), dayOf(nowMs + CLOCKS_DIFFER_AT_MOST_MS)]
  if (soonMs === todayMs) return todayMs
  const hasBegun = known.values().some(({ head }) => head?.value.definitionKey.endsWith(daySuffix(soonMs)))
  return hasBegun ? soonMs : todayMs
}

function daySuffix(dayMs: number): string {
  return `@${dayMs}`
}

/** The members now, in steps; undefined when nothing has happened that could have changed them. */
export function* idsNow(
  collection: Collection,
  memory: CachedEvaluation,
  definitionKey: string,
  round: EvaluationPass,
): Task<readonly string[] | undefined> {
  const { rows, changes, changedMembers, context } = round
  const objectType = collection.objectType as CriteriaObjectType
  const { ids: before } = memory
  const isWhole =
    changes === 'everything' ||
    memory.head?.value.definitionKey !== definitionKey ||
    collection.refersTo.some((id) => changedMembers.has(id))
  if (before === undefined || isWhole) return yield* evaluationTask(memory.condition, rows, objectType, context)
  if (!changes.rowsMoved && memory.attributesRead.isDisjointFrom(changes.attributes)) return undefined
  const touched = changes.ids[CORE_TYPE[objectType]]
  if (touched.size === 0) return undefined
  const verdicts = yield* objectEvaluationTask(memory.condition, rows, objectType, touched, context)
  return withVerdicts(before, verdicts)
}

/** The ascending ids with those added that are members now, and without those that are not; undefined if unchanged. */
export function withVerdicts(
  ids: readonly string[],
  isMember: ReadonlyMap<string, boolean>,
): readonly string[] | undefined {
  const changed = [...isMember].filter(([id, member]) => member !== isAmong(ids, id))
  if (changed.length === 0) return undefined
  const added = changed.filter(([, member]) => member).map(([id]) => id)
  const removed = new Set(changed.filter(([, member]) => !member).map(([id]) => id))
  return [...ids.filter((id) => !removed.has(id)), ...added].sort()
}

/** Whether an id is among ascending ones: mostly few are asked about, of very many. */
function isAmong(ids: readonly string[], id: string): boolean {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as string) < id) low = middle + 1
    else high = middle
  }
  return ids[low] === id
}

/** Each collection after those that it refers to. */
export function inOrder(criteria: readonly Collection[]): Collection[] {
  const byId = new Map(criteria.map((collection) => [collection.id, collection]))
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  return order.flatMap((id) => byId.get(id) ?? [])
}

/** Those that are not criteria collections among what conditions name: joinable ones. */
export function joinablesReferredTo(criteria: readonly Collection[]): string[] {
  const own = new Set(criteria.map(({ id }) => id))
  return [...new Set(criteria.flatMap(({ refersTo }) => refersTo))].filter((id) => !own.has(id))
}

/** The members of other collections, as this round has them: in dependency order they are there when asked for. */
export function memberContext(
  todayMs: number,
  criteria: readonly Collection[],
  known: ReadonlyMap<string, CachedEvaluation>,
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
