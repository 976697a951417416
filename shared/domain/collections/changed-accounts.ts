import type { AccountChange } from '../core/core-object-store.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { schemaName } from '../criteria/schema.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { GatheredChanges, RowChanges } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { JoinedMembers } from './joined-members.ts'

const ACCOUNT = schemaName('identity', 'directoryObjectId')
const HOLDER = schemaName('relationship', 'identity')

/** Identities and positions that may stand for other accounts than before, and since when: id to milliseconds. */
export type ChangedAccounts = {
  readonly identity: ReadonlyMap<string, number>
  readonly relationship: ReadonlyMap<string, number>
  readonly orgUnit: ReadonlyMap<string, number>
}

const NONE: ChangedAccounts = { identity: new Map(), relationship: new Map(), orgUnit: new Map() }

/** Whether the changes can have put another account behind someone who was a member before and still is. */
export function mayChangeAccounts(changes: RowChanges): changes is GatheredChanges {
  return changes !== 'everything' && (changes.attributes.has(ACCOUNT) || changes.attributes.has(HOLDER))
}

/** As the changes of a snapshot that was in memory have it. They do not say of whom the account changed. */
export function accountsChangedByRows(changes: RowChanges, nowMs: number): ChangedAccounts {
  if (!mayChangeAccounts(changes)) return NONE
  const now = (ids: ReadonlySet<string>) => new Map([...ids].map((id) => [id, nowMs]))
  return { ...NONE, identity: now(changes.ids.identity), relationship: now(changes.ids.relationship) }
}

/** As stored, which is all there is to go by for who did not see the rows before. */
export function accountsChangedAsStored(moves: readonly AccountChange[], rows: RowSnapshot): ChangedAccounts {
  const identity = new Map<string, number>()
  const relationship = new Map<string, number>()
  const take = (moved: Map<string, number>, id: string, atMs: number) =>
    moved.set(id, Math.max(atMs, moved.get(id) ?? 0))
  for (const { id, objectType, movedAtMs } of moves) {
    take(objectType === 'identity' ? identity : relationship, id, movedAtMs)
    if (objectType !== 'identity') continue
    for (const held of rows.heldBy(id)) take(relationship, held, movedAtMs)
  }
  return { ...NONE, identity, relationship }
}

/** A collection and its members, before and after an evaluation; both ascending. */
export type MembersOverTime = {
  readonly collection: Collection
  /** Undefined where this evaluator did not know them. */
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

/**
 * When a member who stayed last came to another account; undefined when none did. No change of the membership tells
 * that to the links. Those who came just now are told by their coming, with the account that they have.
 */
export function accountsChangedAtMs(
  { collection, before, after }: MembersOverTime,
  moved: ChangedAccounts,
): number | undefined {
  const ofType = moved[CORE_TYPE[collection.objectType as CriteriaObjectType]]
  const concerned = ofType.size === 0 ? [] : (before ?? after ?? []).filter((id) => ofType.has(id))
  if (concerned.length === 0) return undefined
  const stayed = before === undefined || before === after ? undefined : new Set(after)
  return latest(stayed === undefined ? concerned : concerned.filter((id) => stayed.has(id)), ofType)
}

/** The same for joinable collections, whose members are identities: those in which one did, with the time. */
export async function joinableAccountsChanged(
  tenantId: string,
  joinableIds: readonly string[],
  { identity }: ChangedAccounts,
  joined: JoinedMembers,
): Promise<Map<string, number>> {
  if (identity.size === 0 || joinableIds.length === 0) return new Map()
  const all = await joined.of(tenantId, joinableIds)
  return new Map(
    [...all].flatMap(([id, { memberships }]) => {
      const movedAtMs = latest(
        memberships.map(({ identityId }) => identityId),
        identity,
      )
      return movedAtMs === undefined ? [] : [[id, movedAtMs] as const]
    }),
  )
}

function latest(ids: readonly string[], moved: ReadonlyMap<string, number>): number | undefined {
  let latestMs: number | undefined
  for (const id of ids) {
    const movedAtMs = moved.get(id)
    if (movedAtMs !== undefined && movedAtMs > (latestMs ?? 0)) latestMs = movedAtMs
  }
  return latestMs
}
