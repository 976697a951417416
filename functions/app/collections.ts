import { setTimeout as sleep } from 'node:timers/promises'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosAccountChangeStore, cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core-object-references.ts'
import { cosmosDeletedCoreObjects } from '../../shared/cosmos/core-object-store.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/evaluation-lease-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/request-store.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { TenantEvaluator } from '../../shared/domain/collections/tenant-evaluator.ts'
import { collectionLinks } from '../../shared/domain/group-links/collection-links.ts'
import { linkedAccounts } from '../../shared/domain/group-links/linked-accounts.ts'
import { liveMembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { ownIdentity } from '../../shared/domain/object-access/object-access.ts'
import type { ColdTenantAccess } from '../../shared/domain/object-access/visible-by-references.ts'
import type { RowSnapshot } from '../../shared/domain/tenant-index/row-snapshot.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { elapsedMs, nowMs } from './clock.ts'
import { container, messageQueue, newId } from './foundation.ts'
import { log, metrics } from './observation.ts'
import { linkStore, tenantStore } from './stores.ts'
import { scheduler } from './time-slices.ts'

/** Rows in memory at most: about a gigabyte at the widest; an instance has two. */
const ROWS_AT_MOST = 1_500_000

export const collectionDependencies: CollectionDependencies = {
  collections: cosmosCollectionStore(container('collections')),
  memberships: cosmosMembershipStore(container('members'), scheduler),
  evaluationLeases: cosmosEvaluationLeaseStore(container('tenants')),
  joined: cosmosJoinedMembers(container('requests')),
  snapshots: new TenantSnapshots(cosmosCoreObjectChanges(container('coreObjects'), elapsedMs), ROWS_AT_MOST, scheduler),
  accountChanges: cosmosAccountChangeStore(container('coreObjects')),
  links: collectionLinks(linkStore, nowMs),
  tenants: tenantStore,
  messageQueue,
  log,
  metrics,
  newId,
  nowMs,
}

export const requestDependencies: RequestDependencies = {
  ...collectionDependencies,
  requests: cosmosRequestStore(container('requests')),
  membershipResolver: liveMembershipResolver(collectionDependencies),
}

export const evaluator = new TenantEvaluator({
  ...collectionDependencies,
  follower: new RequestReconciler(requestDependencies),
  sleep,
})

export const linkedCollections = linkedAccounts(
  { ...collectionDependencies, deletedObjects: cosmosDeletedCoreObjects(container('coreObjects')) },
  evaluator,
)

const { snapshots } = collectionDependencies

/** A tenant's rows with everything that was written before the call. */
export const freshRows = (tenantId: string): Promise<RowSnapshot> => snapshots.fresh(tenantId)

export const coldTenantAccess: ColdTenantAccess = {
  holds: (tenantId) => snapshots.holds(tenantId),
  load: (tenantId) => {
    freshRows(tenantId).catch((error: unknown) => log.error('core-objects.load-failed', error, { tenantId }))
  },
  references: cosmosCoreObjectReferences(container('coreObjects')),
}

/** The core identity that stands for a caller's directory account. */
export const findIdentity = (caller: Caller): Promise<string | undefined> =>
  ownIdentity(caller, freshRows, coldTenantAccess)
