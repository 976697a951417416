import type { ObjectWrite } from './batch-item.ts'
import { type DeriveId, referenceIds } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { parentIn } from './parent-cycle.ts'

/** The org tree from the parents that the writes name up to the top, one query for each level; a circle in it ends where it began. */
export async function parentsAbove(
  tenantId: string,
  connectorId: string,
  writes: readonly ObjectWrite[],
  { objects, deriveId }: { readonly objects: Pick<ConnectorObjectStore, 'standings'>; readonly deriveId: DeriveId },
): Promise<Map<string, string | undefined>> {
  const parents = new Map<string, string | undefined>()
  let level = writes.flatMap((write) =>
    write.operation !== 'delete' && write.objectType === 'orgUnit'
      ? (parentIn(referenceIds({ ...write, connectorId }, write.data, deriveId)) ?? [])
      : [],
  )
  while (level.length > 0) {
    const standings = await objects.standings(tenantId, [...new Set(level)])
    for (const { id, isLive, parentId } of standings) parents.set(id, isLive ? parentId : undefined)
    level = standings.flatMap(({ isLive, parentId }) =>
      isLive && parentId !== undefined && !parents.has(parentId) ? [parentId] : [],
    )
  }
  return parents
}
