import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { dayOf } from '../../kernel/timestamp.ts'
import type { CollectionMembers, JoinedMembership } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile, type KnownLeaves } from '../criteria/compile.ts'
import { evaluateObjects, evaluationTask } from '../criteria/evaluate.ts'
import type { EvaluationContext, NamedMembersContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedConditionTask } from './condition-entry.ts'

export type LiveDependencies = Pick<
  CollectionDependencies,
  'collections' | 'joined' | 'snapshots' | 'scheduler' | 'nowMs'
>

/**
 * The current members of the collections and of those that their conditions refer to, evaluated now. Stored members are
 * seconds behind.
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
    dayOf(deps.nowMs()),
    (id) => joined.get(id)?.memberships ?? [],
    ({ id }) => evaluated.get(id) ?? NO_MEMBERS,
  )
  for (const collection of inOrderOfReferences(collections)) {
    const task = evaluationTask(conditionIn(conditions, collection), rows, objectTypeOf(collection), context)
    evaluated.set(collection.id, new Set(await deps.snapshots.reading(rows, task)))
  }
  return context
}

/**
 * The current members of the collections, tested one by one when they are asked for: for the evaluation of few objects.
 * Sets of members support `has` only.
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
): Promise<NamedMembersContext> {
  const needed = own === undefined ? joinables(collections) : joinablesWithinConditions(collections)
  const nested = await joined.of(tenantId, needed)
  const conditions = await scheduler.run(compiledConditions(collections, rows, kept))
  const memberships = (id: string) => nested.get(id)?.memberships ?? own?.get(id) ?? []
  return lazyContextOver(collections, rows, todayMs, memberships, (one) => conditionIn(conditions, one))
}

/** The same when the members of the joinable collections are known. */
export function lazyContextOver(
  collections: ReadonlyMap<string, Collection>,
  rows: RowSnapshot,
  todayMs: number,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  conditionOf: (collection: Collection) => CompiledCondition,
): NamedMembersContext {
  return contextOver(collections, todayMs, memberships, (collection, within) => {
    const condition = conditionOf(collection)
    const isMember = (id: string) =>
      evaluateObjects(condition, rows, objectTypeOf(collection), [id], within).get(id) === true
    return new LazySet(isMember)
  })
}

function joinables(collections: ReadonlyMap<string, Collection>): string[] {
  return [...collections.values()].filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
}

function joinablesWithinConditions(collections: ReadonlyMap<string, Collection>): string[] {
  const named = [...collections.values()].flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
  return [...new Set(named)].filter((id) => collections.get(id)?.kind === 'joinable')
}

/** Compiled conditions by tenant, collection and version of the definition. */
export type ConditionCache = {
  get(key: string): CompiledCondition | undefined
  set(key: string, condition: CompiledCondition): unknown
}

/** The conditions of the criteria collections, by collection, bound to the rows: each of these steps takes milliseconds. */
function* compiledConditions(
  collections: ReadonlyMap<string, Collection>,
  rows: RowSnapshot,
  kept: ConditionCache,
): Task<ReadonlyMap<string, CompiledCondition>> {
  const conditions = new Map<string, CompiledCondition>()
  for (const collection of collections.values()) {
    if (collection.kind !== 'criteria') continue
    const key = `${collection.tenantId}:${collection.id}:${collection.definitionVersion}`
    const condition = kept.get(key) ?? (yield* compiledTask(collection))
    kept.set(key, condition)
    conditions.set(collection.id, condition)
    yield
    condition.boundTo(rows)
    yield
  }
  return conditions
}

/**
 * @param leaves See `compile`.
 * @throws Error when the stored condition is invalid.
 */
export function* compiledTask(collection: Collection, leaves?: KnownLeaves): Task<CompiledCondition> {
  const checked = yield* storedConditionTask(collection)
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
 * @param idsOf The members of a criteria collection. It may use the context for those of other collections.
 */
function contextOver(
  collections: ReadonlyMap<string, Collection>,
  todayMs: number,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  idsOf: (collection: Collection, context: EvaluationContext) => ReadonlySet<string>,
): NamedMembersContext {
  const resolved = new Map<string, CollectionMembers>()
  const context: NamedMembersContext = {
    todayMs,
    membersOf: (id) => {
      const collection = collections.get(id)
      if (collection === undefined) return undefined
      const members = resolved.get(id) ?? membersIn(collection, memberships, (criteria) => idsOf(criteria, context))
      resolved.set(id, members)
      return members
    },
  }
  return context
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
  const asked = new Set<string>()
  let open = [...new Set(collectionIds)]
  while (open.length > 0) {
    for (const id of open) asked.add(id)
    const found = await deps.collections.existing(tenantId, open)
    for (const collection of found) collections.set(collection.id, collection)
    const named = found.flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
    open = [...new Set(named)].filter((id) => !asked.has(id))
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

/** A set that tests an id when it is first asked for and caches the result. It supports `has` only. */
class LazySet extends Set<string> {
  readonly #results = new Map<string, boolean>()
  readonly #test: (id: string) => boolean

  constructor(test: (id: string) => boolean) {
    super()
    this.#test = test
  }

  override has(id: string): boolean {
    const known = this.#results.get(id)
    if (known !== undefined) return known
    const isIn = this.#test(id)
    this.#results.set(id, isIn)
    return isIn
  }
}
