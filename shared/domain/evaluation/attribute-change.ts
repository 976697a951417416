import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { MembershipChange } from '../collections/membership-store.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import type { DeletedCoreObjects } from '../core/core-object-store.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { ROW_PLACE } from '../criteria/compile.ts'
import { objectEvaluationTask } from '../criteria/evaluate.ts'
import type { AttributedChange, MemberChangeCause } from '../history/member-history.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { type CachedEvaluation, type EvaluationPass, partsOfDefinitionKey } from './members-now.ts'

/** What an evaluation found, before it is stored. */
type Evaluated = {
  readonly collection: Collection
  readonly cached: CachedEvaluation
  /** The key of the definition and day that the new members satisfy. */
  readonly definitionKey: string
  readonly pass: EvaluationPass
}

export type AttributionDependencies = Pick<CollectionDependencies, 'history' | 'snapshots' | 'nowMs'> & {
  readonly deletedObjects: DeletedCoreObjects
}

/** An evaluation that was interrupted is repeated within this time: no invocation runs longer. */
const RECENT_MS = 10 * 60 * 1000

/**
 * The causes of a change of members. Each id has one cause.
 *
 * A deletion and a merge come first, then a changed definition, then a change of the object itself. Without a record of
 * changed objects (the first evaluation of a process), an object has changed unless the day, or a recent change of a
 * referenced collection that concerns it, explains its change.
 */
export async function attributeChange(
  change: MembershipChange,
  evaluated: Evaluated,
  deps: AttributionDependencies,
): Promise<AttributedChange[]> {
  const { collection, pass } = evaluated
  const objectType = CORE_TYPE[collection.objectType as CriteriaObjectType]
  const gone = change.removed.filter((id) => !pass.rows.has(objectType, id))
  const otherClaimants = await claimantsOf(collection.tenantId, gone, deps.deletedObjects)
  const isRedefined = isDefinitionNew(evaluated)
  const referenced = isRedefined || pass.changes !== 'everything' ? NONE : await recentlyChanged(evaluated, deps)
  const known = { objectType, otherClaimants, gone: new Set(gone), isRedefined, referenced }
  return deps.snapshots.reading(pass.rows, attributionTask(change, evaluated, known))
}

const NONE: ReadonlySet<string> = new Set()

function isDefinitionNew({ collection, cached }: Evaluated): boolean {
  const key = cached.head?.value.definitionKey
  return key === undefined || partsOfDefinitionKey(key).definitionVersion !== collection.definitionVersion
}

/** By the id of each object that was merged, the object that it was merged into. */
async function claimantsOf(
  tenantId: string,
  ids: readonly string[],
  deletedObjects: DeletedCoreObjects,
): Promise<ReadonlyMap<string, string>> {
  const otherClaimants = new Map<string, string>()
  for (const { id, mergedInto } of await deletedObjects.ofIds(tenantId, ids)) {
    if (mergedInto !== undefined) otherClaimants.set(id, mergedInto)
  }
  return otherClaimants
}

/**
 * The ids that referenced collections have recently added or removed, other than by a change of the objects themselves.
 */
async function recentlyChanged(
  { collection, pass }: Evaluated,
  { history, nowMs }: Pick<AttributionDependencies, 'history' | 'nowMs'>,
): Promise<ReadonlySet<string>> {
  const range = { fromMs: nowMs() - RECENT_MS, toMs: Number.MAX_SAFE_INTEGER }
  const ids = new Set<string>()
  for (const referencedId of collection.refersTo) {
    const kind = pass.context.membersOf(referencedId)?.kind
    if (kind === undefined || !pass.changedMembers.has(referencedId)) continue
    for await (const events of history[kind].newestFirst(collection.tenantId, referencedId, range)) {
      for (const { objectId, cause } of events) if (cause !== 'ObjectChanged') ids.add(objectId)
    }
  }
  return ids
}

type Known = {
  readonly objectType: ObjectType
  readonly otherClaimants: ReadonlyMap<string, string>
  /** Removed members that do not exist any more. */
  readonly gone: ReadonlySet<string>
  readonly isRedefined: boolean
  /** Ids that `recentlyChanged` returns. */
  readonly referenced: ReadonlySet<string>
}

/** Ids attributed in one step of the task. */
const IDS_PER_STEP_COUNT = 2048

function* attributionTask(change: MembershipChange, evaluated: Evaluated, known: Known): Task<AttributedChange[]> {
  const causeOf = yield* causes(change, evaluated, known)
  const byCause = new Map<MemberChangeCause, { added: string[]; removed: string[] }>()
  let count = 0
  for (const list of ['removed', 'added'] as const) {
    for (const id of change[list]) {
      count += 1
      if (count % IDS_PER_STEP_COUNT === 0) yield
      const cause = causeOf(id, list === 'added')
      const ids = byCause.get(cause) ?? { added: [], removed: [] }
      byCause.set(cause, ids)
      ids[list].push(id)
    }
  }
  return [...byCause].map(([cause, ids]) => ({
    cause,
    actorId: cause === 'DefinitionChanged' ? evaluated.collection.definedBy : SYSTEM_ACTOR,
    ...ids,
  }))
}

function* causes(
  { added, removed }: MembershipChange,
  evaluated: Evaluated,
  { objectType, otherClaimants, gone, isRedefined, referenced }: Known,
): Task<(id: string, isAdded: boolean) => MemberChangeCause> {
  const { collection, pass } = evaluated
  const { rows, changes } = pass
  const touched = changes === 'everything' ? undefined : changes.ids[objectType]
  const inheriting = new Set(otherClaimants.values())
  const ids = isRedefined ? [] : [...removed, ...added].filter((id) => touched?.has(id) !== true)
  const before = yield* verdictsOfFormerDay(ids, evaluated)
  return (id, isAdded) => {
    if (gone.has(id)) return otherClaimants.has(id) ? 'Merged' : 'ObjectDeleted'
    if (isAdded && inheriting.has(id)) return 'Merged'
    if (isRedefined) return 'DefinitionChanged'
    if (touched?.has(id) === true) return 'ObjectChanged'
    if (before !== undefined && before.get(id) !== isAdded) return 'DayChanged'
    const isByReference =
      touched === undefined ? isOnRows(id, objectType, referenced, rows) : collection.refersTo.length > 0
    return isByReference ? 'ReferencedCollection' : 'ObjectChanged'
  }
}

/** What the condition says now of objects on the day of the stored members. Undefined when the day is the same. */
function* verdictsOfFormerDay(
  ids: readonly string[],
  { collection, cached, definitionKey, pass }: Evaluated,
): Task<ReadonlyMap<string, boolean> | undefined> {
  const formerMs = partsOfDefinitionKey(cached.head?.value.definitionKey ?? definitionKey).dayMs
  if (formerMs === undefined || formerMs === partsOfDefinitionKey(definitionKey).dayMs) return undefined
  const context = { ...pass.context, todayMs: formerMs }
  const objectType = collection.objectType as CriteriaObjectType
  return yield* objectEvaluationTask(cached.condition, pass.rows, objectType, ids, context)
}

/** Whether one of the objects on the rows of an object is among some ids. */
function isOnRows(id: string, objectType: ObjectType, ids: ReadonlySet<string>, rows: RowSnapshot): boolean {
  if (ids.size === 0) return false
  return rows.rowsOf(objectType, id).some((row) =>
    OBJECT_TYPES.some((type) => {
      const slot = row[ROW_PLACE[type]] as number
      return slot !== 0 && ids.has(rows.tables[type].ids.idOf(slot))
    }),
  )
}
