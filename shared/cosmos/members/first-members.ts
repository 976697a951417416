import type { Container } from '@azure/cosmos'
import type { MembershipStore } from '../../domain/collections/membership-store.ts'
import { withVerdicts } from '../../domain/evaluation/members-now.ts'
import { type MemberEvent, OldestEvents } from '../../domain/history/member-history.ts'
import { CHANGE_TYPE } from '../change-document.ts'
import { countDocuments, readDocument } from '../documents.ts'
import { HEAD_ID, type MembersHead } from './membership-plan.ts'

export type MembersOfNow = Pick<MembershipStore, 'members' | 'membersAmong'>

/** Which first members to determine, and how to read the events after the first version, in any order. */
export type FirstMembersQuery = {
  readonly tenantId: string
  readonly collectionId: string
  readonly firstVersion: number
  /** Undefined for all members. */
  readonly objectId: string | undefined
  /** All later events; for one object, those that concern it. */
  later(): AsyncIterable<readonly MemberEvent[]>
}

/**
 * The members that a large first evaluation added, ascending. The history does not store them, because this would cost
 * a third of the request units of the evaluation: they are the current members without what has changed since. None
 * when a later change is not kept any more.
 */
export async function firstMembers(
  { tenantId, collectionId, firstVersion, objectId, later }: FirstMembersQuery,
  container: Container,
  memberships: MembersOfNow,
): Promise<readonly string[]> {
  // Members are read before events. The oldest event of an object tells what was before it, also if it is newer than
  // these.
  const ids =
    objectId === undefined
      ? ((await memberships.members(tenantId, collectionId))?.ids ?? [])
      : [...(await memberships.membersAmong(tenantId, collectionId, [objectId]))]
  const oldest = new OldestEvents(({ objectId: id }) => id)
  for await (const events of later()) {
    for (const event of events) if (objectId === undefined || event.objectId === objectId) oldest.add(event)
  }
  if (!(await isEachChangeKept(`${tenantId}:${collectionId}`, firstVersion, container))) return []
  const wasMember = new Map(oldest.byKey.entries().map(([id, { change }]) => [id, change === 'Removed']))
  return withVerdicts(ids, wasMember) ?? ids
}

/** Each change raises the version by one. */
async function isEachChangeKept(partition: string, firstVersion: number, container: Container): Promise<boolean> {
  const later = 'c.type = @type AND c.membershipVersion > @firstVersion'
  const [head, count] = await Promise.all([
    readDocument<MembersHead>(container, HEAD_ID, partition),
    countDocuments(container, partition, later, { type: CHANGE_TYPE, firstVersion }),
  ])
  return head !== undefined && count >= head.membershipVersion - firstVersion
}
