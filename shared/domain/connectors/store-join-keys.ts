import type { Connector } from './connector.ts'
import { type ConnectorObject, keptForS } from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import { type ConnectorRules, rulesOf } from './connector-rules.ts'
import { storedFoldedKeys } from './join-keys.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/** Attempts to write identities that others change, or that share a transaction with such ones. */
const MAX_ATTEMPTS = 20

type StoreDependencies = Pick<WriteDependencies, 'objects' | 'nowMs'>

/**
 * Stores the join keys of the identities of these core objects as the present settings of the connectors compare them,
 * also those of soft-deleted ones, in whom the same people can continue. Afterwards identities find each other by them,
 * all at once: in pieces, a value would join the first two of several that have it. Safe to repeat.
 */
export async function storeJoinKeys(
  tenantId: string,
  coreObjectIds: readonly string[],
  connectors: readonly Connector[],
  deps: StoreDependencies,
): Promise<void> {
  const rules = rulesOf(connectors)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const writes = await keyWrites(tenantId, coreObjectIds, rules, deps)
    const byConnector = Map.groupBy(writes, ({ object }) => object.connectorId)
    let unwrittenCount = 0
    for (const { id: connectorId, softDeletionDays } of connectors) {
      const space = { tenantId, connectorId, softDeletionDays, isDelivery: false }
      const unwritten = await deps.objects.write(space, byConnector.get(connectorId) ?? [])
      // A closed space belongs to a connector whose deletion is certain.
      if (unwritten.size > 0 && (await deps.objects.open(tenantId, connectorId))) unwrittenCount += unwritten.size
    }
    if (unwrittenCount === 0) return
  }
  throw new Error('Join keys were not stored: the identities were changed concurrently')
}

/** The writes of identities whose stored keys are others. */
async function keyWrites(
  tenantId: string,
  coreObjectIds: readonly string[],
  rules: ConnectorRules,
  { objects, nowMs }: StoreDependencies,
): Promise<ConnectorObjectWrite[]> {
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  return found.flatMap(({ value, version }) => {
    const { lastUpdatedS: _written, expiresAtS: _expires, ...object } = value
    if (object.objectType !== 'identity') return []
    const { foldedKeys: before, ...rest } = object
    const foldedKeys = storedFoldedKeys(object.data, rules)
    if (JSON.stringify(before) === JSON.stringify(foldedKeys)) return []
    const keptS = keptForS(value, nowMs())
    const written: ConnectorObject = { ...rest, ...(foldedKeys && { foldedKeys }) }
    return [{ object: written, version, ...(keptS !== undefined && { keptS }) }]
  })
}
