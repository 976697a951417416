import { type Static, Type } from 'typebox'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { evaluationSteps } from '../criteria/evaluate.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import { Guid } from '../guid.ts'
import { Closed, Described, Nullable } from '../schema.ts'
import type { Steps } from '../time-slices.ts'
import { CollectionObjectType, type CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import { Condition } from './criteria-collection.ts'
import { evaluationContext } from './evaluation-context.ts'
import { joinedMembersOf } from './joined-members.ts'
import { objectTypeFaults } from './manage-criteria.ts'
import { differenceSteps } from './membership-difference.ts'
import { namedCollection } from './read-collections.ts'

export const PreviewRequest = Type.Object({
  currentId: Type.Optional(Described(Nullable(Guid), 'A collection to compare with.')),
  preview: Type.Object({ objectType: CollectionObjectType, condition: Condition }),
})
export type PreviewRequest = Static<typeof PreviewRequest>

const PreviewedObject = Closed({ objectId: Guid, displayName: Nullable(Type.String()) })
type PreviewedObject = Static<typeof PreviewedObject>

export const PreviewReply = Closed({
  preview: Described(Type.Array(PreviewedObject), 'Who would be a member now.'),
  added: Described(Type.Array(PreviewedObject), 'Those of them who are not members of the collection compared with.'),
  removed: Described(Type.Array(PreviewedObject), 'Members of that collection who would no longer be.'),
  counts: Closed({ preview: Type.Integer(), added: Type.Integer(), removed: Type.Integer() }),
})
export type PreviewReply = Static<typeof PreviewReply>

/**
 * Who would be in a collection of this definition now, and how that differs from an existing one. Saves nothing.
 * @throws Refusal `ObjectTypeNotSupported`, `CollectionUnknown` and those of the condition.
 */
export async function previewCriteria(
  tenantId: string,
  { currentId, preview }: PreviewRequest,
  deps: CollectionDependencies,
): Promise<PreviewReply> {
  const besides = objectTypeFaults(preview.objectType, '/preview/objectType')
  const condition = await readCondition(tenantId, preview.condition, '/preview/condition', besides, deps)
  const objectType = preview.objectType as CriteriaObjectType
  const before = await currentMembers(tenantId, currentId ?? undefined, objectType, deps)
  const context = await evaluationContext(tenantId, collectionsReferredTo(condition), deps)
  const rows = await deps.snapshots.fresh(tenantId)
  const definition = { condition: compile(condition), objectType }
  return deps.snapshots.reading(rows, previewSteps(definition, before, rows, context))
}

/** @param before the members to compare with, ascending. */
function* previewSteps(
  { condition, objectType }: { readonly condition: CompiledCondition; readonly objectType: CriteriaObjectType },
  before: readonly string[],
  rows: RowSnapshot,
  context: EvaluationContext,
): Steps<PreviewReply> {
  const after = yield* evaluationSteps(condition, rows, objectType, context)
  const change = yield* differenceSteps(before, after)
  const preview = yield* previewed(rows, objectType, after)
  const added = before.length === 0 ? preview : yield* previewed(rows, objectType, change.added)
  const removed = yield* previewed(rows, objectType, change.removed)
  const counts = { preview: preview.length, added: added.length, removed: removed.length }
  return { preview, added, removed, counts }
}

/** A joinable collection is compared by its people, or by the positions that they joined with. */
async function currentMembers(
  tenantId: string,
  currentId: string | undefined,
  objectType: CriteriaObjectType,
  deps: CollectionDependencies,
): Promise<readonly string[]> {
  if (currentId === undefined) return []
  const { kind } = await namedCollection(tenantId, currentId, '/currentId', deps)
  if (kind === 'criteria') return (await deps.memberships.members(tenantId, currentId))?.ids ?? []
  const { memberships } = await joinedMembersOf(tenantId, currentId, deps.joined)
  const ids = memberships.map(({ identityId, relationshipId }) =>
    objectType === 'Relationship' ? relationshipId : identityId,
  )
  return [...new Set(ids.filter((id) => id !== null))].sort()
}

/** Objects put in a list between two pauses. */
const OBJECTS_PER_STEP_COUNT = 1024

function* previewed(
  rows: RowSnapshot,
  objectType: CriteriaObjectType,
  ids: readonly string[],
): Steps<PreviewedObject[]> {
  const objects: PreviewedObject[] = []
  for (const objectId of ids) {
    if (objects.length % OBJECTS_PER_STEP_COUNT === 0) yield
    objects.push({ objectId, displayName: rows.displayNameOf(CORE_TYPE[objectType], objectId) ?? null })
  }
  return objects
}
