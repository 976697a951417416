import { type Static, Type } from 'typebox'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { compile } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { evaluationSteps } from '../criteria/evaluate.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import { Guid } from '../guid.ts'
import { type RefusalEntry, refusalEntry } from '../refusal.ts'
import { Closed, Described, Nullable } from '../schema.ts'
import { type Collection, CollectionObjectType, type CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import { Condition } from './criteria-collection.ts'
import { liveContext } from './live-members.ts'
import { objectTypeFaults } from './manage-criteria.ts'

export const PreviewRequest = Type.Object({
  currentId: Type.Optional(Described(Nullable(Guid), 'A collection to compare with, by the members that it has.')),
  preview: Type.Object({ objectType: CollectionObjectType, condition: Condition }),
})
export type PreviewRequest = Static<typeof PreviewRequest>

const PreviewedObject = Closed({ objectId: Guid, displayName: Nullable(Type.String()) })

export const PreviewReply = Closed({
  preview: Described(Type.Array(PreviewedObject), 'Who would be a member now.'),
  added: Described(Type.Array(PreviewedObject), 'Those of them who are not members of the collection compared with.'),
  removed: Described(Type.Array(PreviewedObject), 'Members of that collection who would no longer be.'),
  counts: Closed({ preview: Type.Integer(), added: Type.Integer(), removed: Type.Integer() }),
})
export type PreviewReply = Static<typeof PreviewReply>

/**
 * Who would be in a collection of this definition now, and how that differs from an existing one. Saves nothing, and
 * waits for no evaluation.
 * @throws Refusal `ObjectTypeNotSupported`, `CollectionUnknown` and those of the condition, all at once.
 */
export async function previewCriteria(
  tenantId: string,
  { currentId, preview }: PreviewRequest,
  deps: CollectionDependencies,
): Promise<PreviewReply> {
  const current = currentId ? (await deps.collections.find(tenantId, currentId))?.value : undefined
  const besides = [...objectTypeFaults(preview.objectType, '/preview/objectType'), ...unknownFaults(currentId, current)]
  const before = current?.kind === 'criteria' ? current : undefined
  const condition = await readCondition(tenantId, preview.condition, '/preview/condition', besides, deps, before)
  const objectType = preview.objectType as CriteriaObjectType
  const rows = await deps.snapshots.fresh(tenantId)
  const named = [...collectionsReferredTo(condition), ...(current === undefined ? [] : [current.id])]
  const context = await liveContext(tenantId, named, rows, deps)
  const had = current === undefined ? new Set<string>() : await memberIds(current, objectType, context, deps)
  const after = await deps.snapshots.reading(rows, evaluationSteps(compile(condition), rows, objectType, context))
  const has = new Set(after)
  const shown = (ids: readonly string[]) => ids.map((id) => previewed(rows, objectType, id))
  const added = shown(after.filter((id) => !had.has(id)))
  const removed = shown([...had.difference(has)].sort())
  return {
    preview: shown(after),
    added,
    removed,
    counts: { preview: after.length, added: added.length, removed: removed.length },
  }
}

function unknownFaults(currentId: string | null | undefined, current: Collection | undefined): RefusalEntry[] {
  if (!currentId || current !== undefined) return []
  return [refusalEntry('CollectionUnknown', `There is no collection ${currentId}`, '/currentId')]
}

/**
 * A criteria collection is compared by the members that it has, and by those that it will have if its first evaluation
 * is still due; a joinable one by its people, or by the positions that they joined with.
 */
async function memberIds(
  { tenantId, id, kind }: Collection,
  objectType: CriteriaObjectType,
  { membersOf }: EvaluationContext,
  { memberships }: CollectionDependencies,
): Promise<ReadonlySet<string>> {
  const stored = kind === 'criteria' ? await memberships.members(tenantId, id) : undefined
  if (stored !== undefined) return new Set(stored.ids)
  const members = membersOf(id)
  if (members === undefined) return new Set()
  if (members.kind === 'criteria') return members.ids
  const ids = members.memberships.map(({ identityId, relationshipId }) =>
    objectType === 'Relationship' ? relationshipId : identityId,
  )
  return new Set(ids.filter((id) => id !== null))
}

function previewed(
  rows: RowSnapshot,
  objectType: CriteriaObjectType,
  objectId: string,
): Static<typeof PreviewedObject> {
  return { objectId, displayName: rows.displayNameOf(CORE_TYPE[objectType], objectId) ?? null }
}
