import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { isGuid } from '../../kernel/guid.ts'
import { Refusal, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { evaluationTask } from '../criteria/evaluate.ts'
import type { EvaluationContext, NamedMembersContext } from '../criteria/evaluation-context.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { CircleDependencies } from './circular-references.ts'
import { type Collection, CollectionObjectType, Condition, type CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { InvalidConditionError, readCondition, storedCheckTask } from './condition-entry.ts'
import { ConditionWarning, conditionWarningsTask } from './condition-warnings.ts'
import { type LiveDependencies, liveContext } from './live-members.ts'
import { definitionBy, objectTypeFaults, refuseCycle } from './manage-criteria.ts'
import { differenceTask } from './membership-store.ts'
import { typeChangeFaults } from './write-collection.ts'

/** The highest `limit`. */
const MAX_LISTED_COUNT = 10_000

export const PreviewRequest = Type.Object({
  currentId: Type.Optional(Described(Guid, 'A collection to compare with. Its stored members are compared.')),
  preview: Type.Object({
    id: Type.Optional(
      Described(
        Type.Unknown(),
        'Without `currentId`: the collection to compare with, if it exists. Other values are ignored.',
      ),
    ),
    objectType: CollectionObjectType,
    condition: Condition,
  }),
  limit: Type.Optional(
    Described(
      Nullable(Type.Integer({ minimum: 0, maximum: MAX_LISTED_COUNT })),
      'Maximum length of each of the three lists. Default: all. The counts are always complete.',
    ),
  ),
})
export type PreviewRequest = Static<typeof PreviewRequest>

const PreviewedObject = Closed({ objectId: Guid, displayName: Nullable(Type.String()) })
type PreviewedObject = Static<typeof PreviewedObject>

export const PreviewReply = Closed({
  preview: Described(Type.Array(PreviewedObject), 'The members of the previewed collection.'),
  added: Described(Type.Array(PreviewedObject), 'Members that the compared collection does not have.'),
  removed: Described(
    Type.Array(PreviewedObject),
    'Members of the compared collection that the previewed one does not have.',
  ),
  counts: Closed({ preview: Type.Integer(), added: Type.Integer(), removed: Type.Integer() }),
  warnings: Type.Array(ConditionWarning),
})
export type PreviewReply = Static<typeof PreviewReply>

/**
 * The current members of a collection with this definition, and the difference to an existing collection. Saves nothing
 * and does not wait for an evaluation.
 * @throws Refusal `ObjectTypeNotSupported`, `CollectionUnknown`, `ObjectTypeFixed` and those of the condition, all at
 * once; `CircularReference`; `InvalidValue` when the condition of a collection that it refers to is invalid.
 */
export async function previewCriteria(
  caller: Caller,
  { currentId, preview, limit }: PreviewRequest,
  deps: LiveDependencies & CircleDependencies & Pick<CollectionDependencies, 'memberships' | 'deletedObjects'>,
): Promise<PreviewReply> {
  const { tenantId } = caller
  const comparedId = currentId ?? idIn(preview)
  const current = comparedId ? (await deps.collections.find(tenantId, comparedId))?.value : undefined
  // Only a criteria collection can be saved with a condition. A joinable one is only compared.
  const before = current?.kind === 'criteria' ? current : undefined
  const besides = [
    ...objectTypeFaults(preview.objectType, '/preview/objectType'),
    ...unknownFaults(currentId, current),
    ...typeChangeFaults(before, preview.objectType, '/preview/objectType'),
  ]
  const condition = await readCondition(
    caller,
    preview.condition,
    '/preview/condition',
    besides,
    deps,
    before,
    preview.objectType,
  )
  if (before !== undefined) await refuseCycle(before, definitionBy(condition), '/preview/condition', deps)
  const objectType = preview.objectType as CriteriaObjectType
  const rows = await deps.snapshots.fresh(tenantId)
  const stored = before && (await deps.memberships.members(tenantId, before.id))
  const isEvaluated = stored === undefined && (await isValid(before, rows, deps))
  const named = [...collectionsReferredTo(condition), ...(isEvaluated && current !== undefined ? [current.id] : [])]
  const context = await liveContext(tenantId, named, rows, deps).catch(refuseInvalid)
  const members = stored?.ids ?? (current === undefined ? [] : memberIds(current, objectType, context))
  const definition = { condition: compile(condition), objectType, limit: limit ?? undefined }
  const previewed = await deps.snapshots.reading(rows, previewTask(definition, members, rows, context))
  return { ...previewed, warnings: await deps.scheduler.run(conditionWarningsTask(condition, rows.settings)) }
}

/** Whether a collection can be evaluated. A preview of what repairs it compares with the members that it has. */
async function isValid(
  collection: Collection | undefined,
  rows: RowSnapshot,
  { snapshots }: Pick<CollectionDependencies, 'snapshots'>,
): Promise<boolean> {
  if (collection === undefined) return true
  return (await snapshots.reading(rows, storedCheckTask(collection, rows.settings.types))).ok
}

function refuseInvalid(fault: unknown): never {
  if (!(fault instanceof InvalidConditionError)) throw fault
  throw new Refusal('InvalidValue', fault.message, '/preview/condition')
}

/** The id of a whole record that a client sends for a preview. */
function idIn({ id }: PreviewRequest['preview']): string | undefined {
  return typeof id === 'string' && isGuid(id) ? id.toLowerCase() : undefined
}

type PreviewedDefinition = {
  readonly condition: CompiledCondition
  readonly objectType: CriteriaObjectType
  /** Maximum length of each list; undefined for all. */
  readonly limit: number | undefined
}

/** @param before The members to compare with, ascending. */
function* previewTask(
  { condition, objectType, limit }: PreviewedDefinition,
  before: readonly string[],
  rows: RowSnapshot,
  context: EvaluationContext,
): Task<Omit<PreviewReply, 'warnings'>> {
  const after = yield* evaluationTask(condition, rows, objectType, context)
  const change = yield* differenceTask(before, after)
  const listed = (ids: readonly string[]) => previewed(rows, objectType, ids.slice(0, limit))
  const preview = yield* listed(after)
  const added = before.length === 0 ? preview : yield* listed(change.added)
  const removed = yield* listed(change.removed)
  const counts = { preview: after.length, added: change.added.length, removed: change.removed.length }
  return { preview, added, removed, counts }
}

function unknownFaults(currentId: string | undefined, current: Collection | undefined): RefusalEntry[] {
  if (!currentId || current !== undefined) return []
  return [refusalEntry('CollectionUnknown', `There is no collection ${currentId}`, '/currentId')]
}

/**
 * The members to compare with, ascending, where none are stored: of a criteria collection the evaluated ones, of a
 * joinable collection its identities, or the relationships with which they joined.
 */
function memberIds(
  { id }: Collection,
  objectType: CriteriaObjectType,
  { membersOf }: NamedMembersContext,
): readonly string[] {
  const members = membersOf(id)
  if (members === undefined) return []
  if (members.kind === 'criteria') return [...members.ids].sort()
  const ids = members.memberships.map(({ identityId, relationshipId }) =>
    objectType === 'Relationship' ? relationshipId : identityId,
  )
  return [...new Set(ids.filter((id) => id !== null))].sort()
}

/** Objects listed in one step of the task. */
const OBJECTS_PER_STEP_COUNT = 1024

function* previewed(
  rows: RowSnapshot,
  objectType: CriteriaObjectType,
  ids: readonly string[],
): Task<PreviewedObject[]> {
  const objects: PreviewedObject[] = []
  for (const objectId of ids) {
    if (objects.length % OBJECTS_PER_STEP_COUNT === 0) yield
    objects.push({ objectId, displayName: rows.displayNameOf(CORE_TYPE[objectType], objectId) ?? null })
  }
  return objects
}
