import { cosmosAuditTrail } from '../../shared/cosmos/audit-trail.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connectors/connector-store.ts'
import { cosmosAccountHolders } from '../../shared/cosmos/core/account-holders.ts'
import { cosmosCoreObjectReferences } from '../../shared/cosmos/core/core-object-references.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosLateConnectorStore } from '../../shared/cosmos/events/late-connector-store.ts'
import { cosmosLinkSettingsStore } from '../../shared/cosmos/links/link-settings-store.ts'
import { cosmosLinkStore } from '../../shared/cosmos/links/link-store.ts'
import { cosmosRemovalPlanStore } from '../../shared/cosmos/links/removal-plan-store.ts'
import { cosmosDeputyStore } from '../../shared/cosmos/requests/deputy-store.ts'
import { cosmosRequestStore } from '../../shared/cosmos/requests/request-store.ts'
import { cosmosMemberCounts } from '../../shared/cosmos/stored-member-counts.ts'
import { cosmosDerivedState } from '../../shared/cosmos/tenants/derived-state.ts'
import { cosmosEvaluationInputs } from '../../shared/cosmos/tenants/evaluation-inputs.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenants/tenant-store.ts'
import { typeMisfits } from '../../shared/domain/collections/attribute-type-checks.ts'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import { connectorRowSettings } from '../../shared/domain/connectors/connector-row-settings.ts'
import { listDuplicates } from '../../shared/domain/connectors/duplicates.ts'
import { connectorFigures } from '../../shared/domain/connectors/manage-connectors.ts'
import { toldApart } from '../../shared/domain/connectors/told-apart.ts'
import type { TypeChecks } from '../../shared/domain/connectors/type-changes.ts'
import { evaluationSchedule } from '../../shared/domain/evaluation/evaluation-due.ts'
import { type EvaluatedDependencies, TenantEvaluator } from '../../shared/domain/evaluation/tenant-evaluator.ts'
import { tellConnectorHealth } from '../../shared/domain/events/connector-events.ts'
import type { EventDependencies } from '../../shared/domain/events/event-stores.ts'
import { notifyMemberEvents } from '../../shared/domain/events/notify-member-events.ts'
import type { LinkedCollections } from '../../shared/domain/group-links/collection-accounts.ts'
import type { LinkLists } from '../../shared/domain/group-links/link-store.ts'
import { collectionLinks, linkedAccounts } from '../../shared/domain/group-links/linked-collections.ts'
import { withRowSettings } from '../../shared/domain/group-links/tenant-row-settings.ts'
import type { AuditTrail } from '../../shared/domain/history/audit.ts'
import type { AttentionDependencies } from '../../shared/domain/insight/attention.ts'
import type { CollectionCountDependencies } from '../../shared/domain/insight/collection-counts.ts'
import type { ExplainDependencies } from '../../shared/domain/insight/explain-membership.ts'
import type { ListMembershipsDependencies } from '../../shared/domain/insight/list-memberships.ts'
import type { PlanDependencies } from '../../shared/domain/insight/plan-input.ts'
import { StoredMemberships } from '../../shared/domain/insight/stored-memberships.ts'
import { applyDeadlines } from '../../shared/domain/membership-requests/apply-deadlines.ts'
import { deadlineSchedule, withDeadlineMessages } from '../../shared/domain/membership-requests/deadline-messages.ts'
import { liveMembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import type { ReconciliationDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { RequestReconciler } from '../../shared/domain/membership-requests/request-reconciler.ts'
import { ObjectAccessResolver, ownIdentity } from '../../shared/domain/object-access/object-access.ts'
import type { ColdTenantAccess } from '../../shared/domain/object-access/visible-by-references.ts'
import { enqueueDailyWork, enqueueSweeps, minutesSince } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import type { TimeZoneSource } from '../../shared/domain/tenant-index/row-settings.ts'
import type { RowSnapshot } from '../../shared/domain/tenant-index/rows/row-snapshot.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { readinessCheck } from '../../shared/http/probes.ts'
import { CooperativeScheduler } from '../../shared/kernel/cooperative-scheduler.ts'
import type { Log } from '../../shared/kernel/log.ts'
import { TENANT_LIMITS, type TenantLimits } from '../../shared/kernel/tenant-limits.ts'
import { TenantQuota } from '../../shared/kernel/tenant-quota.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type Connections, openConnections } from './connections.ts'
import { eventMessages, eventWiring, outboxWiring, sweepEventsSince } from './event-wiring.ts'
import { mailStores, mailWiring, tellByMail } from './mail-wiring.ts'
import { evaluationMessages, linkMessages, type MessageHandler, messageHandler } from './message-handlers.ts'
import { buildRuntime, type Runtime } from './runtime.ts'
import {
  collectionWiring,
  connectorWiring,
  idempotencyWiring,
  linkWiring,
  signedWiring,
  type Wiring,
} from './wiring.ts'

/** What takes the place of the parts that `buildService` makes from the settings. */
export type Overrides = Partial<Runtime & Connections> & {
  /** Shared by all long computations of the process. */
  readonly scheduler?: CooperativeScheduler
  readonly tenantLimits?: Partial<TenantLimits>
  /** Keeps membership requests in line with the core objects during an evaluation. */
  readonly reconciler?: Pick<RequestReconciler, 'reconcile'>
  readonly collections?: Partial<EvaluatedDependencies>
  /** The collections as group links see them. */
  readonly linkedCollections?: LinkedCollections
  /** Starts to load a tenant's rows into memory and does not wait. */
  readonly loadTenant?: (tenantId: string) => void
}

export type Service = ReturnType<typeof buildService>

/** What pages of links need beside what sync jobs need. */
type LinkPages = { readonly links: LinkLists; readonly auditTrail: AuditTrail }

/**
 * The composition root: builds the service from its settings, for the functions and for tests. Connects to no server
 * before a part is first used.
 */
export function buildService(settings: Settings, overrides: Overrides = {}) {
  const runtime = buildRuntime(settings, overrides)
  const wiring: Wiring = {
    ...runtime,
    ...openConnections(settings, runtime, overrides),
    scheduler: overrides.scheduler ?? new CooperativeScheduler(runtime.elapsedMs),
    limits: { ...TENANT_LIMITS, ...overrides.tenantLimits },
    deriveId: derivedId,
  }
  const { container, nowMs, log } = wiring
  const { outbox, subscriptions } = outboxWiring(wiring)
  const linkStore = cosmosLinkStore(container('links'), outbox, nowMs)
  const tenants = cosmosTenantStore(container('tenants'))
  const connectorStore = cosmosConnectorStore(container('connectors'))
  const { store: linkSettings, rowSettings } = withRowSettings(
    cosmosLinkSettingsStore(container('links')),
    async (tenantId) => connectorRowSettings(await connectorStore.list(tenantId)),
    runtime.elapsedMs,
  )
  const collections: EvaluatedDependencies = {
    ...collectionWiring(settings, wiring, outbox, rowSettings),
    links: collectionLinks(linkStore, nowMs),
    tenants,
    ...overrides.collections,
  }
  const signed = signedWiring(settings, wiring)
  const coreData = { coreObjects: cosmosCoreObjectStore(container('coreObjects')), cursors: signed.cursors }
  const removalPlans = cosmosRemovalPlanStore(container('removalPlans'))
  const auditTrail = cosmosAuditTrail([container('collections'), container('links'), container('jobs')])
  const requestStore = cosmosRequestStore(container('requests'), { historyDays: settings.historyDays, nowMs }, outbox)
  const requests: EvaluatedDependencies &
    ExplainDependencies &
    ListMembershipsDependencies &
    AttentionDependencies &
    ReconciliationDependencies &
    PlanDependencies &
    CollectionCountDependencies &
    typeof coreData & {
      readonly auditTrail: AuditTrail
      readonly linkStore: LinkLists
      readonly timeZones: TimeZoneSource
    } = {
    auditTrail,
    linkStore,
    timeZones: rowSettings,
    memberCounts: cosmosMemberCounts(container('members'), container('requests')),
    directory: wiring.directory,
    connectorFigures: (tenantId) => connectorFigures(tenantId, connectors),
    countDuplicates: async (tenantId) => (await listDuplicates(tenantId, connectors)).length,
    storedMemberships: new StoredMemberships({ ...collections, requests: requestStore }),
    linkSettings,
    removalPlans,
    planIds: signed.planIds,
    deriveId: derivedId,
    ...collections,
    ...coreData,
    requests: withDeadlineMessages(requestStore, collections),
    membershipResolver: liveMembershipResolver(collections),
    toldApart: (tenantId, coreObjectIds) => toldApart(tenantId, coreObjectIds, connectors),
    deputies: cosmosDeputyStore(container('requests'), nowMs),
  }
  const evaluator = new TenantEvaluator({
    ...collections,
    deriveId: wiring.deriveId,
    forgetSettings: rowSettings.forget,
    memberEvents: { changed: (tenantId, ids) => notifyMemberEvents(tenantId, ids, { ...wiring, subscriptions }) },
    reconciler: overrides.reconciler ?? new RequestReconciler(requests),
    clockDifferenceMs: settings.clockDifferenceS * 1000,
    elapsedMs: wiring.elapsedMs,
  })
  const links: SyncDependencies & Pick<typeof coreData, 'cursors'> & LinkPages = {
    auditTrail,
    cursors: coreData.cursors,
    ...linkWiring(settings, wiring, outbox),
    links: linkStore,
    linkQuota: new TenantQuota({
      what: 'group links',
      limitCount: wiring.limits.links,
      count: linkStore.count,
      elapsedMs: wiring.elapsedMs,
    }),
    settings: linkSettings,
    removalPlans,
    accountHolders: cosmosAccountHolders(container('coreObjects')),
    tenants,
    deadlines: deadlineSchedule(requestStore, collections),
    evaluations: evaluationSchedule({
      ...collections,
      timeZones: rowSettings,
      inputs: cosmosEvaluationInputs(container),
    }),
    collections: overrides.linkedCollections ?? linkedAccounts(requests, evaluator),
  }
  const freshRows = (tenantId: string): Promise<RowSnapshot> => collections.snapshots.fresh(tenantId)
  const coldAccess: ColdTenantAccess = {
    holds: (tenantId) => collections.snapshots.holds(tenantId),
    load: overrides.loadTenant ?? ((tenantId) => void freshRows(tenantId).catch(loadFailed(tenantId, log))),
    references: cosmosCoreObjectReferences(container('coreObjects')),
    settings: rowSettings,
  }
  const findIdentity: DispatchDependencies['findIdentity'] = (caller) => ownIdentity(caller, freshRows, coldAccess)
  const dispatch: DispatchDependencies = {
    ...wiring,
    findIdentity,
    idempotency: idempotencyWiring(wiring),
  }
  const typeChecks: TypeChecks = {
    misfits: (tenantId, changed, types) => typeMisfits(tenantId, changed, types, collections),
    forgetSettings: rowSettings.forget,
  }
  const coreDataWiring = connectorWiring(settings, wiring, connectorStore)
  const connectors = { ...coreDataWiring, ...coreData, tenants, typeChecks, rowSettings }
  const lateConnectors = cosmosLateConnectorStore(container('events'), outbox)
  const tellHealth = (tenantId: string) => tellConnectorHealth(tenantId, { ...connectors, lateConnectors, nowMs })
  const stores = mailStores(wiring)
  const notifyByMail = tellByMail(wiring, stores)
  const events = eventWiring(settings, wiring, subscriptions, collections.collections, notifyByMail)
  const { membershipResolver, deputies } = requests
  const mail = mailWiring(settings, wiring, stores, {
    ...{ requests: requestStore, collections: collections.collections, links: linkStore, subscriptions },
    ...{ settings: linkSettings, snapshots: collections.snapshots, membershipResolver, deputies },
    ...{ connectors: connectors.connectors, lateConnectors },
  })
  return {
    ...runtime,
    events: { ...events, cursors: coreData.cursors, mailboxes: stores.mailboxes },
    messageQueue: wiring.messageQueue,
    collections,
    requests,
    evaluator,
    links,
    connectors,
    coreObjects: { ...connectors, objectAccess: new ObjectAccessResolver(freshRows, nowMs, coldAccess) },
    dispatch,
    /** Reports which of the servers that the service needs cannot be used now. */
    readiness: readinessCheck({ checks: wiring.checks, log, nowMs }),
    messages: {
      ...messageHandler('audits', (message) => auditCoreObjects(message, connectors)),
      ...messageHandler('deadlines', (message) => applyDeadlines(message, requests)),
      ...evaluationMessages(evaluator, tenants),
      ...linkMessages(links, cosmosDerivedState(container), tellHealth),
      ...eventMessages(events),
      ...mail.messages,
    } satisfies Record<QueueName, MessageHandler>,
    sweeps: {
      since: (lastMs: number | undefined) => sweepSince(lastMs, links, events, mail.sweep),
      ofAllTenants: () => enqueueSweeps(undefined, links),
      afterRestore: () => enqueueSweeps(undefined, links, { afterRestore: true }),
    },
  }
}

const loadFailed = (tenantId: string, log: Log) => (error: unknown) =>
  log.error('core-objects.load-failed', error, { tenantId })

/** Enqueues the sweeps and the daily work that are due since the timer last ran. Both, even when one fails. */
async function sweepSince(
  lastMs: number | undefined,
  links: SyncDependencies,
  events: EventDependencies,
  sweepMails: () => Promise<void>,
): Promise<void> {
  const minutes = minutesSince(lastMs, links.nowMs())
  try {
    await enqueueDailyWork(lastMs, links)
  } finally {
    try {
      await enqueueSweeps(minutes, links)
    } finally {
      await sweepEventsSince(minutes, events, sweepMails)
    }
  }
}
