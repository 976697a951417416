import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { DAY_MS, toTimestamp } from '../../kernel/timestamp.ts'
import type { Collection, CollectionResults } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { joinedMembersOf } from '../collections/membership-store.ts'
import { readCollection } from '../collections/read-collections.ts'
import type { JoinedMembership } from '../criteria/collection-members.ts'
import { type MemberEvent, OldestEvents } from '../history/member-history.ts'
import type { TimeZoneSource } from '../tenant-index/row-settings.ts'
import { instantMsOf } from './list-history.ts'

type AsOfDependencies = Pick<
  CollectionDependencies,
  'collections' | 'memberships' | 'joined' | 'history' | 'historyDays' | 'scheduler' | 'nowMs'
> & { readonly timeZones: TimeZoneSource }

/**
 * The members of a collection at an earlier time: the stored members without what happened since. Name and description
 * are the current ones.
 * @throws Refusal `CollectionNotFound`; `InvalidValue` for a time in the future or none; `HistoryNotKept` for a time
 *   before the collection was created, or that is no longer kept.
 */
export async function readResultsAsOf(
  tenantId: string,
  collectionId: string,
  asOf: string,
  deps: AsOfDependencies,
): Promise<CollectionResults> {
  const asOfMs = instantMsOf(asOf, 'asOf', await deps.timeZones.zoneOf(tenantId))
  const nowMs = deps.nowMs()
  if (asOfMs > nowMs) throw new Refusal('InvalidValue', 'asOf is in the future', 'asOf')
  const { value: collection } = await readCollection(tenantId, collectionId, undefined, deps)
  if (asOfMs < collection.createdAtMs)
    throw notKept(`The collection was created at ${toTimestamp(collection.createdAtMs)}`)
  if (asOfMs < nowMs - deps.historyDays * DAY_MS) throw notKept(`Changes are kept for ${deps.historyDays} days`)
  const { name, description, objectType } = collection
  const memberIds = await membersAsOf(collection, asOfMs, deps)
  return { collectionId, name, description, objectType, memberIds, evaluatedAt: toTimestamp(asOfMs) }
}

function notKept(message: string): Refusal {
  return new Refusal('HistoryNotKept', message, 'asOf')
}

type Member = CollectionResults['memberIds'][number]

/** The stored members, each under a key that is the same for the events of its membership. */
type StoredMembers = {
  readonly membershipVersion: number
  readonly members: readonly Member[]
  keyOf(member: Member): string
  memberOf(event: MemberEvent): Member
}

async function membersAsOf(collection: Collection, asOfMs: number, deps: AsOfDependencies): Promise<Member[]> {
  const stored = await storedMembers(collection, deps)
  const { tenantId, id, kind } = collection
  const oldest = new OldestEvents((event) => stored.keyOf(stored.memberOf(event)))
  for await (const events of deps.history[kind].since(tenantId, id, asOfMs + 1)) {
    // Others are newer than the members that were read.
    for (const event of events) if (event.membershipVersion <= stored.membershipVersion) oldest.add(event)
  }
  if (!oldest.isUnbrokenTo(stored.membershipVersion)) throw notKept('A later change is not kept')
  /** What undoing the events leaves of each membership that they concern. */
  const before = new Map<string, Member | undefined>()
  for (const [key, event] of oldest.byKey) {
    before.set(key, event.change === 'Removed' ? stored.memberOf(event) : undefined)
  }
  return deps.scheduler.run(undoneTask(stored, before))
}

async function storedMembers(
  collection: Collection,
  deps: Pick<AsOfDependencies, 'memberships' | 'joined'>,
): Promise<StoredMembers> {
  const { tenantId, id, kind, objectType } = collection
  if (kind === 'criteria') {
    const found = await deps.memberships.members(tenantId, id)
    return {
      membershipVersion: found?.head.membershipVersion ?? 0,
      members: found?.ids ?? [],
      keyOf: (member) => member as string,
      memberOf: ({ objectId }) => objectId,
    }
  }
  const isByPosition = objectType === 'Relationship'
  const { memberships, membershipVersion } = await joinedAtOneVersion(collection, deps)
  return {
    membershipVersion,
    members: memberships.map(({ identityId, relationshipId }) => ({ objectId: identityId, relationshipId })),
    // The position that an Identity collection records can become null during a membership.
    keyOf: (member) => {
      const { objectId, relationshipId } = member as Exclude<Member, string>
      return isByPosition ? `${objectId} ${relationshipId}` : objectId
    },
    memberOf: ({ objectId, relationshipId = null }) => ({ objectId, relationshipId }),
  }
}

/** Reads of the members while others change them. */
const MAX_READS = 10

/** Memberships can be newer than the version that was read before them. */
async function joinedAtOneVersion(
  { tenantId, id }: Collection,
  { joined }: Pick<AsOfDependencies, 'joined'>,
): Promise<{ readonly memberships: readonly JoinedMembership[]; readonly membershipVersion: number }> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const found = await joinedMembersOf(tenantId, id, joined)
    if ((await joined.versions(tenantId, [id])).get(id) === found.membershipVersion) return found
  }
  throw new Refusal('StaleVersion', `The members of collection ${id} were changed concurrently`)
}

/** Members handled in one step of the task. */
const MEMBERS_PER_STEP_COUNT = 8192

/** In the order of the stored members. */
function* undoneTask(
  { members, keyOf }: StoredMembers,
  before: ReadonlyMap<string, Member | undefined>,
): Task<Member[]> {
  const added = new Map([...before].filter((entry): entry is [string, Member] => entry[1] !== undefined))
  const kept: Member[] = []
  for (const [index, member] of members.entries()) {
    if (index % MEMBERS_PER_STEP_COUNT === 0) yield
    const key = keyOf(member)
    if (!before.has(key)) kept.push(member)
    else if (added.delete(key)) kept.push(before.get(key) as Member)
  }
  const others = [...added].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, member]) => member)
  return yield* mergedTask(kept, others, keyOf)
}

/** Two lists in the order of their keys as one. */
function* mergedTask(
  left: readonly Member[],
  right: readonly Member[],
  keyOf: (member: Member) => string,
): Task<Member[]> {
  const all: Member[] = []
  let next = 0
  for (const [index, member] of left.entries()) {
    if (index % MEMBERS_PER_STEP_COUNT === 0) yield
    for (let more = right[next]; more !== undefined && keyOf(more) < keyOf(member); more = right[next]) {
      all.push(more)
      next += 1
    }
    all.push(member)
  }
  return [...all, ...right.slice(next)]
}
