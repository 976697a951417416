import { type CollectionDependencies, notifyEvaluation } from '../collections/collection-dependencies.ts'
import { OrgChart } from '../tenant-index/org-chart.ts'
import type { MembershipResolver } from './membership-resolver.ts'
import type { RequestStore } from './request-store.ts'

/** What the use cases of joinable collections and membership requests stand on. */
export type RequestDependencies = CollectionDependencies & {
  readonly requests: RequestStore
  readonly membershipResolver: MembershipResolver
}

/** A caller who acts as a person. */
export type Person = { readonly tenantId: string; readonly identityId: string }

/** The tenant's people with everything that was written before this call. */
export async function freshOrgChart(
  tenantId: string,
  deps: Pick<CollectionDependencies, 'snapshots' | 'nowMs'>,
): Promise<OrgChart> {
  return new OrgChart(await deps.snapshots.fresh(tenantId), deps.nowMs())
}

/**
 * Tells that the members of joinable collections have changed: collections whose conditions name them are evaluated, and
 * groups that they feed are written to. The members are kept already: a ring that fails is the sweep's to repeat.
 */
export async function notifyMembershipChanges(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  deps: RequestDependencies,
): Promise<void> {
  if (collectionIds.size === 0) return
  try {
    await notifyEvaluation(tenantId, deps)
    await notifyLinkedGroups(tenantId, collectionIds, deps)
  } catch (error) {
    deps.log.error('membership.ring-failed', error, { tenantId })
  }
}

/** As `tellOfMemberships`, where an evaluation is under way that sees the change by itself. */
export async function notifyLinkedGroups(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  { links, messageQueue, newId }: RequestDependencies,
): Promise<void> {
  if (collectionIds.size === 0) return
  const linked = await links.linkedCollections(tenantId)
  for (const collectionId of linked.intersection(collectionIds)) {
    await messageQueue.enqueue(
      { queue: 'membership-changes', message: { tenantId, collectionId } },
      { id: `change:${newId()}` },
    )
  }
}
