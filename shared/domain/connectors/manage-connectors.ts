import type { KnownCaller } from '../../kernel/caller.ts'
import { enqueueAudit } from '../../kernel/enqueue-messages.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { requireIfMatch, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import type { AuditRecord } from '../history/audit.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import { FIRST_ID } from './audit-core-objects.ts'
import {
  type Connector,
  type ConnectorStore,
  type ConnectorUpdate,
  type NewConnector,
  newConnector,
  requireConnector,
} from './connector.ts'
import { auditOfConnector, type ConnectorAuditTrail } from './connector-audit.ts'
import { type ConnectorRecord, connectorRecord } from './connector-health.ts'
import type { DeriveId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { SpaceCounts, TenantDeliveries } from './connector-spaces.ts'
import { type CountDependencies, NO_COUNTS, recount } from './space-counts.ts'
import { isTypeChange, type TypeChecks, writeTypes } from './type-changes.ts'

export type ConnectorDependencies = CountDependencies & {
  readonly connectors: ConnectorStore
  readonly connectorQuota: TenantQuota
  readonly objects: Pick<ConnectorObjectStore, 'hasLive' | 'open' | 'version' | 'close' | 'deliveries'>
  readonly connectorAudit: ConnectorAuditTrail
  readonly messageQueue: MessageQueue
  readonly typeChecks: TypeChecks
  readonly deriveId: DeriveId
  newId(): string
  nowMs(): number
}

/** All connectors of a tenant, oldest first, with their deliveries. */
export async function listConnectors(tenantId: string, deps: ConnectorDependencies): Promise<ConnectorRecord[]> {
  const [all, deliveries] = await Promise.all([deps.connectors.list(tenantId), deps.objects.deliveries(tenantId)])
  return Promise.all(all.map((connector) => recordOf(tenantId, connector, deliveries, deps)))
}

/** A connector with its deliveries. @throws Refusal `ConnectorNotFound`. */
export async function readConnector(
  tenantId: string,
  id: string,
  deps: ConnectorDependencies,
): Promise<Versioned<ConnectorRecord>> {
  return withDeliveries(tenantId, await requireConnector(tenantId, id, deps.connectors), deps)
}

export async function withDeliveries(
  tenantId: string,
  { value, version }: Versioned<Connector>,
  deps: ConnectorDependencies,
): Promise<Versioned<ConnectorRecord>> {
  const deliveries = await deps.objects.deliveries(tenantId)
  return { value: await recordOf(tenantId, value, deliveries, deps), version }
}

async function recordOf(
  tenantId: string,
  connector: Connector,
  { lastS, counts }: TenantDeliveries,
  deps: CountDependencies & Pick<ConnectorDependencies, 'nowMs'>,
): Promise<ConnectorRecord> {
  const known = await countsOf(tenantId, connector.id, { lastS, counts }, deps)
  return connectorRecord(connector, { lastS: lastS.get(connector.id), counts: known }, deps.nowMs())
}

async function countsOf(
  tenantId: string,
  connectorId: string,
  { lastS, counts }: TenantDeliveries,
  deps: CountDependencies,
): Promise<SpaceCounts> {
  // Of a connector that never delivered, there is nothing to count.
  return counts.get(connectorId) ?? (lastS.has(connectorId) ? await recount(tenantId, connectorId, deps) : NO_COUNTS)
}

/** How many connectors are late, and how many references of their objects lead to no object. */
export async function connectorFigures(
  tenantId: string,
  deps: ConnectorDependencies,
): Promise<{ readonly lateCount: number; readonly unresolvedCount: number }> {
  const [all, deliveries] = await Promise.all([deps.connectors.list(tenantId), deps.objects.deliveries(tenantId)])
  const counts = await Promise.all(all.map(({ id }) => countsOf(tenantId, id, deliveries, deps)))
  const records = await Promise.all(all.map((connector) => recordOf(tenantId, connector, deliveries, deps)))
  return {
    lateCount: records.filter(({ health }) => health === 'Late').length,
    unresolvedCount: counts.reduce((sum, { unresolved }) => sum + unresolved, 0),
  }
}

/** Returns the time of the next connector's creation, in milliseconds: later than that of every other connector. */
function nextCreationMs(existing: readonly Connector[], nowMs: number): number {
  return Math.max(nowMs, ...existing.map(({ createdAt }) => Date.parse(createdAt) + 1))
}

/**
 * Creates a connector. The attributes of every connector created earlier take precedence over its attributes.
 * @throws Refusal `QuotaExceeded`, and those of its types: `isTypeChange`.
 */
export async function createConnector(
  input: NewConnector,
  caller: KnownCaller,
  deps: ConnectorDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Connector> {
  const id = creation.newId()
  const earlier = await findFromEarlierAttempt(creation, () => deps.connectors.find(caller.tenantId, id))
  if (earlier !== undefined) return earlier.value
  return deps.connectorQuota.adding(caller.tenantId, () => addConnector(id, input, caller, deps))
}

async function addConnector(
  id: string,
  input: NewConnector,
  caller: KnownCaller,
  deps: ConnectorDependencies,
): Promise<Connector> {
  const existing = await deps.connectors.list(caller.tenantId)
  const connector = newConnector(input, {
    id,
    createdBy: caller.objectId,
    createdAt: toTimestamp(nextCreationMs(existing, deps.nowMs())),
  })
  const { tenantId } = caller
  const hasNewTypes = await isTypeChange(tenantId, existing, [...existing, connector], connector, deps)
  // Otherwise the first write would open the space and need a second attempt.
  await deps.objects.open(caller.tenantId, id)
  const change = auditOfConnector(undefined, connector, caller, { id: deps.newId(), nowMs: deps.nowMs() })
  await writeTypes(hasNewTypes, tenantId, () => deps.connectors.add(tenantId, connector, change), deps)
  await keep(change, deps)
  return connector
}

/** Within a minute, together with the time that merging takes. */
const MERGED_AGAIN_AFTER_MS = 30_000

/** Merges all core objects of the tenant under its present rules, in batches: see `auditCoreObjects`. */
async function mergeAgain(
  tenantId: string,
  { messageQueue, newId, nowMs }: Pick<ConnectorDependencies, 'messageQueue' | 'newId' | 'nowMs'>,
  delayMs = 0,
) {
  await enqueueAudit(
    { tenantId, after: FIRST_ID, stage: 'keys', beganAtMs: nowMs() },
    newId(),
    { messageQueue },
    delayMs,
  )
}

/** @throws Refusal `ConnectorNotFound`, `PreconditionFailed`, `StaleVersion`, and those of its types: `isTypeChange`. */
export async function updateConnector(
  id: string,
  update: ConnectorUpdate,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: ConnectorDependencies,
): Promise<Versioned<Connector>> {
  const { value, version, lastChange } = await requireConnector(caller.tenantId, id, deps.connectors)
  requireIfMatch(version, ifMatch)
  const updated = { ...value, ...update, updatedAt: toTimestamp(deps.nowMs()) }
  const hasNewTypes = update.attributeTypes !== undefined && (await changesTypes(updated, caller.tenantId, deps))
  await keep(lastChange, deps)
  const isMergedAgain = changesMerging(value, updated)
  // Also after a crash between the two, which a repeated request would not notice.
  if (isMergedAgain) await mergeAgain(caller.tenantId, deps, MERGED_AGAIN_AFTER_MS)
  const write = () => replace(value, updated, version, caller, deps)
  const replaced = await writeTypes(hasNewTypes, caller.tenantId, write, deps)
  if (isMergedAgain) await mergeAgain(caller.tenantId, deps)
  return replaced
}

async function changesTypes(updated: Connector, tenantId: string, deps: ConnectorDependencies): Promise<boolean> {
  const before = await deps.connectors.list(tenantId)
  const after = before.map((each) => (each.id === updated.id ? updated : each))
  return isTypeChange(tenantId, before, after, updated, deps)
}

/** Whether the change of settings can join, split or change core objects. */
const changesMerging = (before: Connector, after: Connector): boolean =>
  before.bindsAccounts !== after.bindsAccounts ||
  before.authority !== after.authority ||
  JSON.stringify(before.joinOn) !== JSON.stringify(after.joinOn)

async function replace(
  before: Connector,
  after: Connector,
  version: string,
  caller: KnownCaller,
  deps: ConnectorDependencies,
): Promise<Versioned<Connector>> {
  const change = auditOfConnector(before, after, caller, { id: deps.newId(), nowMs: deps.nowMs() })
  const replaced = await deps.connectors.replace(caller.tenantId, after, version, change)
  await keep(change, deps)
  return replaced
}

async function keep(
  change: AuditRecord | undefined,
  { connectorAudit }: Pick<ConnectorDependencies, 'connectorAudit'>,
): Promise<void> {
  if (change !== undefined) await connectorAudit.keep(change)
}

/**
 * Deletes a connector without live objects. Of several concurrent deletions, one succeeds. Repeating an interrupted
 * deletion completes it.
 * @throws Refusal `ConnectorNotFound`, `PreconditionFailed`, `ConnectorInUse`, `StaleVersion`,
 * `AttributeValuesDoNotFit`, `ConditionsDoNotFit`.
 */
export async function deleteConnector(
  id: string,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: ConnectorDependencies,
): Promise<void> {
  const { tenantId } = caller
  let hasNewTypes = false
  await retryOnConflict(async () => {
    const { value, version } = await requireConnector(tenantId, id, deps.connectors)
    requireIfMatch(version, ifMatch)
    hasNewTypes = value.attributeTypes.length > 0 && (await losesTypes(id, tenantId, deps))
    if (await deps.objects.open(tenantId, id)) await closeEmptySpace(tenantId, id, deps)
  })
  // A concurrent update of the connector does not prevent the deletion.
  await retryOnConflict(async () => {
    const { value, version, lastChange } = await requireConnector(tenantId, id, deps.connectors)
    await keep(lastChange, deps)
    // Of several attempts to delete it, the first one is the change.
    const change = { id: deps.deriveId('connector deletion', tenantId, id), nowMs: deps.nowMs() }
    await keep(auditOfConnector(value, undefined, caller, change), deps)
    await writeTypes(hasNewTypes, tenantId, () => deps.connectors.remove(tenantId, id, version), deps)
  })
}

/** Whether custom attributes become strings because no other connector gives them a type. */
async function losesTypes(id: string, tenantId: string, deps: ConnectorDependencies): Promise<boolean> {
  if (await deps.objects.hasLive(tenantId, id)) throw inUse(id)
  const before = await deps.connectors.list(tenantId)
  const after = before.filter((each) => each.id !== id)
  return isTypeChange(tenantId, before, after, undefined, deps)
}

const inUse = (id: string): Refusal => new Refusal('ConnectorInUse', `Connector ${id} has live objects`)

/** Closes the space, after which no object can be added and the deletion is certain. */
async function closeEmptySpace(
  tenantId: string,
  id: string,
  { objects }: Pick<ConnectorDependencies, 'objects'>,
): Promise<void> {
  // Read before the check for live objects, so that a concurrent write invalidates this version.
  const spaceVersion = await objects.version(tenantId, id)
  if (await objects.hasLive(tenantId, id)) throw inUse(id)
  if (spaceVersion !== undefined) await objects.close(tenantId, id, spaceVersion)
}
