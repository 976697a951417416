import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import { joinKeyValues } from './join-keys.ts'
import { mergeAffected } from './merge-affected.ts'
import { type WriteDependencies, writeScope, writeWithRetries } from './write-objects.ts'

/**
 * Assigns the live identities of these core objects that have a join key to core objects again, with those connected to
 * them: the connectors' authority, and by what they join, may have changed since they were written. People who were one
 * only by what does not count any more become several, and the other way round. Safe to repeat: the daily audit merges what an
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
  const rules = rulesOf(connectors)
  const joinable = found
    .map(({ value }) => value)
    .filter((object) => isLiveIdentity(object) && joinKeyValues(object.data, rules).length > 0)
  const byConnector = Map.groupBy(joinable, ({ connectorId }) => connectorId)
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

const isLiveIdentity = ({ objectType, deletedAtMs }: ConnectorObject): boolean =>
  objectType === 'identity' && deletedAtMs === undefined

const rejoin = ({ objectType, externalId, data }: ConnectorObject) =>
  ({ operation: 'rejoin', objectType, externalId, data }) as const
