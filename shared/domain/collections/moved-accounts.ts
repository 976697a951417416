import { CORE_TYPE } from '../criteria/collection-members.ts'
import { schemaName } from '../criteria/schema.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { JoinedMembers } from './joined-members.ts'
import type { RowChanges } from './tenant-snapshots.ts'

const ACCOUNT = schemaName('identity', 'directoryObjectId')
const HOLDER = schemaName('relationship', 'identity')

/** Whether the changes can have put another account behind someone who was a member before and still is. */
export function mayMoveAccounts(changes: RowChanges): changes is Exclude<RowChanges, 'everything'> {
  return changes !== 'everything' && (changes.attributes.has(ACCOUNT) || changes.attributes.has(HOLDER))
}

/** A collection and its members, before and after an evaluation; both ascending. */
export type MembersOverTime = {
  readonly collection: Collection
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

/**
 * The collections with a member who stayed and may have another account now: no change of the membership tells their
 * links. Those who came just now are told by that, with the account they have.
 */
export function withMovedAccounts(criteria: readonly MembersOverTime[], changes: RowChanges): string[] {
  if (!mayMoveAccounts(changes)) return []
  return criteria.flatMap(({ collection, before = [], after = [] }) => {
    const touched = changes.ids[CORE_TYPE[collection.objectType as CriteriaObjectType]]
    const concerned = before.filter((id) => touched.has(id))
    if (concerned.length === 0) return []
    const stayed = before === after ? undefined : new Set(after)
    return concerned.some((id) => stayed === undefined || stayed.has(id)) ? [collection.id] : []
  })
}

/** The same for joinable collections, whose members are identities. */
export async function joinableWithMovedAccounts(
  tenantId: string,
  joinableIds: readonly string[],
  changes: RowChanges,
  joined: JoinedMembers,
): Promise<string[]> {
  if (!mayMoveAccounts(changes) || joinableIds.length === 0) return []
  const { identity } = changes.ids
  const all = await joined.of(tenantId, joinableIds)
  return [...all]
    .filter(([, { memberships }]) => memberships.some((one) => identity.has(one.identityId)))
    .map(([id]) => id)
}
