import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { TimeZone } from '../../kernel/time-zone.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { MembershipHead } from '../collections/membership-store.ts'
import { CORE_TYPE, type CollectionMembers, joinedAt } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { attributesRead, type CheckedCondition, dependsOnDay, readsAnyPosition } from '../criteria/condition.ts'
import { evaluationTask, objectEvaluationTask } from '../criteria/evaluate.ts'
import type { NamedMembersContext } from '../criteria/evaluation-context.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import { LEADERS_MOVED } from '../tenant-index/rows/apply-objects.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/rows/row-changes.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { mayChangeAccounts } from './notify-links.ts'

/** A collection as the evaluator last evaluated it. */
export type CachedEvaluation = {
  readonly definitionVersion: number
  readonly condition: CompiledCondition
  readonly dependsOnDay: boolean
  /** Schema names. */
  readonly attributesRead: ReadonlySet<string>
  readonly readsAnyPosition: boolean
  /** As last read or written here. A write that quotes a stale head is rejected. */
  head: Versioned<MembershipHead> | undefined
  /** Ascending. Undefined until evaluated here, and after a release. */
  ids: readonly string[] | undefined
  /** Whether the ids were evaluated here and are no longer kept. They are those of the head. */
  isReleased: boolean
}

/** The data of one pass over a tenant's collections. */
export type EvaluationPass = {
  readonly rows: RowSnapshot
  readonly changes: RowChanges
  /** Collections of either kind whose members have changed. Collections that refer to them are evaluated in full. */
  readonly changedMembers: Set<string>
  readonly context: NamedMembersContext
}

/**
 * The cache entry of a collection before its first evaluation by this process.
 * @throws Refusal `StaleVersion` when its stored members satisfy a later definition.
 */
export function newCachedEvaluation(
  { id, definitionVersion }: Collection,
  condition: CheckedCondition,
  head: Versioned<MembershipHead> | undefined,
): CachedEvaluation {
  if (partsOfDefinitionKey(head?.value.definitionKey ?? '0').definitionVersion > definitionVersion) {
    throw new Refusal('StaleVersion', `Collection ${id} was changed and evaluated concurrently`)
  }
  return {
    definitionVersion,
    condition: compile(condition),
    dependsOnDay: dependsOnDay(condition),
    attributesRead: attributesRead(condition),
    readsAnyPosition: readsAnyPosition(condition.root),
    head,
    ids: undefined,
    isReleased: false,
  }
}

/** Releases the memory of an evaluation. It is evaluated in full when a change concerns it. */
export function release(evaluation: CachedEvaluation): void {
  evaluation.isReleased ||= evaluation.ids !== undefined
  evaluation.ids = undefined
  evaluation.condition.release()
}

/** The id texts belong to the rows. */
const BYTES_PER_ID = 8

/** The memory of evaluations of a tenant's collections on its rows. */
export function sizeBytesOf(evaluations: Iterable<CachedEvaluation>, rows: RowSnapshot): number {
  let sizeBytes = 0
  for (const { ids = [], condition } of evaluations) sizeBytes += ids.length * BYTES_PER_ID + condition.sizeBytes(rows)
  return sizeBytes
}

/** Identifies the definition, and the day when the condition depends on it. A new key requires a new evaluation. */
export function definitionKeyOf(cached: CachedEvaluation, todayMs: number): string {
  return cached.dependsOnDay ? `${cached.definitionVersion}${daySuffix(todayMs)}` : String(cached.definitionVersion)
}

/** The definition, and the day on which its members were evaluated if it depends on the day. */
export function partsOfDefinitionKey(key: string): { definitionVersion: number; dayMs: number | undefined } {
  const [version, day] = key.split('@').map(Number)
  return { definitionVersion: version ?? 0, dayMs: day }
}

/**
 * The day of evaluation. A new day begins as soon as one evaluator's clock has reached it. Otherwise evaluators with
 * different clocks would undo each other's changes around midnight.
 */
export function todayFor(
  heads: Iterable<CachedEvaluation['head']>,
  zone: TimeZone,
  { nowMs, clockDifferenceMs }: { readonly nowMs: number; readonly clockDifferenceMs: number },
): number {
  const [todayMs, soonMs] = [zone.startOfDay(nowMs), zone.startOfDay(nowMs + clockDifferenceMs)]
  if (soonMs === todayMs) return todayMs
  const hasBegun = Iterator.from(heads).some((head) => head?.value.definitionKey.endsWith(daySuffix(soonMs)))
  return hasBegun ? soonMs : todayMs
}

function daySuffix(dayMs: number): string {
  return `@${dayMs}`
}

/** What must be evaluated of a collection: nothing when no change can have affected its members. */
export type EvaluationScope = 'nothing' | 'changed objects' | 'everything'

export function scopeOf(
  collection: Collection,
  cached: CachedEvaluation,
  definitionKey: string,
  { changes, changedMembers, context }: EvaluationPass,
): EvaluationScope {
  const isWhole =
    changes === 'everything' ||
    cached.head?.value.definitionKey !== definitionKey ||
    collection.refersTo.some((id) => changedMembers.has(id))
  if (isWhole) return 'everything'
  if (changes.attributes.has(LEADERS_MOVED) && cached.attributesRead.has(LEADERS_MOVED)) return 'everything'
  // The links of released members are notified of changed accounts only after an evaluation.
  if (cached.ids === undefined && (!cached.isReleased || mayChangeAccounts(changes))) return 'everything'
  if (!changes.rowsMoved && cached.attributesRead.isDisjointFrom(changes.attributes)) return 'nothing'
  const isTouched = changes.ids[CORE_TYPE[collection.objectType as CriteriaObjectType]].size > 0
  if (!isTouched && joinedAtTouched(collection, changes, context).size === 0) return 'nothing'
  return cached.ids === undefined ? 'everything' : 'changed objects'
}

/** The current members; undefined when no change can have affected them. */
export function* idsNow(
  collection: Collection,
  cached: CachedEvaluation,
  definitionKey: string,
  pass: EvaluationPass,
): Task<readonly string[] | undefined> {
  const { rows, changes, context } = pass
  const objectType = collection.objectType as CriteriaObjectType
  const scope = scopeOf(collection, cached, definitionKey, pass)
  if (scope === 'nothing') return undefined
  if (scope === 'everything' || changes === 'everything' || cached.ids === undefined)
    return yield* evaluationTask(cached.condition, rows, objectType, context)
  const people = cached.readsAnyPosition ? changes.ids.identity : joinedAtTouched(collection, changes, context)
  const touched = yield* touchedWithRowsOf(people, changes, objectType, rows)
  const verdicts = yield* objectEvaluationTask(cached.condition, rows, objectType, touched, context)
  return withVerdicts(cached.ids, verdicts)
}

/** The people whose memberships name a touched position: other rows of theirs may be or not be members because of it. */
function joinedAtTouched({ refersTo }: Collection, changes: KnownChanges, context: NamedMembersContext): Set<string> {
  const { ids, rowsMoved } = changes
  if (!rowsMoved) return new Set()
  return new Set(refersTo.flatMap((id) => joinedAt(ids.relationship, ids.identity, context.membersOf(id))))
}

/** The touched objects, and those on the rows of some people. One person in each step. */
function* touchedWithRowsOf(
  people: ReadonlySet<string>,
  { ids }: KnownChanges,
  objectType: CriteriaObjectType,
  rows: RowSnapshot,
): Task<ReadonlySet<string>> {
  if (people.size === 0 || objectType === 'Identity') return ids[CORE_TYPE[objectType]]
  const touched = new Set(ids[CORE_TYPE[objectType]])
  for (const person of people) {
    for (const held of rows.heldBy(person)) {
      const id = objectType === 'Relationship' ? held : rows.orgUnitOf(held)
      if (id !== undefined) touched.add(id)
    }
    yield
  }
  return touched
}

/** The ascending ids after the verdicts on some of them; undefined when nothing changed. */
export function withVerdicts(
  ids: readonly string[],
  isMember: ReadonlyMap<string, boolean>,
): readonly string[] | undefined {
  const changed = [...isMember.keys()].filter((id) => isMember.get(id) !== (ids[positionAmong(ids, id)] === id)).sort()
  if (changed.length === 0) return undefined
  const pieces: (readonly string[])[] = []
  let start = 0
  for (const id of changed) {
    const position = positionAmong(ids, id)
    const isAdded = isMember.get(id) === true
    pieces.push(ids.slice(start, position), isAdded ? [id] : [])
    start = isAdded ? position : position + 1
  }
  return [...pieces, ids.slice(start)].flat()
}

/** The position of an id among ascending ids, or the one where it would be inserted. Binary search. */
export function positionAmong(ids: readonly string[], id: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as string) < id) low = middle + 1
    else high = middle
  }
  return low
}

/** Collections in levels: those of one level refer only to collections of earlier levels. */
export function inLevels(criteria: readonly Collection[]): Collection[][] {
  const byId = new Map(criteria.map((collection) => [collection.id, collection]))
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  const levelOf = new Map<string, number>()
  const levels: Collection[][] = []
  for (const collection of order.flatMap((id) => byId.get(id) ?? [])) {
    const level = collection.refersTo.reduce((above, id) => Math.max(above, (levelOf.get(id) ?? -1) + 1), 0)
    levelOf.set(collection.id, level)
    const peers = levels[level] ?? []
    peers.push(collection)
    levels[level] = peers
  }
  return levels
}

/** The joinable collections that conditions refer to. */
export function joinablesReferredTo(criteria: readonly Collection[]): string[] {
  const own = new Set(criteria.map(({ id }) => id))
  return [...new Set(criteria.flatMap(({ refersTo }) => refersTo))].filter((id) => !own.has(id))
}

/**
 * An evaluation context with the members that this pass has evaluated. Dependency order ensures that they are complete.
 */
export function memberContext(
  todayMs: number,
  criteria: readonly Collection[],
  evaluations: ReadonlyMap<string, CachedEvaluation>,
  joined: ReadonlyMap<string, CollectionMembers>,
): NamedMembersContext {
  const objectTypes = new Map(criteria.map(({ id, objectType }) => [id, objectType as CriteriaObjectType]))
  const sets = new WeakMap<readonly string[], CollectionMembers>()
  return {
    todayMs,
    membersOf: (id) => {
      const ids = evaluations.get(id)?.ids
      const objectType = objectTypes.get(id)
      if (ids === undefined || objectType === undefined) return joined.get(id)
      const members = sets.get(ids) ?? { kind: 'criteria', objectType, ids: new Set(ids) }
      sets.set(ids, members)
      return members
    },
  }
}
