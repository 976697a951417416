import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { TenantEvaluator } from '../../shared/domain/collections/evaluate-tenant.ts'
import { linkedAccounts } from '../../shared/domain/collections/linked-accounts.ts'
import { TenantSnapshots } from '../../shared/domain/collections/tenant-snapshots.ts'
import { collectionLinks } from '../../shared/domain/links/collection-links.ts'
import { container, doorbells, log, newId, nowMs } from './foundation.ts'
import { linkStore, tenantStore } from './stores.ts'

/** Rows in memory at most: about a gigabyte at the widest; an instance has two. */
const ROWS_AT_MOST = 1_500_000

export const collectionDependencies: CollectionDependencies = {
  collections: cosmosCollectionStore(container('collections')),
  memberships: cosmosMembershipStore(container('members')),
  snapshots: new TenantSnapshots(cosmosCoreObjectChanges(container('coreObjects')), ROWS_AT_MOST),
  links: collectionLinks(linkStore),
  tenants: tenantStore,
  doorbells,
  newId,
  nowMs,
}

export const evaluator = new TenantEvaluator({ ...collectionDependencies, log })

export const linkedCollections = linkedAccounts(collectionDependencies, evaluator)
