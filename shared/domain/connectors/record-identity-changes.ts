import { heldAccount } from './account-claims.ts'
import type { IdentityAction } from './identity-change.ts'
import type { Contribution, MergedCoreObject } from './merged-core-object.ts'

/** Changes kept with an identity, the newest: its document is read whole with each load of a tenant. */
const MAX_CHANGES_COUNT = 100

/** What is known of the contributors of an identity, present and former. */
export type Contributors = {
  /** Undefined for one that is not stored any more. */
  connectorOf(connectorObjectId: string): string | undefined
  /** Identities that contribute now, the oldest connector first. */
  readonly live: readonly Contribution[]
}

/**
 * Adds what a write changes to the history that a core identity keeps of itself. The history is a part of the document,
 * so that one transaction writes both. Other objects are returned as they are.
 */
export function withIdentityChanges(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  contributors: Contributors,
  at: string,
): MergedCoreObject {
  if (object.objectType !== 'identity') return object
  const added = [...changedContributors(object, before, contributors), ...changedAccount(object, before, contributors)]
  const changes = [
    ...(before?.changes ?? []),
    ...added.map(([action, connectorId]) => ({ at, action, connectorId: connectorId ?? null })),
  ].slice(-MAX_CHANGES_COUNT)
  return changes.length === 0 ? object : { ...object, changes }
}

type Added = readonly [action: IdentityAction, connectorId: string | null | undefined]

function changedContributors(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  { connectorOf }: Contributors,
): Added[] {
  const wasLive = before?.deleted === false
  const former = wasLive ? before.contributors : []
  const left = former.filter((id) => !object.contributors.includes(id))
  if (object.deleted) {
    if (!wasLive) return []
    return [[object.mergedInto === undefined ? 'Deleted' : 'Merged', left.map(connectorOf).find(Boolean)]]
  }
  const joined = object.contributors.filter((id) => !former.includes(id))
  const [first, ...others] = wasLive ? [undefined, ...joined] : joined
  const isRekeyed = first !== undefined && before !== undefined && before.externalId !== object.externalId
  const replaced = replacements(joined, left, connectorOf)
  return [
    ...(first === undefined ? [] : [[before === undefined ? 'Created' : 'Restored', connectorOf(first)] as const]),
    ...(isRekeyed ? [['Rekeyed', connectorOf(first)] as const] : []),
    ...[...replaced.keys()].map((id) => ['Rekeyed', connectorOf(id)] as const),
    ...others.flatMap((id) => (id === undefined || replaced.has(id) ? [] : [['Merged', connectorOf(id)] as const])),
    ...left.filter((id) => ![...replaced.values()].includes(id)).map((id) => ['Split', connectorOf(id)] as const),
  ]
}

/** The contributors that have joined in the place of one of the same connector, with that one. */
function replacements(
  joined: readonly string[],
  left: readonly string[],
  connectorOf: Contributors['connectorOf'],
): ReadonlyMap<string, string> {
  const replaced = new Map<string, string>()
  for (const id of joined) {
    const taken = new Set(replaced.values())
    const connectorId = connectorOf(id)
    const former = left.find((id) => !taken.has(id) && connectorId !== undefined && connectorOf(id) === connectorId)
    if (former !== undefined) replaced.set(id, former)
  }
  return replaced
}

function changedAccount(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  { connectorOf, live }: Contributors,
): Added[] {
  const [from, to] = [heldAccount(before), heldAccount(object)]
  if (from === to) return []
  const bound = before?.changes?.findLast(({ action }) => action === 'AccountBound')
  const source = live.find(({ data }) => data.directoryObjectId === to)
  return [
    ...(from === undefined ? [] : [['AccountReleased', bound?.connectorId] as const]),
    ...(to === undefined ? [] : [['AccountBound', source && connectorOf(source.connectorObjectId)] as const]),
  ]
}
