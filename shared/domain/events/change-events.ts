import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { hasFailed } from '../group-links/sync-state.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { RequestStatus } from '../membership-requests/membership-request.ts'
import type { RequestChange } from '../membership-requests/request-dependencies.ts'
import type { EventDraft, EventType } from './event-types.ts'

const COLLECTION_ACTIONS: Readonly<Partial<Record<AuditRecord['action'], EventType>>> = {
  Created: 'collection.created',
  Updated: 'collection.updated',
  Deleted: 'collection.deleted',
}

const LINK_ACTIONS: Readonly<Partial<Record<AuditRecord['action'], EventType>>> = {
  LinkCreated: 'link.created',
  LinkUpdated: 'link.updated',
  LinkDeleted: 'link.deleted',
  RemovalsApproved: 'removals.approved',
  RemovalsRejected: 'removals.rejected',
}

/** What an action on a collection tells. */
export function eventsOfCollection(audit: AuditRecord | undefined): EventDraft[] {
  const type = audit && COLLECTION_ACTIONS[audit.action]
  if (audit === undefined || type === undefined) return []
  const { id, subject: collectionId, at: time, actorId } = audit
  return [{ key: [id], type, time, subject: `/collections/${collectionId}`, data: { collectionId, actorId } }]
}

type LinkedGroup = Pick<GroupLink, 'id' | 'collectionId' | 'directoryGroupId'>

/** What an action on a group link tells. */
export function eventsOfLinkAction(link: LinkedGroup, audit: AuditRecord | undefined): EventDraft[] {
  const type = audit && LINK_ACTIONS[audit.action]
  if (audit === undefined || type === undefined) return []
  const { id, at: time, actorId, after } = audit
  const plan = type.startsWith('removals.') ? { planId: after.planId } : {}
  return [linkEvent(link, { key: [id], type, time, data: { ...plan, actorId } })]
}

/**
 * The link with whether its removals are paused, as far as that is known. While it is not, and while the link is
 * disabled, what was told last stays.
 */
export function withPauseTold(link: GroupLink): GroupLink {
  const { state, skippedCount, isPauseTold = false } = link
  const isPaused = state === 'Disabled' || skippedCount === null ? isPauseTold : skippedCount > 0
  return isPaused === isPauseTold ? link : { ...link, isPauseTold: isPaused }
}

/** What a sync tells of a group link, by what the link records. */
export function eventsOfLinkChange(before: GroupLink, after: GroupLink, nowMs: number): EventDraft[] {
  const events: EventDraft[] = []
  const time = toTimestamp(nowMs)
  const revision = [after.id, String(after.lastToken), after.lastSyncedAt ?? '']
  const add = (type: EventType, data: EventDraft['data'] = {}) =>
    events.push(linkEvent(after, { key: [...revision, type], type, time, data: { ...data, actorId: SYSTEM_ACTOR } }))
  const wasFailed = hasFailed(before)
  if (!wasFailed && hasFailed(after)) add('link.failed', { error: after.lastSyncError ?? null })
  if (wasFailed && after.lastSyncOutcome === 'Succeeded') add('link.recovered')
  const [wasPaused, isPaused] = [before, after].map(({ isPauseTold = false }) => isPauseTold)
  if (!wasPaused && isPaused) add('link.paused')
  if (wasPaused && !isPaused) add('link.resumed')
  const [heldBefore, heldAfter] = [before.heldRemovals?.planId, after.heldRemovals?.planId]
  if (heldAfter !== undefined && heldAfter !== heldBefore) add('removals.held', { planId: heldAfter })
  if (heldBefore !== undefined && heldAfter === undefined) add('removals.resolved', { planId: heldBefore })
  return events
}

function linkEvent(
  { id: linkId, collectionId, directoryGroupId }: LinkedGroup,
  { data, ...draft }: Omit<EventDraft, 'subject'>,
): EventDraft {
  return { ...draft, subject: `/group-links/${linkId}`, data: { ...data, linkId, collectionId, directoryGroupId } }
}

const REQUEST_EVENTS: Readonly<Record<RequestStatus, EventType>> = {
  Requested: 'request.submitted',
  PendingApproval: 'request.waiting',
  Approved: 'request.approved',
  Joined: 'request.joined',
  Rejected: 'request.rejected',
  Cancelled: 'request.cancelled',
  Left: 'request.left',
}

/** What a change of a request tells: one event for each new entry of its lifecycle, its near end, and reminders. */
export function eventsOfRequest(change: RequestChange): EventDraft[] {
  return [...lifecycleEvents(change), ...tellingEvents(change)]
}

function tellingEvents({ before, after }: RequestChange): EventDraft[] {
  const { id: requestId, collectionId, reminder, endingTold } = after
  const data = { requestId, collectionId, actorId: SYSTEM_ACTOR }
  const event = (type: EventType, key: string, time: string): EventDraft => ({
    ...{ key: [requestId, type, key], type, time },
    ...{ subject: `/membership-requests/${requestId}`, data },
  })
  const events: EventDraft[] = []
  const isEnding = endingTold !== undefined && endingTold.endsAt !== before?.value.endingTold?.endsAt
  if (isEnding) events.push(event('request.ending', endingTold.endsAt, endingTold.at))
  const remindedAt = reminder?.lastAt
  const isReminded = remindedAt !== undefined && remindedAt !== before?.value.reminder?.lastAt
  if (isReminded) events.push(event('request.reminder', remindedAt, remindedAt))
  return events
}

function lifecycleEvents({ before, after }: RequestChange): EventDraft[] {
  const { id: requestId, collectionId, lifecycle } = after
  const known = before?.value.lifecycle.length ?? 0
  return lifecycle.slice(known).map(({ status, actorId, at: time }, index) => ({
    key: [requestId, String(known + index)],
    type: REQUEST_EVENTS[status],
    time,
    subject: `/membership-requests/${requestId}`,
    data: { requestId, collectionId, actorId },
  }))
}
