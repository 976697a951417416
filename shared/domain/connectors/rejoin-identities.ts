import type { Connector } from './connector.ts'
import type { ConnectorObject } from './connector-object.ts'
import { joinKeysInOrder } from './join-keys.ts'
import type { ObjectWrite } from './object-input.ts'
import { type WriteScope, writeScope, writeWithRetries } from './write-attempts.ts'
import type { WriteDecision } from './write-decision.ts'
import type { WriteDependencies } from './write-dependencies.ts'

/** The write that assigns a stored identity to a core object again. */
export const rejoinOf = ({ objectType, externalId, data }: ConnectorObject): ObjectWrite => ({
  ...{ operation: 'rejoin', objectType, externalId, data },
})

/** Returns a `rejoin` for each written identity that has a join key, or may have had one by which others joined it. */
export function rejoins(
  writes: readonly ObjectWrite[],
  written: readonly (WriteDecision | undefined)[],
  { rules, connector: { id: connectorId } }: WriteScope,
): ObjectWrite[] {
  const given = writes.flatMap((write) =>
    write.operation === 'delete' || write.objectType !== 'identity'
      ? []
      : joinKeysInOrder({ connectorId, data: write.data }, rules),
  )
  const byKey = Map.groupBy(given, (key) => key)
  return writes.flatMap((write, index) => {
    if (write.operation === 'delete' || write.objectType !== 'identity') return []
    const keys = joinKeysInOrder({ connectorId, data: write.data }, rules)
    const isJoinable = written[index]?.outcome.outcome === 'updated' || keys.length > 0
    const isWritten = (written[index]?.writes.length ?? 0) > 0
    const { previousExternalId: _former, ...names } = write
    // Those that one batch gives the same key have seen each other.
    const isNew = written[index]?.outcome.outcome === 'created' && keys.every((key) => byKey.get(key)?.length === 1)
    return isJoinable && isWritten ? [{ ...names, operation: 'rejoin' as const, isNew }] : []
  })
}

/**
 * Assigns the live identities again that writes of others have moved: an identity that joined one of them concurrently,
 * without being seen, follows it. @param decisions Those written, of identities that have been assigned again included.
 */
export async function rejoinMoved(
  { tenantId, connector }: WriteScope,
  decisions: readonly (WriteDecision | undefined)[],
  connectors: readonly Connector[],
  deps: WriteDependencies,
): Promise<(WriteDecision | undefined)[]> {
  const own = new Set(decisions.flatMap((decision) => idOf(decision) ?? []))
  const moved = new Map<string, ConnectorObject>()
  for (const { object } of decisions.flatMap((decision) => decision?.writes ?? [])) {
    const isLiveIdentity = object.objectType === 'identity' && object.deletedAtMs === undefined
    if (isLiveIdentity && !own.has(object.id)) moved.set(object.id, object)
  }
  const byConnector = Map.groupBy(moved.values(), ({ connectorId }) => connectorId)
  const written: (WriteDecision | undefined)[] = []
  for (const owner of [connector, ...connectors.filter(({ id }) => id !== connector.id)]) {
    const identities = byConnector.get(owner.id) ?? []
    if (identities.length === 0) continue
    const scope = writeScope(tenantId, owner, connectors, { isDelivery: owner.id === connector.id })
    written.push(...(await writeWithRetries(scope, identities.map(rejoinOf), deps)))
  }
  return written
}

const idOf = (decision: WriteDecision | undefined): string | undefined =>
  decision !== undefined && decision.outcome.outcome !== 'refused' ? decision.outcome.id : undefined
