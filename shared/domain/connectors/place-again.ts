import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { mergeAffected } from './merge-affected.ts'
import { type WriteDependencies, writeScope, writeWithRetries } from './write-objects.ts'

/**
 * Assigns the live identities of these core objects that name an account to core objects again, with those connected to
 * them: which connectors bind accounts may have changed since they were written. People who were one only by an account
 * that does not count any more become several, and the other way round. Safe to repeat: the daily audit merges what an
 * interrupted call has written.
 * @returns The number of identities that have moved.
 */
export async function placeAgain(
  tenantId: string,
  coreObjectIds: readonly string[],
  connectors: readonly Connector[],
  deps: WriteDependencies,
): Promise<number> {
  // With a single connector, no identities can join.
  if (connectors.length < 2 || coreObjectIds.length === 0) return 0
  const found = await deps.objects.ofCoreObjects(tenantId, coreObjectIds)
  const byConnector = Map.groupBy(
    found.map(({ value }) => value).filter(namesAccount),
    ({ connectorId }) => connectorId,
  )
  let movedCount = 0
  for (const connector of connectors) {
    const own = byConnector.get(connector.id) ?? []
    const scope = writeScope(tenantId, connector, connectors)
    const written = await writeWithRetries(scope, own.map(rejoin), deps)
    const moved = written.flatMap((decision) => (decision?.writes.length ? [decision] : []))
    await mergeAffected(scope, moved, deps)
    movedCount += moved.length
  }
  return movedCount
}

const namesAccount = ({ objectType, deletedAtMs, data }: ConnectorObject): boolean =>
  objectType === 'identity' && deletedAtMs === undefined && data.directoryObjectId !== undefined

const rejoin = ({ objectType, externalId, data }: ConnectorObject) =>
  ({ operation: 'rejoin', objectType, externalId, data }) as const
