import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { DAY_MS, toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection } from '../collections/collection.ts'
import { laterEnd } from './ends.ts'
import { endedForGood, isLive, type MembershipRequest, slotOf } from './membership-request.ts'
import type { ObjectStatuses } from './object-statuses.ts'
import { withReminder } from './reminders.ts'
import type { AreTwoPeople, RequestChange } from './request-dependencies.ts'
import { SYSTEM_NOTES } from './system-notes.ts'

type CollectionType = Pick<Collection, 'id' | 'objectType'>

/** What became of the objects of requests, and who is certainly another person than who holds a position now. */
type KnownStatuses = ObjectStatuses & { readonly areTwoPeople: AreTwoPeople }

/**
 * The changes that bring requests of one collection in line with the core objects. Planned again
 * after they are saved, there are none.
 * @param requests Live ones and restorable memberships; with a request of an identity that was merged, all those of the
 *   identity that remains.
 * @param collection Undefined when it was deleted.
 */
export function planReconciliation(
  requests: readonly Versioned<MembershipRequest>[],
  collection: CollectionType | undefined,
  statuses: KnownStatuses,
  nowMs: number,
): RequestChange[] {
  const planned = requests.map((before) => ({ before, after: reconciled(before.value, collection, statuses, nowMs) }))
  const bySlot = Map.groupBy(
    planned.filter(({ after }) => isLive(after)),
    ({ after }) => after.slot,
  )
  const sharings = [...bySlot.values()].map((sharing) => sharing.sort(byPrecedence))
  const losers = new Set(sharings.flatMap((sharing) => sharing.slice(1)))
  const merged = new Map(
    sharings.flatMap(([first, ...others]) => (first ? [[first, withOthers(first, others, nowMs)]] : [])),
  )
  const changes = planned.flatMap((change) => {
    const { before } = change
    const after = merged.get(change) ?? change.after
    if (!losers.has(change)) return after === before.value ? [] : [{ before, after }]
    // A membership that would come back beside another one does not come back once the slot is free either.
    const isEnding = isLive(before.value)
    return [{ before, after: isEnding ? ended(after, SYSTEM_NOTES.merged, nowMs) : endedForGood(before.value) }]
  })
  return changes.sort((left, right) => saveRank(left) - saveRank(right))
}

/**
 * What a membership takes over from another is saved before that one ends. The slots of requests that end are free for
 * those that move or come back.
 */
function saveRank({ before, after }: RequestChange): number {
  const wasLive = before !== undefined && isLive(before.value)
  if (!isLive(after)) return wasLive ? 1 : 3
  return wasLive && before.value.slot === after.slot ? 0 : 2
}

type Planned = { readonly before: Versioned<MembershipRequest>; readonly after: MembershipRequest }

/** Longer than a person who is back can be a member without an evaluation that looks at what comes back. */
const COMES_BACK_WITHIN_MS = DAY_MS

/**
 * The membership that remains of several of one person: it ends with the last of them, and a still later end that one of
 * them waits for stays asked for. What would come back changes no membership of the same identity that has long stood beside
 * it: earlier releases left it so. Of an identity that is merged now, it does.
 */
function withOthers({ before, after }: Planned, others: readonly Planned[], nowMs: number): MembershipRequest {
  const isLongLive = isLive(before.value) && nowMs - Date.parse(after.createdAt) >= COMES_BACK_WITHIN_MS
  const isLeftover = ({ value }: Versioned<MembershipRequest>) =>
    isLongLive && !isLive(value) && value.requesterId === before.value.requesterId
  const memberships = others.filter((other) => other.after.status === 'Joined' && !isLeftover(other.before))
  if (after.status !== 'Joined' || memberships.length === 0) return after
  const { endsAt: own, ...rest } = after
  const end = memberships.reduce((end, other) => laterEnd(end, other.after.endsAt), own)
  const ending: MembershipRequest = end === own ? after : { ...rest, ...(end === undefined ? {} : { endsAt: end }) }
  const isLater = ({ extension }: MembershipRequest) =>
    extension !== undefined && end !== undefined && Date.parse(extension.endsAt) > Date.parse(end)
  if (isLater(ending)) return ending
  const kept = ending.extension === undefined ? ending : withoutExtension(ending, nowMs)
  const { extension, reminder } = memberships.map((other) => other.after).find(isLater) ?? {}
  if (extension === undefined) return kept
  const { order, type } = extension.currentGate
  const at = toTimestamp(nowMs)
  const status = 'PendingApproval' as const
  const entry = { status, actorId: SYSTEM_ACTOR, at, gate: { order, type }, notes: SYSTEM_NOTES.merged }
  const moved = { ...kept, extension, updatedAt: at, lifecycle: [...kept.lifecycle, entry] }
  return reminder === undefined ? moved : withReminder(moved, { reminderDays: reminder.days }, nowMs)
}

/** The membership lasts at least as long as the extension asks for. */
function withoutExtension(membership: MembershipRequest, nowMs: number): MembershipRequest {
  const { extension: _extension, reminder: _reminder, ...rest } = membership
  return { ...withEntry(rest, 'Cancelled', SYSTEM_NOTES.merged, nowMs), status: 'Joined' }
}

/**
 * A membership before an open request, a live one before one that would come back, the older before the younger.
 */
function byPrecedence(left: RequestChange, right: RequestChange): number {
  const rank = ({ before, after }: RequestChange) => [
    Number(after.status !== 'Joined'),
    Number(before !== undefined && !isLive(before.value)),
    `${after.createdAt} ${after.id}`,
  ]
  const [first, second] = [rank(left), rank(right)]
  for (const [index, value] of first.entries()) {
    if (value !== second[index]) return value < (second[index] as typeof value) ? -1 : 1
  }
  return 0
}

function reconciled(
  request: MembershipRequest,
  collection: CollectionType | undefined,
  statuses: KnownStatuses,
  nowMs: number,
): MembershipRequest {
  if (isLive(request)) return reconciledLive(request, collection, statuses, nowMs)
  const { restorableUntilMs = 0, ...former } = request
  if (collection === undefined || restorableUntilMs <= nowMs) return request
  if (request.endsAt !== undefined && Date.parse(request.endsAt) <= nowMs) return request
  const restored = withEntry(former, 'Joined', SYSTEM_NOTES.restored, nowMs)
  const after = reconciledLive(restored, collection, statuses, nowMs)
  if (isLive(after)) return after
  // While it does not come back, it stays that of its identity, which may be split from the one it was merged into. It
  // moves where it would not be found later.
  const { id, mergedUntilMs = restorableUntilMs } = statuses.identity(request.requesterId)
  return mergedUntilMs < restorableUntilMs ? ofOwner(request, collection, id) : request
}

function reconciledLive(
  request: MembershipRequest,
  collection: CollectionType | undefined,
  statuses: KnownStatuses,
  nowMs: number,
): MembershipRequest {
  if (collection === undefined) return ended(request, SYSTEM_NOTES.orphaned, nowMs)
  const owner = statuses.identity(request.requesterId)
  const owned = ofOwner(request, collection, owner.id)
  if (!owner.isLive) return ended(owned, SYSTEM_NOTES.orphaned, nowMs, owner.restorableUntilMs)
  const position = lostPosition(owned, statuses)
  if (position === 'held') return owned
  if (collection.objectType !== 'Relationship') return { ...owned, relationshipId: null }
  if (position === 'handedOver') return ended(owned, SYSTEM_NOTES.handedOver, nowMs)
  return ended(owned, SYSTEM_NOTES.orphaned, nowMs, statuses.positionRestorableUntilMs(owned.relationshipId ?? ''))
}

/**
 * A position without a holder is not handed over: its reference may be missing for a while. Nor is one whose holder may
 * be the same person under a new external id.
 */
function lostPosition(
  { requesterId, relationshipId }: MembershipRequest,
  { orgChart, areTwoPeople }: KnownStatuses,
): 'held' | 'deleted' | 'handedOver' {
  if (relationshipId === null) return 'held'
  if (!orgChart.has('relationship', relationshipId)) return 'deleted'
  const holder = orgChart.holderOf(relationshipId)
  if (holder === undefined || holder === requesterId) return 'held'
  return areTwoPeople(requesterId, holder, relationshipId) ? 'handedOver' : 'held'
}

function ofOwner(request: MembershipRequest, collection: CollectionType, requesterId: string): MembershipRequest {
  if (requesterId === request.requesterId) return request
  return { ...request, requesterId, slot: slotOf(collection, requesterId, request.relationshipId) }
}

/**
 * @param restorableUntilMs For a membership that ends by a deletion, the time until which it comes back with its
 * object.
 */
function ended(
  request: MembershipRequest,
  notes: string,
  nowMs: number,
  restorableUntilMs?: number,
): MembershipRequest {
  const wasJoined = request.status === 'Joined'
  const { deadlineMs: _deadlineMs, gateApprovers: _gateApprovers, extension, reminder, ...rest } = request
  const after = withEntry({ ...rest, currentGate: null }, wasJoined ? 'Left' : 'Cancelled', notes, nowMs)
  if (!wasJoined || restorableUntilMs === undefined) return after
  if (extension === undefined) return { ...after, restorableUntilMs }
  return { ...after, restorableUntilMs, extension, ...(reminder === undefined ? {} : { reminder }) }
}

function withEntry(
  request: MembershipRequest,
  status: 'Joined' | 'Left' | 'Cancelled',
  notes: string,
  nowMs: number,
): MembershipRequest {
  const at = toTimestamp(nowMs)
  const entry = { status, actorId: SYSTEM_ACTOR, at, notes }
  return { ...request, status, updatedAt: at, lifecycle: [...request.lifecycle, entry] }
}
