import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { type CustomTypes, isSameCustomTypes } from '../core/custom-types.ts'
import type { KnownLeaves } from '../criteria/arrange-condition.ts'
import { CORE_TYPE, type CollectionMembers, type JoinedMembership } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile, ROW_PLACE } from '../criteria/compile.ts'
import { evaluationTask, objectEvaluationTask } from '../criteria/evaluate.ts'
import type { NamedMembersContext } from '../criteria/evaluation-context.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedConditionTask } from './condition-entry.ts'
import { LazyMembers } from './lazy-members.ts'

export type LiveDependencies = Pick<
  CollectionDependencies,
  'collections' | 'joined' | 'snapshots' | 'scheduler' | 'nowMs'
>

/**
 * The current members of the collections and of those that their conditions refer to, evaluated now. Stored members are
 * seconds behind.
 * @throws InvalidConditionError
 */
export async function liveContext(
  tenantId: string,
  collectionIds: readonly string[],
  rows: RowSnapshot,
  deps: LiveDependencies,
  kept: ConditionCache = new Map(),
): Promise<NamedMembersContext> {
  const collections = await withReferences(tenantId, collectionIds, deps)
  const conditions = await deps.scheduler.run(compiledConditions(collections, rows, kept))
  const joined = await deps.joined.of(tenantId, joinables(collections))
  const evaluated = new Map<string, ReadonlySet<string>>()
  const context = contextOver(
    collections,
    dayOn(rows, deps.nowMs()),
    (id) => joined.get(id)?.memberships ?? [],
    ({ id }) => evaluated.get(id) ?? NO_MEMBERS,
  )
  for (const collection of inOrderOfReferences(collections)) {
    const task = evaluationTask(conditionIn(conditions, collection), rows, objectTypeOf(collection), context)
    evaluated.set(collection.id, new Set(await deps.snapshots.reading(rows, task)))
  }
  return context
}

/** Members that are tested one by one, and tasks that ask for them. */
export type LazyContext = {
  readonly context: NamedMembersContext
  /** Runs a task that evaluates conditions in the context. */
  running<T>(task: Task<T>): Task<T>
}

/**
 * The current members of the collections, tested one by one when they are asked for: for the evaluation of few objects.
 * @param collections With all that their conditions refer to.
 * @param own Memberships of one identity, for joinable collections that no condition refers to.
 */
export async function lazyContext(
  tenantId: string,
  collections: ReadonlyMap<string, Collection>,
  rows: RowSnapshot,
  todayMs: number,
  { joined, scheduler }: Pick<LiveDependencies, 'joined' | 'scheduler'>,
  kept: ConditionCache = new Map(),
  own?: ReadonlyMap<string, readonly JoinedMembership[]>,
): Promise<LazyContext> {
  const needed = own === undefined ? joinables(collections) : joinablesWithinConditions(collections)
  const nested = await joined.of(tenantId, needed)
  const conditions = await scheduler.run(compiledConditions(collections, rows, kept))
  const memberships = (id: string) => nested.get(id)?.memberships ?? own?.get(id) ?? []
  return lazyContextOver(collections, rows, todayMs, memberships, (collection) => conditionIn(conditions, collection))
}

/** A lazy context for which the members of the joinable collections are known. */
export function lazyContextOver(
  collections: ReadonlyMap<string, Collection>,
  rows: RowSnapshot,
  todayMs: number,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  conditionOf: (collection: Collection) => CompiledCondition,
): LazyContext {
  const members = new LazyMembers(function* (collectionId, id) {
    const collection = collections.get(collectionId) as Collection
    const objectType = objectTypeOf(collection)
    const results = yield* objectEvaluationTask(conditionOf(collection), rows, objectType, [id], context)
    return results.get(id) === true
  })
  const context: NamedMembersContext = {
    ...contextOver(collections, todayMs, memberships, ({ id }) => members.of(id)),
    asksFor(collectionId, row) {
      const collection = collections.get(collectionId)
      if (collection?.kind !== 'criteria') return false
      const table = rows.tables[CORE_TYPE[objectTypeOf(collection)]]
      const slot = row[ROW_PLACE[table.objectType]]
      return table.isLive(slot) && members.asksFor(collectionId, table.ids.idOf(slot))
    },
  }
  return { context, running: (task) => members.run(task) }
}

function joinables(collections: ReadonlyMap<string, Collection>): string[] {
  return [...collections.values()].filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
}

function joinablesWithinConditions(collections: ReadonlyMap<string, Collection>): string[] {
  const named = [...collections.values()].flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
  return [...new Set(named)].filter((id) => collections.get(id)?.kind === 'joinable')
}

/** A compiled condition of a collection, which takes the place of that of another version or of other types. */
export type CachedCondition = {
  readonly definitionVersion: number
  readonly types: CustomTypes
  readonly condition: CompiledCondition
}

/** Compiled conditions by tenant and collection. */
export type ConditionCache = {
  get(key: string): CachedCondition | undefined
  set(key: string, kept: CachedCondition): unknown
}

/**
 * The conditions of the criteria collections, by collection, bound to the rows: each of these steps takes milliseconds.
 * @throws InvalidConditionError
 */
export function* compiledConditions(
  collections: ReadonlyMap<string, Collection>,
  rows: RowSnapshot,
  kept: ConditionCache,
): Task<ReadonlyMap<string, CompiledCondition>> {
  const { types } = rows.settings
  const conditions = new Map<string, CompiledCondition>()
  for (const collection of collections.values()) {
    if (collection.kind !== 'criteria') continue
    const { tenantId, id, definitionVersion } = collection
    const key = `${tenantId}:${id}`
    const former = kept.get(key)
    const isSame = former?.definitionVersion === definitionVersion && isSameCustomTypes(former.types, types)
    const condition = isSame ? former.condition : yield* compiledTask(collection, types)
    kept.set(key, { definitionVersion, types, condition })
    conditions.set(collection.id, condition)
    yield
    condition.boundTo(rows)
    yield
  }
  return conditions
}

/**
 * @param leaves See `compile`.
 * @throws InvalidConditionError
 */
export function* compiledTask(
  collection: Collection,
  types: CustomTypes,
  leaves?: KnownLeaves,
): Task<CompiledCondition> {
  const checked = yield* storedConditionTask(collection, types)
  yield
  return compile(checked, leaves)
}

function conditionIn(conditions: ReadonlyMap<string, CompiledCondition>, { id }: Collection): CompiledCondition {
  const condition = conditions.get(id)
  if (condition === undefined) throw new Error(`The condition of collection ${id} was not compiled`)
  return condition
}

const NO_MEMBERS: ReadonlySet<string> = new Set()

/**
 * An evaluation context that resolves the members of each collection once.
 * @param idsOf The members of a criteria collection.
 */
function contextOver(
  collections: ReadonlyMap<string, Collection>,
  todayMs: number,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  idsOf: (collection: Collection) => ReadonlySet<string>,
): NamedMembersContext {
  const resolved = new Map<string, CollectionMembers>()
  return {
    todayMs,
    membersOf: (id) => {
      const collection = collections.get(id)
      if (collection === undefined) return undefined
      const members = resolved.get(id) ?? membersIn(collection, memberships, idsOf)
      resolved.set(id, members)
      return members
    },
  }
}

function membersIn(
  collection: Collection,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  idsOf: (collection: Collection) => ReadonlySet<string>,
): CollectionMembers {
  if (collection.kind === 'joinable') return { kind: 'joinable', memberships: memberships(collection.id) }
  return { kind: 'criteria', objectType: objectTypeOf(collection), ids: idsOf(collection) }
}

/** The collections and all that their conditions refer to, directly or not. Costs one query per level of nesting. */
export async function withReferences(
  tenantId: string,
  collectionIds: readonly string[],
  deps: Pick<LiveDependencies, 'collections'>,
): Promise<ReadonlyMap<string, Collection>> {
  const collections = new Map<string, Collection>()
  const visited = new Set<string>()
  let open = [...new Set(collectionIds)]
  while (open.length > 0) {
    for (const id of open) visited.add(id)
    const found = await deps.collections.existing(tenantId, open)
    for (const collection of found) collections.set(collection.id, collection)
    const named = found.flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
    open = [...new Set(named)].filter((id) => !visited.has(id))
  }
  return collections
}

/** Criteria collections, each after those that its condition refers to. */
function inOrderOfReferences(collections: ReadonlyMap<string, Collection>): Collection[] {
  const criteria = [...collections.values()].filter(({ kind }) => kind === 'criteria')
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  return order.flatMap((id) => collections.get(id) ?? [])
}

/** The object type of a criteria collection. Other types are refused when it is created. */
export function objectTypeOf({ objectType }: Collection): CriteriaObjectType {
  return objectType as CriteriaObjectType
}
