import { randomBytes } from 'node:crypto'
import type { Static, TSchema } from 'typebox'
import { cosmosAccountHolders } from '../../shared/cosmos/account-holders.ts'
import { cosmosAuditTrail } from '../../shared/cosmos/audit-trail.ts'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import { cosmosCoreObjectAudits } from '../../shared/cosmos/core-object-audit-store.ts'
import { cosmosAccountChangeStore, cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core-object-references.ts'
import { cosmosCoreObjectStore, cosmosDeletedCoreObjects } from '../../shared/cosmos/core-object-store.ts'
import { storedCursorKeys } from '../../shared/cosmos/cursor-key-store.ts'
import { cosmosCustomAttributeNameStore } from '../../shared/cosmos/custom-attribute-name-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { catchUpTenant } from '../../shared/cosmos/documents.ts'
import { cosmosEvaluationInputs } from '../../shared/cosmos/evaluation-inputs.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/evaluation-lease-store.ts'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import { cosmosJobStore } from '../../shared/cosmos/job-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-member-store.ts'
import { cosmosLinkSettingsStore, cosmosLinkStore } from '../../shared/cosmos/link-store.ts'
import { cosmosCriteriaHistory, cosmosJoinedHistory } from '../../shared/cosmos/member-history-store.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import { cosmosRemovalPlanStore } from '../../shared/cosmos/removal-plan-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/request-store.ts'
import { cosmosSavedRowsStore } from '../../shared/cosmos/saved-rows-store.ts'
import { cosmosTenantStore, cosmosWindowStore } from '../../shared/cosmos/tenant-store.ts'
import { cosmosTrackedGroupsStore } from '../../shared/cosmos/tracked-groups-store.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { evaluationSchedule } from '../../shared/domain/collections/evaluation-due.ts'
import { TenantEvaluator } from '../../shared/domain/collections/tenant-evaluator.ts'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import { CustomAttributeRegister } from '../../shared/domain/connectors/custom-attribute-names.ts'
import { UnchangedDeliveries } from '../../shared/domain/connectors/unchanged-deliveries.ts'
import type { LinkedCollections } from '../../shared/domain/group-links/link-dependencies.ts'
import { collectionLinks, linkedAccounts } from '../../shared/domain/group-links/linked-collections.ts'
import type { AuditTrail } from '../../shared/domain/history/audit.ts'
import type { ExplainDependencies } from '../../shared/domain/insight/explain-membership.ts'
import type { PlanDependencies } from '../../shared/domain/insight/plan-input.ts'
import { liveMembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { ObjectAccessResolver, ownIdentity } from '../../shared/domain/object-access/object-access.ts'
import type { ColdTenantAccess } from '../../shared/domain/object-access/visible-by-references.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { enqueueDailyWork, enqueueSweeps, minutesSince, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { sharedWriteBudget } from '../../shared/domain/sync/write-budget.ts'
import type { RowSnapshot } from '../../shared/domain/tenant-index/row-snapshot.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { cursors, type OpenCursors } from '../../shared/http/paging.ts'
import { sealedPlanIds } from '../../shared/http/plan-ids.ts'
import { readinessCheck } from '../../shared/http/probes.ts'
import { conforms } from '../../shared/http/validation.ts'
import { CooperativeScheduler } from '../../shared/kernel/cooperative-scheduler.ts'
import type { Log } from '../../shared/kernel/log.ts'
import { TENANT_LIMITS, type TenantLimits } from '../../shared/kernel/tenant-limits.ts'
import { TenantQuota } from '../../shared/kernel/tenant-quota.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import {
  AuditMessage,
  EvaluationMessage,
  MembershipChangeMessage,
  SweepMessage,
  SyncJobMessage,
} from '../../shared/messaging/queues.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type Connections, openConnections } from './connections.ts'
import { buildFoundation, type Foundation } from './foundation.ts'

const CURSOR_KEY_BYTES = 32

/** Parts that take the place of those that `buildService` makes from the settings. */
export type Overrides = Partial<Foundation & Connections> & {
  /** Shared by all long computations of the process. */
  readonly scheduler?: CooperativeScheduler
  readonly tenantLimits?: Partial<TenantLimits>
  /** Keeps membership requests in line with the core objects during an evaluation. */
  readonly reconciler?: Pick<RequestReconciler, 'reconcile'>
  readonly collections?: Partial<CollectionDependencies>
  /** The collections as group links see them. */
  readonly linkedCollections?: LinkedCollections
  /** Starts to load a tenant's rows into memory and does not wait. */
  readonly loadTenant?: (tenantId: string) => void
}

export type Service = ReturnType<typeof buildService>

/**
 * The composition root: builds the service from its settings, for the functions and for tests. Connects to no server
 * before a part is first used.
 */
export function buildService(settings: Settings, overrides: Overrides = {}) {
  const foundation = buildFoundation(settings, overrides)
  const parts: Parts = {
    ...foundation,
    ...openConnections(settings, foundation, overrides),
    scheduler: overrides.scheduler ?? new CooperativeScheduler(foundation.elapsedMs),
    limits: { ...TENANT_LIMITS, ...overrides.tenantLimits },
    deriveId: derivedId,
  }
  const { container, nowMs, log } = parts
  const linkStore = cosmosLinkStore(container('links'))
  const tenants = cosmosTenantStore(container('tenants'))
  const collections: CollectionDependencies = {
    ...collectionParts(settings, parts),
    links: collectionLinks(linkStore, nowMs),
    tenants,
    ...overrides.collections,
  }
  const sealed = sealedParts(settings, parts)
  const coreData = { coreObjects: cosmosCoreObjectStore(container('coreObjects')), cursors: sealed.cursors }
  const deletedObjects = cosmosDeletedCoreObjects(container('coreObjects'))
  const removalPlans = cosmosRemovalPlanStore(container('removalPlans'))
  const linkSettings = cosmosLinkSettingsStore(container('links'))
  const auditTrail = cosmosAuditTrail([container('collections'), container('links'), container('jobs')])
  const requests: ExplainDependencies & PlanDependencies & typeof coreData & { readonly auditTrail: AuditTrail } = {
    auditTrail,
    linkStore,
    linkSettings,
    removalPlans,
    planIds: sealed.planIds,
    deriveId: derivedId,
    ...collections,
    ...coreData,
    requests: cosmosRequestStore(container('requests'), { historyDays: settings.historyDays, nowMs }),
    membershipResolver: liveMembershipResolver(collections),
    deletedObjects,
  }
  const evaluator = new TenantEvaluator({
    ...collections,
    deletedObjects,
    reconciler: overrides.reconciler ?? new RequestReconciler(requests),
    clockDifferenceMs: settings.clockDifferenceS * 1000,
  })
  const links: SyncDependencies & Pick<typeof coreData, 'cursors'> & { readonly auditTrail: AuditTrail } = {
    auditTrail,
    cursors: coreData.cursors,
    ...linkParts(settings, parts),
    links: linkStore,
    linkQuota: new TenantQuota({
      what: 'group links',
      limitCount: parts.limits.links,
      count: linkStore.count,
      elapsedMs: parts.elapsedMs,
    }),
    settings: linkSettings,
    removalPlans,
    accountHolders: cosmosAccountHolders(container('coreObjects')),
    tenants,
    evaluations: evaluationSchedule({ ...collections, inputs: cosmosEvaluationInputs(container) }),
    collections: overrides.linkedCollections ?? linkedAccounts({ ...collections, deletedObjects }, evaluator),
  }
  const freshRows = (tenantId: string): Promise<RowSnapshot> => collections.snapshots.fresh(tenantId)
  const coldAccess: ColdTenantAccess = {
    holds: (tenantId) => collections.snapshots.holds(tenantId),
    load: overrides.loadTenant ?? ((tenantId) => void freshRows(tenantId).catch(loadFailed(tenantId, log))),
    references: cosmosCoreObjectReferences(container('coreObjects')),
  }
  const findIdentity: DispatchDependencies['findIdentity'] = (caller) => ownIdentity(caller, freshRows, coldAccess)
  const dispatch: DispatchDependencies = {
    ...parts,
    findIdentity,
    idempotency: idempotencyParts(parts),
    catchUp: (tenantId) => catchUpTenant(container, tenantId),
  }
  const connectors = { ...connectorParts(settings, parts), ...coreData }
  return {
    ...foundation,
    messageQueue: parts.messageQueue,
    databaseSession: parts.databaseSession,
    collections,
    requests,
    evaluator,
    links,
    connectors,
    coreObjects: { ...connectors, objectAccess: new ObjectAccessResolver(freshRows, nowMs, coldAccess) },
    dispatch,
    /** Reports which of the servers that the service needs cannot be used now. */
    readiness: readinessCheck({ checks: parts.checks, log, nowMs }),
    messages: {
      audits: handler(AuditMessage, (message) => auditCoreObjects(message, connectors)),
      evaluations: handler(EvaluationMessage, ({ tenantId }) => evaluator.evaluate(tenantId)),
      ...linkMessages(links),
    } satisfies Record<QueueName, MessageHandler>,
    sweeps: {
      since: (lastMs: number | undefined) => sweepSince(lastMs, links),
      ofAllTenants: () => enqueueSweeps(undefined, links),
    },
  }
}

type Parts = Foundation &
  Connections & {
    readonly scheduler: CooperativeScheduler
    readonly limits: TenantLimits
    readonly deriveId: typeof derivedId
  }

function collectionParts({ rowsMemoryMB, historyDays }: Settings, parts: Parts) {
  const { container, limits, scheduler, elapsedMs, messageQueue, log, metrics, newId, nowMs } = parts
  const changes = cosmosCoreObjectChanges(container('coreObjects'), elapsedMs)
  const collections = cosmosCollectionStore(container('collections'))
  const memberships = cosmosMembershipStore(container('members'), { scheduler, historyDays, nowMs })
  return {
    collections,
    collectionQuota: new TenantQuota({
      what: 'collections',
      limitCount: limits.collections,
      count: collections.count,
      elapsedMs,
    }),
    memberships,
    evaluationLeases: cosmosEvaluationLeaseStore(container('tenants'), parts.databaseSession),
    joined: cosmosJoinedMembers(container('requests'), nowMs),
    historyDays,
    history: {
      criteria: cosmosCriteriaHistory(container('members'), memberships),
      joinable: cosmosJoinedHistory(container('requests')),
    },
    snapshots: new TenantSnapshots(changes, {
      bytesAtMost: rowsMemoryMB * 1_000_000,
      elapsedMs,
      scheduler,
      saving: { store: cosmosSavedRowsStore(container('members'), elapsedMs), log, nowMs },
    }),
    scheduler,
    accountChanges: cosmosAccountChangeStore(container('coreObjects')),
    messageQueue,
    log,
    metrics,
    newId,
    nowMs,
  }
}

function linkParts(settings: Settings, parts: Parts) {
  const { container, directory, messageQueue, log, metrics, nowMs, newId, deriveId, random, sleep } = parts
  return {
    jobs: cosmosJobStore(container('jobs'), container('tenants'), nowMs),
    directory,
    trackedGroups: cosmosTrackedGroupsStore(container('tenants')),
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
    deriveId,
    random,
    sleep,
    retryDelaysS: settings.syncRetryDelaysS,
    leaseMs: settings.syncLeaseS * 1000,
    clockDifferenceMs: settings.clockDifferenceS * 1000,
    batchMs: settings.syncSliceS * 1000,
  }
}

function connectorParts({ evaluationDelayMs }: Settings, parts: Parts) {
  const { container, limits, elapsedMs, messageQueue, scheduler, log, metrics, deriveId, newId, nowMs } = parts
  const names = cosmosCustomAttributeNameStore(container('tenants'))
  const connectors = cosmosConnectorStore(container('connectors'))
  const objects = cosmosConnectorObjectStore(container('connectorObjects'))
  return {
    connectors,
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

function idempotencyParts({ container, log, deriveId, newId, nowMs, sleep }: Parts) {
  return { keys: cosmosIdempotencyStore(container('idempotencyKeys')), log, deriveId, newId, nowMs, sleep }
}

/**
 * What clients send back is signed with the keys of the settings or, without any, with those that the database keeps.
 */
function sealedParts({ cursorKeys }: Settings, { container, nowMs }: Parts) {
  const makeKey = () => randomBytes(CURSOR_KEY_BYTES).toString('base64')
  const storedKeys = storedCursorKeys(container('tenants'), makeKey, nowMs)
  const keys = async () => (cursorKeys.length > 0 ? cursorKeys : await storedKeys())
  const openCursors: OpenCursors = async () => cursors(await keys())
  return { cursors: openCursors, planIds: sealedPlanIds(keys) }
}

const loadFailed = (tenantId: string, log: Log) => (error: unknown) =>
  log.error('core-objects.load-failed', error, { tenantId })

/** Enqueues the sweeps and the daily work that are due since the timer last ran. Both, even when one fails. */
async function sweepSince(lastMs: number | undefined, links: SyncDependencies): Promise<void> {
  const minutes = minutesSince(lastMs, links.nowMs())
  try {
    await enqueueDailyWork(lastMs, links)
  } finally {
    await enqueueSweeps(minutes, links)
  }
}

export type MessageHandler = {
  /** Whether the message has the schema of its queue. One that does not can never be handled. */
  accepts(message: unknown): boolean
  /** @param sinceMs when the request or timer run began that the message comes from. */
  handle(message: unknown, sinceMs?: number): Promise<void>
}

export const linkMessages = (links: SyncDependencies) => ({
  'membership-changes': handler(MembershipChangeMessage, (message, sinceMs) =>
    syncIncrementally(message, links, sinceMs),
  ),
  sweeps: handler(SweepMessage, ({ tenantId }) => sweepTenant(tenantId, links)),
  'sync-jobs': handler(SyncJobMessage, (message) => runSyncJob(message, links)),
})

function handler<Schema extends TSchema>(
  schema: Schema,
  handle: (message: Static<Schema>, sinceMs?: number) => Promise<void>,
): MessageHandler {
  return {
    accepts: (message) => conforms(schema, message),
    handle: (message, sinceMs) => handle(message as Static<Schema>, sinceMs),
  }
}
