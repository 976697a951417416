import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import { Timestamp, toSecondsTimestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { requireIfMatch, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import type { ConnectorObjectStore } from './connector-object.ts'

/** Deleted objects can be restored for this time, unless their connector sets another. */
export const SOFT_DELETION_DEFAULT_DAYS = 90
/** Ten years. A longer period is assumed to be a mistake. */
const SOFT_DELETION_LIMIT_DAYS = 3650

const Name = Type.String({ minLength: 1, maxLength: 256, pattern: '\\S' })
const BindsAccounts = Described(
  Type.Boolean(),
  'Whether the connector assigns directory accounts to identities (default true). If false, its `directoryObjectId` is ' +
    'ignored in joining and merging. A change takes effect within a minute, in tenants with several hundred thousand people ' +
    'within some minutes.',
)
const SoftDeletionDays = Type.Integer({ minimum: 1, maximum: SOFT_DELETION_LIMIT_DAYS })

/** A source of core objects, with its own connector space. */
export const Connector = Closed({
  id: Guid,
  name: Name,
  /** Client id of the application that acts as the connector. Several connectors can share one. */
  clientId: Guid,
  /** Days for which deleted objects can be restored. */
  softDeletionDays: SoftDeletionDays,
  /** The objects of a disabled connector are kept, and writes to its space are refused. */
  enabled: Type.Boolean(),
  bindsAccounts: BindsAccounts,
  createdAt: Timestamp,
  /** Directory object id of the creator. */
  createdBy: Guid,
  updatedAt: Timestamp,
})
export type Connector = Static<typeof Connector>

/** A connector in a list. A single connector has no such time, because it changes without a new version. */
export const ListedConnector = Closed({
  ...Connector.properties,
  lastDeliveredAt: Described(
    Nullable(Timestamp),
    'When the connector last sent data, in whole seconds; null if it never did. While it sends only data that are ' +
      'stored already, the time can be up to ten minutes too old.',
  ),
})
export type ListedConnector = Static<typeof ListedConnector>

export const NewConnector = Type.Object({
  name: Name,
  clientId: Guid,
  softDeletionDays: Type.Optional(SoftDeletionDays),
  enabled: Type.Optional(Type.Boolean()),
  bindsAccounts: Type.Optional(BindsAccounts),
})
export type NewConnector = Static<typeof NewConnector>

/** Members left out keep their values. */
export const ConnectorUpdate = Type.Partial(NewConnector)
export type ConnectorUpdate = Static<typeof ConnectorUpdate>

type ConnectorCreation = { readonly id: string; readonly createdBy: string; readonly createdAt: string }

/** Returns a new connector with defaults for the members left out. */
export function newConnector(input: NewConnector, { id, createdBy, createdAt }: ConnectorCreation): Connector {
  return {
    id,
    name: input.name,
    clientId: input.clientId,
    softDeletionDays: input.softDeletionDays ?? SOFT_DELETION_DEFAULT_DAYS,
    enabled: input.enabled ?? true,
    bindsAccounts: input.bindsAccounts ?? true,
    createdAt,
    createdBy,
    updatedAt: createdAt,
  }
}

/** Compares connectors by age, oldest first. The oldest connector's attributes take precedence. */
export function byCreation(one: Connector, other: Connector): number {
  return Date.parse(one.createdAt) - Date.parse(other.createdAt) || (one.id < other.id ? -1 : 1)
}

/** Returns the time of the next connector's creation, in milliseconds: later than that of every other connector. */
function nextCreationMs(existing: readonly Connector[], nowMs: number): number {
  return Math.max(nowMs, ...existing.map(({ createdAt }) => Date.parse(createdAt) + 1))
}

/** Stores the connectors of each tenant. */
export interface ConnectorStore {
  /** Returns all connectors of a tenant, oldest first, including all earlier writes of all instances. */
  list(tenantId: string): Promise<Connector[]>
  /** Undefined when the connector does not exist. */
  find(tenantId: string, id: string): Promise<Versioned<Connector> | undefined>
  add(tenantId: string, connector: Connector): Promise<void>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`. */
  replace(tenantId: string, connector: Connector, version: string): Promise<Versioned<Connector>>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`. */
  remove(tenantId: string, id: string, version: string): Promise<void>
}

export type ConnectorDependencies = {
  readonly connectors: ConnectorStore
  readonly connectorQuota: TenantQuota
  readonly objects: Pick<ConnectorObjectStore, 'hasLive' | 'open' | 'version' | 'close' | 'lastDeliveriesS'>
  readonly messageQueue: MessageQueue
  newId(): string
  nowMs(): number
}

/** All connectors of a tenant, oldest first, with the times of their last deliveries. */
export async function listConnectors(
  tenantId: string,
  { connectors, objects }: Pick<ConnectorDependencies, 'connectors' | 'objects'>,
): Promise<ListedConnector[]> {
  const [all, lastDeliveriesS] = await Promise.all([connectors.list(tenantId), objects.lastDeliveriesS(tenantId)])
  return all.map((connector) => {
    const lastS = lastDeliveriesS.get(connector.id)
    return { ...connector, lastDeliveredAt: lastS === undefined ? null : toSecondsTimestamp(lastS) }
  })
}

/** @throws Refusal `ConnectorNotFound`. */
export async function requireConnector(
  tenantId: string,
  id: string,
  connectors: ConnectorStore,
): Promise<Versioned<Connector>> {
  const found = await connectors.find(tenantId, id)
  if (found === undefined) throw connectorNotFound(id)
  return found
}

export const connectorNotFound = (id: string): Refusal =>
  new Refusal('ConnectorNotFound', `There is no connector ${id}`)

/**
 * Creates a connector. The attributes of every connector created earlier take precedence over its attributes.
 * @throws Refusal `QuotaExceeded`.
 */
export async function createConnector(
  input: NewConnector,
  caller: Caller,
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
  caller: Caller,
  deps: ConnectorDependencies,
): Promise<Connector> {
  const existing = await deps.connectors.list(caller.tenantId)
  const connector = newConnector(input, {
    id,
    createdBy: caller.objectId,
    createdAt: toTimestamp(nextCreationMs(existing, deps.nowMs())),
  })
  // Otherwise the first write would open the space and need a second attempt.
  await deps.objects.open(caller.tenantId, id)
  await deps.connectors.add(caller.tenantId, connector)
  return connector
}

/** Within a minute, together with the time that merging takes. */
const MERGED_AGAIN_AFTER_MS = 30_000

/** Before all others. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Merges all core objects of the tenant under its present rules, in batches: see `auditCoreObjects`. */
async function mergeAgain(tenantId: string, { messageQueue, newId, nowMs }: ConnectorDependencies, delayMs = 0) {
  const message = { tenantId, after: FIRST_ID, beganAtMs: nowMs() }
  await messageQueue.enqueue({ queue: 'audits', message }, { id: `${tenantId}:rules:${newId()}`, delayMs })
}

/** @throws Refusal `ConnectorNotFound`, `PreconditionFailed`, `StaleVersion`. */
export async function updateConnector(
  id: string,
  update: ConnectorUpdate,
  ifMatch: string | undefined,
  caller: Caller,
  deps: ConnectorDependencies,
): Promise<Versioned<Connector>> {
  const { value, version } = await requireConnector(caller.tenantId, id, deps.connectors)
  requireIfMatch(version, ifMatch)
  const updated = { ...value, ...update, updatedAt: toTimestamp(deps.nowMs()) }
  if (updated.bindsAccounts === value.bindsAccounts) return deps.connectors.replace(caller.tenantId, updated, version)
  // Also after a crash between the two, which a repeated request would not notice.
  await mergeAgain(caller.tenantId, deps, MERGED_AGAIN_AFTER_MS)
  const replaced = await deps.connectors.replace(caller.tenantId, updated, version)
  await mergeAgain(caller.tenantId, deps)
  return replaced
}

/**
 * Deletes a connector without live objects. Of several concurrent deletions, one succeeds. Repeating an interrupted
 * deletion completes it.
 * @throws Refusal `ConnectorNotFound`, `PreconditionFailed`, `ConnectorInUse`, `StaleVersion`.
 */
export async function deleteConnector(
  id: string,
  ifMatch: string | undefined,
  caller: Caller,
  deps: ConnectorDependencies,
): Promise<void> {
  const { tenantId } = caller
  await retryOnConflict(async () => {
    const { version } = await requireConnector(tenantId, id, deps.connectors)
    requireIfMatch(version, ifMatch)
    if (await deps.objects.open(tenantId, id)) await closeEmptySpace(tenantId, id, deps)
  })
  // A concurrent update of the connector does not prevent the deletion.
  await retryOnConflict(async () => {
    const { version } = await requireConnector(tenantId, id, deps.connectors)
    await deps.connectors.remove(tenantId, id, version)
  })
}

/** Closes the space, after which no object can be added and the deletion is certain. */
async function closeEmptySpace(tenantId: string, id: string, { objects }: ConnectorDependencies): Promise<void> {
  // Read before the check for live objects, so that a concurrent write invalidates this version.
  const spaceVersion = await objects.version(tenantId, id)
  if (await objects.hasLive(tenantId, id)) {
    throw new Refusal('ConnectorInUse', `Connector ${id} has live objects`)
  }
  if (spaceVersion !== undefined) await objects.close(tenantId, id, spaceVersion)
}
