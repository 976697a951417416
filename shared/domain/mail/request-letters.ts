import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Collection } from '../collections/collection.ts'
import type { StoredEvent } from '../events/event-types.ts'
import { type ApproverSources, approversAt } from '../membership-requests/approvers.ts'
import { dueAtMs } from '../membership-requests/ends.ts'
import { gateOf, waitingPart, waitingSinceMs } from '../membership-requests/extension.ts'
import { policyOf } from '../membership-requests/join-policy.ts'
import {
  isLive,
  type LifecycleEntry,
  type MembershipRequest,
  type RequestStatus,
} from '../membership-requests/membership-request.ts'
import { approverSources } from '../membership-requests/request-dependencies.ts'
import { SYSTEM_NOTES } from '../membership-requests/system-notes.ts'
import type { Letter, LetterContext, Letters } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import type { CancellationReason, MailItem } from './mail-item.ts'

type Dependencies = Pick<MailDependencies, 'requests' | 'collections' | 'membershipResolver' | 'deputies' | 'nowMs'>

/** A request as it is now, and what its letters need. */
type Case = {
  readonly event: StoredEvent
  readonly request: MembershipRequest
  readonly collection: Collection
  readonly sources: ApproverSources
}

/**
 * What people are told of an event of a membership request. The request as it is now decides, and who may see it now: of
 * one that was decided meanwhile, approvers are told nothing. With the next evaluation, a live request of a deleted
 * identity ends, or moves to the identity that the deleted one was merged into. Letters wait for that: the identity can
 * also be restored before.
 */
export async function requestLetters(
  event: StoredEvent,
  { tenantId, orgChart }: LetterContext,
  deps: Dependencies,
): Promise<Letters> {
  const { requestId, collectionId } = event.data
  const request = (await deps.requests.find(tenantId, String(requestId)))?.value
  const collection = (await deps.collections.find(tenantId, String(collectionId), 'joinable'))?.value
  if (request === undefined || collection === undefined) return []
  const found: Case = { event, request, collection, sources: approverSources(await orgChart(), deps) }
  if (isLive(request) && !found.sources.orgChart.has('identity', request.requesterId)) return 'later'
  switch (event.type) {
    case 'request.waiting':
    case 'request.reminder':
      return approverLetters(found, deps)
    case 'request.ending':
      return endingLetters(found)
    default:
      return decisionLetters(found)
  }
}

async function approverLetters(
  { event, request, collection, sources }: Case,
  { deputies }: Pick<MailDependencies, 'deputies'>,
): Promise<Letter[]> {
  const { orgChart, nowMs } = sources
  const { tenantId, requesterId } = request
  const waitsAtMs = waitingSinceMs(request)
  const gate = gateOf(request, policyOf(collection))
  const isOver =
    event.type === 'request.waiting' ? Date.parse(event.time) !== waitsAtMs : Date.parse(event.time) < waitsAtMs
  if (waitingPart(request) === undefined || gate === undefined || isOver) return []
  const approvers = await approversAt(gate, request, sources)
  const represented = new Map<string, string>()
  for (const { value } of await deputies.all(tenantId)) {
    const { identityId, deputyId, fromMs, untilMs } = value
    const isNow = fromMs <= nowMs && nowMs < untilMs
    const mayDecide = deputyId !== requesterId && approvers.has(identityId) && orgChart.has('identity', deputyId)
    if (isNow && mayDecide && !approvers.has(deputyId)) represented.set(deputyId, identityId)
  }
  const item = (onBehalfOf: string | null): MailItem => ({
    kind: event.type === 'request.waiting' ? 'RequestWaiting' : 'RequestReminder',
    collectionName: collection.name,
    requesterName: nameOf(requesterId, sources),
    isExtension: request.status === 'Joined',
    onBehalfOf,
    path: `/inbox/${collection.id}/${request.id}`,
  })
  return [
    ...[...approvers].map((identityId) => toPerson(identityId, item(null))),
    ...[...represented].map(([identityId, id]) => toPerson(identityId, item(nameOf(id, sources)))),
  ].sort(byRecipient)
}

/** The view with a person's own requests and memberships. */
const OWN_PATH = '/me'

function endingLetters({ event, request, collection, sources }: Case): Letter[] {
  const { status, endsAt, endingTold, extension } = request
  if (status !== 'Joined' || endsAt === undefined || endsAt !== endingTold?.endsAt) return []
  // Of an earlier end, which was put off: the present end has its own event.
  if (event.time !== endingTold.at) return []
  const endsAtMs = Date.parse(endsAt)
  if (endsAtMs <= sources.nowMs) return []
  const staysUntilMs = extension === undefined ? null : (dueAtMs(request) ?? null)
  const about = { collectionName: collection.name, path: OWN_PATH }
  return toRequester(request, { kind: 'MembershipEnding', ...about, endsAtMs, staysUntilMs }, sources)
}

const STATUSES: Readonly<Record<string, RequestStatus>> = {
  'request.joined': 'Joined',
  'request.rejected': 'Rejected',
  'request.cancelled': 'Cancelled',
}

/** The statuses that a decision follows. A membership that comes back follows its end. */
const UNDECIDED: readonly (RequestStatus | undefined)[] = ['Requested', 'PendingApproval', 'Approved']

const REASONS: Readonly<Record<string, CancellationReason>> = {
  [SYSTEM_NOTES.orphaned]: 'Deleted',
  [SYSTEM_NOTES.handedOver]: 'HandedOver',
}

/** Told to the requester, unless it was their own act. */
function decisionLetters({ event, request, collection, sources }: Case): Letter[] {
  const { lifecycle, requesterId } = request
  const index = lifecycle.findLastIndex(({ status, at }) => status === STATUSES[event.type] && at === event.time)
  const entry = lifecycle[index]
  if (entry === undefined || !UNDECIDED.includes(lifecycle[index - 1]?.status)) return []
  if (entry.actorId === requesterId || event.data.actorId === requesterId) return []
  const isExtension = lifecycle.slice(0, index).some(({ status }) => status === 'Joined')
  const endsAtMs = request.endsAt === undefined ? null : Date.parse(request.endsAt)
  const isOver = isExtension && endsAtMs !== null && endsAtMs <= Date.parse(entry.at)
  const about = { collectionName: collection.name, path: OWN_PATH, isExtension }
  switch (entry.status) {
    case 'Joined':
      if (request.status !== 'Joined') return []
      return toRequester(request, { kind: 'RequestGranted', ...about, endsAtMs }, sources)
    case 'Rejected':
      return toRequester(request, { kind: 'RequestRejected', ...about, isOver }, sources)
    default:
      // A submitter or an administrator who cancels it says why themselves.
      // Of two requests that are of one person since a merge, the other one goes on. A membership whose extension a merge
      // cancels lasts at least as long as the extension asked for.
      if (entry.actorId !== SYSTEM_ACTOR || entry.notes === SYSTEM_NOTES.merged) return []
      return toRequester(request, { kind: 'RequestCancelled', ...about, isOver, reason: reasonOf(entry) }, sources)
  }
}

function reasonOf({ notes = '' }: LifecycleEntry): CancellationReason {
  return REASONS[notes] ?? 'NotDecided'
}

function toRequester({ requesterId }: MembershipRequest, item: MailItem, { orgChart }: ApproverSources): Letter[] {
  return orgChart.has('identity', requesterId) ? [toPerson(requesterId, item)] : []
}

function toPerson(identityId: string, item: MailItem): Letter {
  return { to: { kind: 'person', identityId }, item }
}

function nameOf(identityId: string, { orgChart }: ApproverSources): string {
  return orgChart.rows.textOf('identity', 'displayName', identityId) ?? identityId
}

function byRecipient({ to: left }: Letter, { to: right }: Letter): number {
  const key = (to: Letter['to']) => (to.kind === 'person' ? to.identityId : to.address)
  return key(left) < key(right) ? -1 : 1
}
