import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Attribution, MemberChangeCause } from '../history/member-history.ts'
import type { MembershipRequest } from './membership-request.ts'
import type { RequestChange } from './request-dependencies.ts'
import { SYSTEM_NOTES } from './system-notes.ts'

/** The cause of a member that was removed, by the note of the system that ended the request. */
const CAUSE_BY_NOTE: Readonly<Record<string, MemberChangeCause>> = {
  [SYSTEM_NOTES.orphaned]: 'ObjectDeleted',
  [SYSTEM_NOTES.handedOver]: 'ObjectChanged',
  [SYSTEM_NOTES.restored]: 'ObjectChanged',
  [SYSTEM_NOTES.merged]: 'Merged',
  [SYSTEM_NOTES.expired]: 'Expired',
}

/** Why a change of a request adds or removes a member. */
export function attributionOf({ before, after, attribution }: RequestChange): Attribution {
  const until = after.status === 'Joined' ? after.endsAt : undefined
  const membership = { requestId: after.id, relationshipId: relationshipOf(before?.value, after) }
  return { ...(attribution ?? byRequest(before?.value, after)), ...membership, ...(until !== undefined && { until }) }
}

/** A member that leaves had the position that the request named before. */
function relationshipOf(before: MembershipRequest | undefined, after: MembershipRequest): string | null {
  return after.status === 'Joined' || before === undefined ? after.relationshipId : before.relationshipId
}

function byRequest(before: MembershipRequest | undefined, after: MembershipRequest): Attribution {
  if (before?.status === 'Joined' && after.status === 'Joined') return { cause: 'Merged', actorId: SYSTEM_ACTOR }
  const [previous, last] = after.lifecycle.slice(-2)
  const entry = last ?? previous
  if (entry === undefined || entry.actorId === SYSTEM_ACTOR) {
    return { cause: CAUSE_BY_NOTE[entry?.notes ?? ''] ?? 'ObjectDeleted', actorId: SYSTEM_ACTOR }
  }
  // Without a gate the subject decides, also where its manager has submitted the request.
  const isUngated = entry.status === 'Joined' && previous?.status === 'Requested'
  return { cause: 'Request', actorId: isUngated ? after.requesterId : entry.actorId }
}
