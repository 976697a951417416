import { DAY_MS, toTimestamp } from '../../kernel/timestamp.ts'
import { waitingPart } from './extension.ts'
import type { ApprovalGate } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'

/** The end of a membership is told of so long before. */
const TOLD_BEFORE_MS = 7 * DAY_MS

type Reminded = Pick<MembershipRequest, 'status' | 'endsAt' | 'endingTold' | 'extension' | 'currentGate' | 'reminder'>

/**
 * When the service next tells of a request: that its membership ends within seven days, or that it still waits at its
 * gate. In milliseconds; undefined when it never does.
 */
export function tellingDueMs(request: Reminded): number | undefined {
  const due = [endingDueMs(request), isWaiting(request) ? request.reminder?.dueAtMs : undefined]
  const found = due.filter((dueMs) => dueMs !== undefined)
  return found.length === 0 ? undefined : Math.min(...found)
}

function endingDueMs({ status, endsAt, endingTold }: Reminded): number | undefined {
  if (status !== 'Joined' || endsAt === undefined || endingTold?.endsAt === endsAt) return undefined
  return Date.parse(endsAt) - TOLD_BEFORE_MS
}

function isWaiting({ status, extension }: Reminded): boolean {
  return status === 'PendingApproval' || (status === 'Joined' && extension !== undefined)
}

/** The request after everything is told that is due; undefined when nothing is. */
export function withTold(request: MembershipRequest, nowMs: number): MembershipRequest | undefined {
  const ended = withEndingTold(request, nowMs)
  const reminder = waitingPart(request) && request.reminder
  if (reminder === undefined || reminder.dueAtMs > nowMs) return ended === request ? undefined : ended
  return { ...ended, reminder: { ...reminder, lastAt: toTimestamp(nowMs), dueAtMs: nextDueMs(reminder, nowMs) } }
}

/** The request, with its end told if that is near. */
export function withEndingTold(request: MembershipRequest, nowMs: number): MembershipRequest {
  const { endsAt } = request
  const dueMs = endingDueMs(request)
  if (endsAt === undefined || dueMs === undefined || dueMs > nowMs) return request
  return { ...request, endingTold: { endsAt, at: toTimestamp(nowMs) } }
}

/** One reminder for all that a service that was down has missed. */
function nextDueMs({ dueAtMs, days }: NonNullable<MembershipRequest['reminder']>, nowMs: number): number {
  const periodMs = days * DAY_MS
  return dueAtMs + (Math.floor((nowMs - dueAtMs) / periodMs) + 1) * periodMs
}

/**
 * The request with the reminders of its gate.
 * @param sinceMs Since when it waits there.
 */
export function withReminder(
  request: MembershipRequest,
  { reminderDays: days }: Pick<ApprovalGate, 'reminderDays'>,
  sinceMs: number,
): MembershipRequest {
  const { reminder: _former, ...rest } = request
  return days === undefined ? rest : { ...rest, reminder: { days, dueAtMs: sinceMs + days * DAY_MS } }
}
