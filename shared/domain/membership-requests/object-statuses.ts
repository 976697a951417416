import type { DeletedCoreObject } from '../core/core-object-store.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { freshOrgChart, type JoinDependencies, type OrgChartSource } from './request-dependencies.ts'

/** What became of an identity: itself, or the one that it was merged into, live or deleted. */
type IdentityStatus = {
  readonly id: string
  readonly isLive: boolean
  /** For a deleted identity, the time until which it can be restored. */
  readonly restorableUntilMs?: number | undefined
  /** For an identity that was merged, the time until which that is known. */
  readonly mergedUntilMs?: number
}

/** What became of the identities and positions that requests name. */
export type ObjectStatuses = {
  readonly orgChart: OrgChart
  identity(id: string): IdentityStatus
  /** For a deleted position, the time until which it can be restored. */
  positionRestorableUntilMs(id: string): number | undefined
}

/**
 * Reads what became of the objects. What is neither live nor deleted may have been restored between the two reads, and
 * deleted again: it counts as gone for good when it is neither in the next round as well.
 */
export async function readObjectStatuses(
  tenantId: string,
  objectIds: Iterable<string>,
  deps: OrgChartSource & Pick<JoinDependencies, 'deletedObjects'>,
): Promise<ObjectStatuses> {
  const ids = new Set(objectIds)
  let gone: ReadonlySet<string> = new Set()
  for (;;) {
    const orgChart = await freshOrgChart(tenantId, deps)
    const { deleted, neither } = await deletedAmong(tenantId, ids, orgChart, deps)
    if (neither.isSubsetOf(gone)) {
      return {
        orgChart,
        identity: (id) => identityStatus(id, deleted, orgChart),
        positionRestorableUntilMs: (id) => deleted.get(id)?.expiresAtMs,
      }
    }
    gone = neither
  }
}

type DeletedObjects = ReadonlyMap<string, DeletedCoreObject>

/** The deleted objects among these and those that they were merged into, and the ids without any object. */
async function deletedAmong(
  tenantId: string,
  ids: ReadonlySet<string>,
  orgChart: OrgChart,
  { deletedObjects }: Pick<JoinDependencies, 'deletedObjects'>,
): Promise<{ readonly deleted: DeletedObjects; readonly neither: ReadonlySet<string> }> {
  const deleted = new Map<string, DeletedCoreObject>()
  const read = new Set<string>()
  let open = [...ids].filter((id) => !isLive(id, orgChart))
  while (open.length > 0) {
    for (const id of open) read.add(id)
    const found = await deletedObjects.ofIds(tenantId, open)
    for (const object of found) deleted.set(object.id, object)
    const merged = new Set(found.flatMap(({ mergedInto }) => mergedInto ?? []))
    open = [...merged].filter((id) => !read.has(id) && !isLive(id, orgChart))
  }
  return { deleted, neither: read.difference(deleted) }
}

/** Follows merges to the identity that remains. */
function identityStatus(id: string, deleted: DeletedObjects, orgChart: OrgChart): IdentityStatus {
  const seen = new Set<string>()
  let current = id
  const expiriesMs: number[] = []
  const merged = () => (expiriesMs.length === 0 ? {} : { mergedUntilMs: Math.min(...expiriesMs) })
  while (!orgChart.has('identity', current)) {
    seen.add(current)
    const { mergedInto, expiresAtMs } = deleted.get(current) ?? {}
    if (mergedInto === undefined || seen.has(mergedInto)) {
      return { id: current, isLive: false, restorableUntilMs: expiresAtMs, ...merged() }
    }
    current = mergedInto
    if (expiresAtMs !== undefined) expiriesMs.push(expiresAtMs)
  }
  return { id: current, isLive: true, ...merged() }
}

function isLive(id: string, orgChart: OrgChart): boolean {
  return orgChart.has('identity', id) || orgChart.has('relationship', id)
}
