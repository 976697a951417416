import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { requireIfMatch, retryOnConflict } from '../../kernel/versioned.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import { type Connector, type ConnectorUpdate, type NewConnector, newConnector, nextCreationMs } from './connector.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { ConnectorStore } from './connector-store.ts'

export type ConnectorDependencies = {
  readonly connectors: ConnectorStore
  readonly objects: Pick<ConnectorObjectStore, 'hasLive' | 'open' | 'version' | 'close'>
  newId(): string
  nowMs(): number
}

/** @throws Refusal `ConnectorNotFound`. */
export async function requireConnector(
  tenantId: string,
  id: string,
  connectors: ConnectorStore,
): Promise<Versioned<Connector>> {
  const found = await connectors.find(tenantId, id)
  if (found === undefined) throw new Refusal('ConnectorNotFound', `There is no connector ${id}`)
  return found
}

/** Adds a connector; its attributes yield to those of every connector created before. */
export async function createConnector(
  input: NewConnector,
  caller: Caller,
  deps: ConnectorDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Connector> {
  const id = creation.newId()
  const earlier = await findFromEarlierAttempt(creation, () => deps.connectors.find(caller.tenantId, id))
  if (earlier !== undefined) return earlier.value
  const existing = await deps.connectors.list(caller.tenantId)
  const connector = newConnector(input, {
    id,
    createdBy: caller.objectId,
    createdAt: toTimestamp(nextCreationMs(existing, deps.nowMs())),
  })
  // The first write would do it, at the price of being tried twice.
  await deps.objects.open(caller.tenantId, id)
  await deps.connectors.add(caller.tenantId, connector)
  return connector
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
  return deps.connectors.replace(caller.tenantId, updated, version)
}

/**
 * Deletes a connector that has no live objects. Of several deletions at once, the one that removes the record succeeds.
 * One that ended half-way is finished by the next.
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
  // A change of the connector made meanwhile goes with it.
  await retryOnConflict(async () => {
    const { version } = await requireConnector(tenantId, id, deps.connectors)
    await deps.connectors.remove(tenantId, id, version)
  })
}

/** From here on the deletion is certain, whoever finishes it: no object is ever added again. */
async function closeEmptySpace(tenantId: string, id: string, { objects }: ConnectorDependencies): Promise<void> {
  // Read before the objects are looked at: whatever is written meanwhile makes this stale.
  const spaceVersion = await objects.version(tenantId, id)
  if (await objects.hasLive(tenantId, id)) {
    throw new Refusal('ConnectorInUse', `Connector ${id} still has live objects`)
  }
  if (spaceVersion !== undefined) await objects.close(tenantId, id, spaceVersion)
}
