import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import {
  type ConnectorObject,
  type ConnectorObjectStore,
  type DeriveId,
  type ReferenceIds,
  referenceIds,
} from './connector-object.ts'
import type { ObjectWrite } from './object-input.ts'

/** The org unit above another, by their connector object ids; undefined at the top and above what does not exist. */
export type ParentOf = (id: string) => string | undefined

/** The parent among the references of an org unit, by its connector object id. */
export const parentIn = (references: ReferenceIds): string | undefined => references.parent as string | undefined

/** Where an object stands in the org tree: nowhere when it is no org unit, when it is deleted or not there at all. */
export function parentOfLive(object: ConnectorObject | undefined): string | undefined {
  const isInTree = object?.objectType === 'orgUnit' && object.deletedAtMs === undefined
  return isInTree ? parentIn(object.references) : undefined
}

/** What is wrong with putting an org unit below `parentId`: it cannot come to lie below itself. */
export function parentFault(id: string, parentId: string | undefined, parentOf: ParentOf): RefusalEntry | undefined {
  if (parentId === id) return refusalEntry('ReferenceToItself', 'An org unit cannot be its own parent', '/data/parent')
  const seen = new Set<string>()
  for (let above = parentId; above !== undefined && !seen.has(above); above = parentOf(above)) {
    if (above === id) {
      return refusalEntry('ReferenceCycle', 'The org unit would come to lie below itself', '/data/parent')
    }
    seen.add(above)
  }
  return undefined
}

/** The org tree from the parents that the writes name up to the top, one query for each level; a circle in it ends where it began. */
export async function readAncestors(
  tenantId: string,
  connectorId: string,
  writes: readonly ObjectWrite[],
  {
    objects,
    deriveId,
  }: { readonly objects: Pick<ConnectorObjectStore, 'referenceTargets'>; readonly deriveId: DeriveId },
): Promise<Map<string, string | undefined>> {
  const parents = new Map<string, string | undefined>()
  let level = writes.flatMap((write) =>
    write.operation !== 'delete' && write.objectType === 'orgUnit'
      ? (parentIn(referenceIds({ ...write, connectorId }, write.data, deriveId)) ?? [])
      : [],
  )
  while (level.length > 0) {
    const targets = await objects.referenceTargets(tenantId, [...new Set(level)])
    for (const { id, isLive, parentId } of targets) parents.set(id, isLive ? parentId : undefined)
    level = targets.flatMap(({ isLive, parentId }) =>
      isLive && parentId !== undefined && !parents.has(parentId) ? [parentId] : [],
    )
  }
  return parents
}
