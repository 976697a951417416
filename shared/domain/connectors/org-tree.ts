import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { type ConnectorObject, type DeriveId, type ReferenceIds, referenceIds } from './connector-object.ts'
import type { ConnectorObjectStore, ReferenceTarget } from './connector-object-store.ts'
import type { ObjectWrite } from './object-input.ts'

/**
 * Returns the parent of an org unit, by connector object ids; undefined for a root and for a unit that does not exist.
 */
export type ParentOf = (id: string) => string | undefined

/** Returns the connector object id of the parent among an org unit's references. */
export const parentIn = (references: ReferenceIds): string | undefined => references.parent as string | undefined

/** Returns the parent of a live org unit; undefined for any other object. */
export function parentOfLive(object: ConnectorObject | undefined): string | undefined {
  const isInTree = object?.objectType === 'orgUnit' && object.deletedAtMs === undefined
  return isInTree ? parentIn(object.references) : undefined
}

/**
 * Returns the fault of making `parentId` the parent of an org unit: a unit cannot be its own ancestor.
 * @param names The id of the unit, and the one under its former name.
 */
export function parentFault(
  names: readonly string[],
  parentId: string | undefined,
  parentOf: ParentOf,
): RefusalEntry | undefined {
  if (parentId !== undefined && names.includes(parentId))
    return refusalEntry('ReferenceToItself', 'An org unit cannot be its own parent', '/data/parent')
  const seen = new Set<string>()
  for (let above = parentId; above !== undefined && !seen.has(above); above = parentOf(above)) {
    if (names.includes(above)) {
      return refusalEntry('ReferenceCycle', 'The org unit would become its own ancestor', '/data/parent')
    }
    seen.add(above)
  }
  return undefined
}

/** Reads the ancestors of the org units in the writes, one query per level. A cycle ends the walk. */
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
    const aboveOf = ({ isLive, parentId, renamedTo }: ReferenceTarget) => renamedTo ?? (isLive ? parentId : undefined)
    for (const target of targets) parents.set(target.id, aboveOf(target))
    level = targets.flatMap((target) => {
      const above = aboveOf(target)
      return above === undefined || parents.has(above) ? [] : [above]
    })
  }
  return parents
}
