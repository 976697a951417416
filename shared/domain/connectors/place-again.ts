import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { rulesOf } from './connector-rules.ts'
import { joinKeyValues, KEYS_AS_SENT } from './join-keys.ts'
import { mergeAffected } from './merge-affected.ts'
import { rejoinOf } from './rejoin-identities.ts'
import { writeScope, writeWithRetries } from './write-attempts.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/**
 * Assigns the live identities of these core objects that have a join key or share one that was listed, or belong to
 * others, to core objects again, with those connected to them: the connectors' authority, and by what they join, may
 * have changed since they were written. People who were one only by what does not count any more become several, and
 * the other way round. Safe to repeat: the daily audit merges what an interrupted call has written.
 * @param hasOtherKeys Whether other join keys may count than before: identities of a single connector can be duplicates
 * then.
 * @returns The number of identities that have moved.
 */
export async function placeAgain(
  tenantId: string,
  coreObjectIds: readonly string[],
  connectors: readonly Connector[],
  deps: WriteDependencies,
  hasOtherKeys = false,
): Promise<number> {
  const { joinKeys } = rulesOf(connectors)
  // The identities of a single connector do not join, but those with other keys are found by these.
  const isAlone = connectors.length < 2 && joinKeys.every((key) => KEYS_AS_SENT.includes(key))
  if ((isAlone && !hasOtherKeys) || coreObjectIds.length === 0) return 0
  const found = await deps.objects.ofCoreObjects(tenantId, coreObjectIds)
  const rules = rulesOf(connectors)
  const live = found.map(({ value }) => value).filter(isLiveIdentity)
  const together = Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
  const joinable = live.filter(
    ({ data, coreObjectId, foldedKeys, conflictKeys }) =>
      joinKeyValues(data, rules).length > 0 ||
      foldedKeys !== undefined ||
      conflictKeys !== undefined ||
      (together.get(coreObjectId)?.length ?? 0) > 1,
  )
  const byConnector = Map.groupBy(joinable, ({ connectorId }) => connectorId)
  let movedCount = 0
  for (const connector of connectors) {
    const own = byConnector.get(connector.id) ?? []
    const scope = writeScope(tenantId, connector, connectors, { isDelivery: false })
    const written = await writeWithRetries(scope, own.map(rejoinOf), deps)
    const moved = written.flatMap((decision) => (decision?.writes.length ? [decision] : []))
    await mergeAffected(scope, moved, deps)
    movedCount += moved.length
  }
  return movedCount
}

const isLiveIdentity = ({ objectType, deletedAtMs }: ConnectorObject): boolean =>
  objectType === 'identity' && deletedAtMs === undefined
