import { type CollectionAccounts, isNotEvaluated } from '../group-links/collection-accounts.ts'
import { notOwnedMessage } from '../group-links/directory.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { LinkSettings } from '../group-links/link-settings.ts'
import { isRejectedSince } from '../group-links/removal-rejection.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { RunFault } from './run-failure.ts'

/** @throws RunFault when the tenant requires ownership and the service does not own the group, DirectoryFault. */
export async function verifyOwnership(
  { tenantId, directoryGroupId }: GroupLink,
  { linkableGroups }: LinkSettings,
  { directory }: Pick<LinkDependencies, 'directory'>,
): Promise<void> {
  if (linkableGroups === 'Any') return
  const ownership = await directory.readOwnership(tenantId, directoryGroupId)
  if (!ownership.isOwned) throw new RunFault(notOwnedMessage(directoryGroupId, ownership), { isPermanent: true })
}

/**
 * The accounts that the group should have.
 * @throws RunFault when the collection was deleted, and when they are not evaluated or not current.
 */
export async function desiredAccounts(
  { tenantId, collectionId, appliedMembershipVersion, acceptedWithoutAccount }: GroupLink,
  { collections }: Pick<LinkDependencies, 'collections'>,
): Promise<CollectionAccounts> {
  const desired = await collections
    .findAccounts(tenantId, collectionId, acceptedWithoutAccount)
    .catch((error: unknown) => {
      if (!isNotEvaluated(error)) throw error
      throw new RunFault('The collection is not evaluated yet.', { isPermanent: false })
    })
  if (desired === undefined) throw new RunFault('The collection no longer exists.', { isPermanent: true })
  if (!desired.isCurrent) {
    throw new RunFault('The condition of the collection has changed and is not evaluated yet.', {
      isPermanent: false,
    })
  }
  if (desired.membershipVersion >= (appliedMembershipVersion ?? 0)) return desired
  // Writing it would revert what incremental syncs have written since.
  throw new RunFault('An outdated version of the collection was read.', { isPermanent: false })
}

/** The removals of the plan that an administrator has approved for the job, unless they were rejected since. */
export async function approvedAccounts(
  job: SyncJob,
  { heldRemovals }: GroupLink,
  { removalPlans }: Pick<LinkDependencies, 'removalPlans'>,
): Promise<ReadonlySet<string>> {
  const { tenantId, approvedPlanId: planId } = job
  if (planId === null || isRejectedSince(job, heldRemovals)) return new Set()
  return removalPlans.accountsOf({ tenantId, planId })
}
