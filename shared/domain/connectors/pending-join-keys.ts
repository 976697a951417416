import { retryOnConflict } from '../../kernel/versioned.ts'
import type { Connector, ConnectorStore } from './connector.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { type ConnectorRules, rulesOf } from './connector-rules.ts'
import { KEYS_AS_SENT } from './join-keys.ts'

/**
 * A write that read the connectors before a change has ended after this time: identities have the new keys, or get them
 * from a run that stores keys after that.
 */
export const WRITES_ENDED_AFTER_MS = 30_000

/**
 * Returns the join keys by which identities cannot be found after a change of connectors: those that it lists and that no
 * connector has had in use, and those whose values compare by another type.
 */
export function newJoinKeys(
  listed: readonly string[],
  before: readonly Connector[],
  after: readonly Connector[],
): readonly string[] {
  const [former, present] = [rulesOf(before), rulesOf(after)]
  const isInUse = (key: string) => former.joinKeys.includes(key) && former.findsBy(key)
  return present.joinKeys.filter((key) => {
    const isNew = listed.includes(key) && !isInUse(key)
    return !KEYS_AS_SENT.includes(key) && (isNew || hasOtherType(key, former, present))
  })
}

const hasOtherType = (key: string, former: ConnectorRules, present: ConnectorRules): boolean =>
  former.joinKeys.includes(key) && former.typeOf(key) !== present.typeOf(key)

/** Returns the connector with these keys pending. Where no identity was ever stored, none is without them. */
export async function withPendingKeys(
  tenantId: string,
  connector: Connector,
  keys: readonly string[],
  { objects, nowMs }: { readonly objects: Pick<ConnectorObjectStore, 'coreObjectIdsOfIdentities'>; nowMs(): number },
): Promise<Connector> {
  if (keys.length === 0) return connector
  const [identity] = await objects.coreObjectIdsOfIdentities(tenantId, undefined, 1)
  if (identity === undefined) return connector
  const sinceMs = nowMs()
  const pending = Object.fromEntries(keys.map((key) => [key, sinceMs]))
  return { ...connector, keysPendingSinceMs: { ...connector.keysPendingSinceMs, ...pending } }
}

/** Returns the times since when the keys have been pending that are in use once all of them are stored from now on. */
export function storableSinceMs(connectors: readonly Connector[], beganAtMs: number): number[] {
  const times = connectors.flatMap(({ keysPendingSinceMs = {} }) => Object.values(keysPendingSinceMs))
  return [...new Set(times)].filter((sinceMs) => sinceMs + WRITES_ENDED_AFTER_MS <= beganAtMs)
}

/** All identities have the keys that have been pending since these times. Safe to repeat. */
export async function settleJoinKeys(
  tenantId: string,
  sinceMs: readonly number[],
  { connectors }: { readonly connectors: ConnectorStore },
): Promise<void> {
  if (sinceMs.length === 0) return
  for (const { id } of await connectors.list(tenantId)) {
    await retryOnConflict(async () => {
      const stored = await connectors.find(tenantId, id)
      if (stored === undefined) return
      const { keysPendingSinceMs = {}, ...settled } = stored.value
      const pending = Object.entries(keysPendingSinceMs)
      const remaining = pending.filter(([, since]) => !sinceMs.includes(since))
      if (remaining.length === pending.length) return
      const value = { ...settled, ...(remaining.length > 0 && { keysPendingSinceMs: Object.fromEntries(remaining) }) }
      await connectors.replacePendingKeys(tenantId, { ...stored, value })
    })
  }
}
