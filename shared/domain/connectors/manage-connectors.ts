import type { KnownCaller } from '../../kernel/caller.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import type { AuditRecord } from '../history/audit.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import {
  type Connector,
  type ConnectorStore,
  type ConnectorUpdate,
  type NewConnector,
  newConnector,
  requireConnector,
  requireSettings,
  type StoredConnector,
} from './connector.ts'
import { auditOfConnector, type ConnectorAuditTrail } from './connector-audit.ts'
import { type ConnectorRecord, connectorRecord } from './connector-health.ts'
import type { DeriveId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { SpaceCounts, TenantDeliveries } from './connector-spaces.ts'
import { mergingAgain } from './merging-again.ts'
import { newJoinKeys, withPendingKeys } from './pending-join-keys.ts'
import { type CountDependencies, NO_COUNTS, recount } from './space-counts.ts'
import { isTypeChange, type TypeChecks, writeTypes } from './type-changes.ts'

export type ConnectorDependencies = CountDependencies & {
  readonly connectors: ConnectorStore
  readonly connectorQuota: TenantQuota
  readonly objects: Pick<
    ConnectorObjectStore,
    'hasLive' | 'coreObjectIdsOfIdentities' | 'open' | 'version' | 'close' | 'deliveries'
  >
  readonly connectorAudit: ConnectorAuditTrail
  readonly messageQueue: MessageQueue
  readonly typeChecks: TypeChecks
  /** The tenants that are swept and audited. */
  readonly tenants: { register(tenantId: string): Promise<void> }
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
  // Before the connector: the sweep must know every tenant that has one, and a tenant without one does no harm.
  await deps.tenants.register(tenantId)
  const all = [...existing, connector]
  const hasNewTypes = await isTypeChange(tenantId, existing, all, connector, deps)
  // Otherwise the first write would open the space and need a second attempt.
  await deps.objects.open(caller.tenantId, id)
  const keys = newJoinKeys(connector.joinOn, existing, all)
  const added = await withPendingKeys(tenantId, connector, keys, deps)
  const change = auditOfConnector(undefined, added, caller, { id: deps.newId(), nowMs: deps.nowMs() })
  const write = () => writeTypes(hasNewTypes, tenantId, () => deps.connectors.add(tenantId, added, change), deps)
  await mergingAgain(keys.length > 0, tenantId, write, deps)
  await keep(change, deps)
  return added
}

/** @throws Refusal `ConnectorNotFound`, `PreconditionFailed`, `StaleVersion`, and those of its types: `isTypeChange`. */
export async function updateConnector(
  id: string,
  update: ConnectorUpdate,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: ConnectorDependencies,
): Promise<Versioned<Connector>> {
  const { tenantId } = caller
  const stored = await requireConnector(tenantId, id, deps.connectors)
  requireSettings(stored, ifMatch)
  const { value, lastChange } = stored
  const settings = { ...value, ...update, updatedAt: toTimestamp(deps.nowMs()) }
  const before = await deps.connectors.list(tenantId)
  const after = before.map((each) => (each.id === id ? settings : each))
  const hasNewTypes =
    update.attributeTypes !== undefined && (await isTypeChange(tenantId, before, after, settings, deps))
  await keep(lastChange, deps)
  const listed = settings.joinOn.filter((key) => !value.joinOn.includes(key))
  const keys = newJoinKeys(listed, before, after)
  const updated = await withPendingKeys(tenantId, settings, keys, deps)
  const write = () => writeTypes(hasNewTypes, tenantId, () => replace(stored, updated, caller, deps), deps)
  return mergingAgain(keys.length > 0 || changesMerging(value, updated), tenantId, write, deps)
}

/** Whether the change of settings can join, split or change core objects. */
const changesMerging = (before: Connector, after: Connector): boolean =>
  before.bindsAccounts !== after.bindsAccounts ||
  before.authority !== after.authority ||
  JSON.stringify(before.joinOn) !== JSON.stringify(after.joinOn)

async function replace(
  { value: before, version }: StoredConnector,
  after: Connector,
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
    const stored = await requireConnector(tenantId, id, deps.connectors)
    requireSettings(stored, ifMatch)
    const { value } = stored
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
    const remove = () => deps.connectors.remove(tenantId, id, version)
    // A join key can compare as text again.
    await mergingAgain(hasNewTypes, tenantId, () => writeTypes(hasNewTypes, tenantId, remove, deps), deps)
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
