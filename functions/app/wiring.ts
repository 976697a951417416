import { randomBytes } from 'node:crypto'
import { cosmosCollectionStore } from '../../shared/cosmos/collections/collection-store.ts'
import { cosmosConnectorAuditTrail } from '../../shared/cosmos/connectors/connector-audit-trail.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connectors/connector-object-store.ts'
import { cosmosSpaceCounts } from '../../shared/cosmos/connectors/connector-spaces.ts'
import { cosmosAccountChangeStore, cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { cosmosDeletedCoreObjects } from '../../shared/cosmos/core/core-object-store.ts'
import type { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { Outbox } from '../../shared/cosmos/events/outbox.ts'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import { cosmosJobStore } from '../../shared/cosmos/jobs/job-store.ts'
import { cosmosCriteriaHistory, cosmosJoinedHistory } from '../../shared/cosmos/members/member-history-store.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/members/membership-store.ts'
import { cosmosSavedRowsStore } from '../../shared/cosmos/members/saved-rows-store.ts'
import { cosmosPersonalDataStore } from '../../shared/cosmos/personal-data-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/requests/joined-member-store.ts'
import { cosmosCoreObjectAudits } from '../../shared/cosmos/tenants/core-object-audit-store.ts'
import { storedCursorKeys } from '../../shared/cosmos/tenants/cursor-key-store.ts'
import { cosmosCustomAttributeNameStore } from '../../shared/cosmos/tenants/custom-attribute-name-store.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/tenants/evaluation-lease-store.ts'
import { cosmosTrackedGroupsStore } from '../../shared/cosmos/tenants/tracked-groups-store.ts'
import type { ConnectorStore } from '../../shared/domain/connectors/connector.ts'
import { CustomAttributeRegister } from '../../shared/domain/connectors/custom-attribute-names.ts'
import { UnchangedDeliveries } from '../../shared/domain/connectors/unchanged-deliveries.ts'
import { instanceWriteBudget } from '../../shared/domain/sync/write-budget.ts'
import type { RowSettingsSource } from '../../shared/domain/tenant-index/row-settings.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { cursors, type OpenCursors } from '../../shared/http/paging.ts'
import { signedPlanIds } from '../../shared/http/plan-ids.ts'
import type { CooperativeScheduler } from '../../shared/kernel/cooperative-scheduler.ts'
import type { TenantLimits } from '../../shared/kernel/tenant-limits.ts'
import { TenantQuota } from '../../shared/kernel/tenant-quota.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Connections } from './connections.ts'
import type { Runtime } from './runtime.ts'

const CURSOR_KEY_BYTES = 32

/** What all parts of the service are made of. */
export type Wiring = Runtime &
  Connections & {
    readonly scheduler: CooperativeScheduler
    readonly limits: TenantLimits
    readonly deriveId: typeof derivedId
  }

/** What collections, their members and the rows of tenants need. */
export function collectionWiring(
  { rowsMemoryMB, historyDays }: Settings,
  wiring: Wiring,
  outbox: Outbox,
  rowSettings: RowSettingsSource,
) {
  const { container, limits, scheduler, elapsedMs, messageQueue, log, metrics, newId, nowMs } = wiring
  const changes = cosmosCoreObjectChanges(container('coreObjects'), elapsedMs)
  const collections = cosmosCollectionStore(container('collections'), outbox)
  const memberships = cosmosMembershipStore(container('members'), { scheduler, historyDays, nowMs })
  return {
    collections,
    collectionQuota: new TenantQuota({
      what: 'collections',
      limitCount: limits.collections,
      count: collections.count,
      elapsedMs,
    }),
    definitionQuota: new TenantQuota({
      what: 'bytes of definitions',
      limitCount: limits.definitionBytes,
      count: collections.definitionBytes,
      elapsedMs,
    }),
    memberships,
    evaluationLeases: cosmosEvaluationLeaseStore(container('tenants')),
    joined: cosmosJoinedMembers(container('requests'), nowMs),
    historyDays,
    history: {
      criteria: cosmosCriteriaHistory(container('members'), memberships),
      joinable: cosmosJoinedHistory(container('requests')),
    },
    snapshots: new TenantSnapshots(changes, {
      maxBytes: rowsMemoryMB * 1_000_000,
      elapsedMs,
      scheduler,
      settings: rowSettings,
      saving: { store: cosmosSavedRowsStore(container('members'), elapsedMs), log, nowMs },
    }),
    scheduler,
    accountChanges: cosmosAccountChangeStore(container('coreObjects')),
    deletedObjects: cosmosDeletedCoreObjects(container('coreObjects')),
    messageQueue,
    log,
    metrics,
    newId,
    nowMs,
  }
}

/** What group links and their sync jobs need. */
export function linkWiring(settings: Settings, wiring: Wiring, outbox: Outbox) {
  const { container, directory, messageQueue, log, metrics, nowMs, newId, deriveId, random, sleep } = wiring
  return {
    jobs: cosmosJobStore(container('jobs'), container('tenants'), nowMs, outbox),
    directory,
    trackedGroups: cosmosTrackedGroupsStore(container('tenants')),
    budget: instanceWriteBudget({
      writesPerTenant: settings.directoryWritesPerTenant,
      writesTotal: settings.directoryWritesTotal,
      elapsedMs: wiring.elapsedMs,
    }),
    messageQueue,
    log,
    metrics,
    nowMs,
    newId,
    deriveId,
    random,
    sleep,
    retryDelaysS: settings.syncRetryDelaysS,
    leaseMs: settings.syncLeaseS * 1000,
    clockDifferenceMs: settings.clockDifferenceS * 1000,
    batchMs: settings.syncBatchS * 1000,
  }
}

/** What connectors and their objects need. */
export function connectorWiring({ evaluationDelayMs }: Settings, wiring: Wiring, connectors: ConnectorStore) {
  const { container, limits, elapsedMs, messageQueue, scheduler, log, metrics, deriveId, newId, nowMs } = wiring
  const names = cosmosCustomAttributeNameStore(container('tenants'))
  const objects = cosmosConnectorObjectStore(container('connectorObjects'))
  return {
    connectors,
    spaceCounts: cosmosSpaceCounts(container('connectorObjects')),
    connectorAudit: cosmosConnectorAuditTrail(container('connectors')),
    personalData: cosmosPersonalDataStore(container, nowMs),
    connectorQuota: new TenantQuota({
      what: 'connectors',
      limitCount: limits.connectors,
      count: async (tenantId) => (await connectors.list(tenantId)).length,
      elapsedMs,
    }),
    objects,
    connectorObjectQuota: new TenantQuota({
      what: 'connector objects',
      limitCount: limits.connectorObjects,
      count: objects.count,
      elapsedMs,
    }),
    audits: cosmosCoreObjectAudits(container),
    unchangedDeliveries: new UnchangedDeliveries({ objects, nowMs }),
    customAttributes: new CustomAttributeRegister(names, limits.customAttributeNames),
    messageQueue,
    scheduler,
    log,
    metrics,
    evaluationDelayMs,
    deriveId,
    newId,
    nowMs,
  }
}

/** What writes need that are sent again with the same key. */
export function idempotencyWiring({ container, log, deriveId, newId, nowMs, sleep }: Wiring) {
  return { keys: cosmosIdempotencyStore(container('idempotencyKeys')), log, deriveId, newId, nowMs, sleep }
}

/**
 * What clients send back is signed with the keys of the settings or, without any, with those that the database keeps.
 */
export function signedWiring({ cursorKeys }: Settings, { container, nowMs }: Wiring) {
  const makeKey = () => randomBytes(CURSOR_KEY_BYTES).toString('base64')
  const storedKeys = storedCursorKeys(container('tenants'), makeKey, nowMs)
  const keys = async () => (cursorKeys.length > 0 ? cursorKeys : await storedKeys())
  const openCursors: OpenCursors = async () => cursors(await keys())
  return { cursors: openCursors, planIds: signedPlanIds(keys) }
}
