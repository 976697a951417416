import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import { storedFoldedKeys } from './join-keys.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/**
 * Stores the join keys of the live identities of these core objects as the present settings of the connectors compare
 * them. Afterwards identities find each other by them, all at once: in pieces, a value would join the first two of several
 * that have it. Safe to repeat. An identity that is written meanwhile gets its keys from that write.
 */
export async function storeJoinKeys(
  tenantId: string,
  coreObjectIds: readonly string[],
  connectors: readonly Connector[],
  { objects }: Pick<WriteDependencies, 'objects'>,
): Promise<void> {
  if (coreObjectIds.length === 0) return
  const rules = rulesOf(connectors)
  const found = await objects.ofCoreObjects(tenantId, coreObjectIds)
  const writes = found.flatMap(({ value: { lastUpdatedS: _written, ...object }, version }) => {
    if (object.objectType !== 'identity' || object.deletedAtMs !== undefined) return []
    const { foldedKeys: before, ...rest } = object
    const foldedKeys = storedFoldedKeys(object.data, rules)
    if (JSON.stringify(before) === JSON.stringify(foldedKeys)) return []
    return [{ object: { ...rest, ...(foldedKeys && { foldedKeys }) } as ConnectorObject, version }]
  })
  const byConnector = Map.groupBy(writes, ({ object }) => object.connectorId)
  for (const { id: connectorId, softDeletionDays } of connectors) {
    await objects.write({ tenantId, connectorId, softDeletionDays }, byConnector.get(connectorId) ?? [])
  }
}
