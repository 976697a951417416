import type { DeletedCoreObject } from '../core/core-object-store.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { freshOrgChart, type JoinDependencies, type OrgChartSource } from './request-dependencies.ts'

/** What became of an identity: itself, or the one that it was merged into, live or deleted. */
type IdentityStatus = {
  readonly id: string
  readonly isLive: boolean
  /** For a deleted identity, the time until which it can be restored. */
  readonly restorableUntilMs?: number | undefined
}

/** What became of the identities and positions that requests name. */
export type ObjectStatuses = {
  readonly orgChart: OrgChart
  identity(id: string): IdentityStatus
  /** For a deleted position, the time until which it can be restored. */
  positionRestorableUntilMs(id: string): number | undefined
}

/** Reads what became of the objects. */
export async function readObjectStatuses(
  tenantId: string,
  objectIds: Iterable<string>,
  deps: OrgChartSource & Pick<JoinDependencies, 'deletedObjects'>,
): Promise<ObjectStatuses> {
  let orgChart = await freshOrgChart(tenantId, deps)
  const deleted = new Map<string, DeletedCoreObject>()
  let open = [...new Set(objectIds)].filter((id) => !isLive(id, orgChart))
  const openIds = new Set(open)
  while (open.length > 0) {
    const found = await deps.deletedObjects.ofIds(tenantId, open)
    for (const object of found) deleted.set(object.id, object)
    const merged = found.flatMap(({ mergedInto }) => mergedInto ?? [])
    open = [...new Set(merged)].filter((id) => !openIds.has(id) && !isLive(id, orgChart))
    for (const id of open) openIds.add(id)
  }
  // An object that is neither live nor deleted has expired, or was restored after the org chart was read.
  if ([...openIds].some((id) => !deleted.has(id))) orgChart = await freshOrgChart(tenantId, deps)
  return {
    orgChart,
    identity: (id) => identityStatus(id, deleted, orgChart),
    positionRestorableUntilMs: (id) => deleted.get(id)?.expiresAtMs,
  }
}

/** Follows merges to the identity that remains. */
function identityStatus(
  id: string,
  deleted: ReadonlyMap<string, DeletedCoreObject>,
  orgChart: OrgChart,
): IdentityStatus {
  const seen = new Set<string>()
  let current = id
  while (!orgChart.has('identity', current)) {
    seen.add(current)
    const { mergedInto, expiresAtMs } = deleted.get(current) ?? {}
    if (mergedInto === undefined || seen.has(mergedInto)) {
      return { id: current, isLive: false, restorableUntilMs: expiresAtMs }
    }
    current = mergedInto
  }
  return { id: current, isLive: true }
}

function isLive(id: string, orgChart: OrgChart): boolean {
  return orgChart.has('identity', id) || orgChart.has('relationship', id)
}
