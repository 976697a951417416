import { type Static, Type } from 'typebox'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { compile } from '../criteria/compile.ts'
import { collectionsReferredTo } from '../criteria/condition.ts'
import { evaluate } from '../criteria/evaluate.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import { Guid } from '../guid.ts'
import { Closed, Described, Nullable } from '../schema.ts'
import { CollectionObjectType, type CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { readCondition } from './condition-entry.ts'
import { Condition } from './criteria-collection.ts'
import { evaluationContext } from './evaluation-context.ts'
import { joinedMembersOf } from './joined-members.ts'
import { objectTypeFaults } from './manage-criteria.ts'
import { namedCollection } from './read-collections.ts'

export const PreviewRequest = Type.Object({
  currentId: Type.Optional(Described(Nullable(Guid), 'A collection to compare with.')),
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
  const after = evaluate(compile(condition), rows, objectType, context)
  const [had, has] = [new Set(before), new Set(after)]
  const shown = (ids: readonly string[]) => ids.map((id) => previewed(rows, objectType, id))
  const added = shown(after.filter((id) => !had.has(id)))
  const removed = shown(before.filter((id) => !has.has(id)))
  return {
    preview: shown(after),
    added,
    removed,
    counts: { preview: after.length, added: added.length, removed: removed.length },
  }
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

function previewed(
  rows: RowSnapshot,
  objectType: CriteriaObjectType,
  objectId: string,
): Static<typeof PreviewedObject> {
  return { objectId, displayName: rows.displayNameOf(CORE_TYPE[objectType], objectId) ?? null }
}
