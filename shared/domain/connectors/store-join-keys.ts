import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import { storedFoldedKeys } from './join-keys.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/**
 * Stores the join keys of the identities of these core objects as the present settings of the connectors compare them,
 * also those of soft-deleted ones, in whom the same people can continue. Afterwards identities find each other by them, all at once: in pieces, a value would join the first two of several
 * that have it. Safe to repeat. An identity that is written meanwhile gets its keys from that write.
 */
export async function storeJoinKeys(
  tenantId: string,
  coreObjectIds: readonly string[],
  connectors: readonly Connector[],
  { objects, nowMs }: Pick<WriteDependencies, 'objects' | 'nowMs'>,
): Promise<void> {
  if (coreObjectIds.length === 0) return
  const rules = rulesOf(connectors)
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const writes = found.flatMap(({ value: { lastUpdatedS: _written, expiresAtS, ...object }, version }) => {
    if (object.objectType !== 'identity') return []
    const { foldedKeys: before, ...rest } = object
    const foldedKeys = storedFoldedKeys(object.data, rules)
    if (JSON.stringify(before) === JSON.stringify(foldedKeys)) return []
    // The time for which a soft-deleted object is kept counts from its deletion, not from this write.
    const keptS = expiresAtS === undefined ? undefined : Math.max(1, expiresAtS - Math.floor(nowMs() / 1000))
    const written = { ...rest, ...(foldedKeys && { foldedKeys }) } as ConnectorObject
    return [{ object: written, version, ...(keptS !== undefined && { keptS }) }]
  })
  const byConnector = Map.groupBy(writes, ({ object }) => object.connectorId)
  for (const { id: connectorId, softDeletionDays } of connectors) {
    await objects.write({ tenantId, connectorId, softDeletionDays }, byConnector.get(connectorId) ?? [])
  }
}
