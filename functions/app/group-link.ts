import { setTimeout as sleep } from 'node:timers/promises'
import { cosmosJobStore } from '../../shared/cosmos/job-store.ts'
import { cosmosWindowStore } from '../../shared/cosmos/tenant-store.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { sharedWriteBudget } from '../../shared/domain/sync/write-budget.ts'
import { graphCalls } from '../../shared/graph/graph-calls.ts'
import { graphDirectory } from '../../shared/graph/graph-directory.ts'
import { graphTokens } from '../../shared/graph/graph-tokens.ts'
import { observedCalls } from '../../shared/graph/observed-calls.ts'
import { nowMs } from './clock.ts'
import { linkedCollections } from './collections.ts'
import { container, messageQueue, newId } from './foundation.ts'
import { activities, log, metrics } from './observation.ts'
import { settings } from './settings.ts'
import { linkStore, tenantStore } from './stores.ts'

const tokens = graphTokens(
  {
    authorityUrl: settings.authorityUrl,
    homeTenantId: settings.homeTenantId,
    clientId: settings.serviceClientId,
    clientSecret: settings.graphClientSecret,
    managedIdentityClientId: settings.managedIdentityClientId,
  },
  nowMs,
)

const directory = graphDirectory({
  graphUrl: settings.graphUrl,
  send: observedCalls(graphCalls(settings.graphUrl, tokens, nowMs), { activities, metrics }),
  sleep: (delayMs) => sleep(delayMs),
  nowMs,
  random: Math.random,
})

/** What group links and sync jobs stand on. */
export const linkDependencies: SyncDependencies = {
  links: linkStore,
  jobs: cosmosJobStore(container('jobs')),
  tenants: tenantStore,
  collections: linkedCollections,
  directory,
  budget: sharedWriteBudget({
    windows: cosmosWindowStore(container('tenants')),
    writesPerTenant: settings.directoryWritesPerTenant,
    writesInAll: settings.directoryWritesInAll,
    nowMs,
  }),
  messageQueue,
  log,
  metrics,
  nowMs,
  newId,
  random: Math.random,
  sleep: (delayMs) => sleep(delayMs),
  retryDelaysS: settings.syncRetryDelaysS,
  leaseMs: settings.syncLeaseS * 1000,
  batchMs: settings.syncSliceS * 1000,
}
