import { Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { instantIn, type TimeZone } from '../../kernel/time-zone.ts'
import { DAY_MS, TIMESTAMPS_END_MS, toTimestamp } from '../../kernel/timestamp.ts'
import type { JoinPolicy } from './join-policy.ts'
import type { MembershipRequest } from './membership-request.ts'

/** A date as callers send it: it means the midnight with which it begins. */
export const DateInput = Type.String({
  maxLength: 40,
  description:
    'A date, which means the midnight with which it begins in the time zone of the tenant, or a timestamp in ISO 8601 ' +
    'format, before the year 10000.',
})

/** Milliseconds of an end as sent. @throws Refusal `InvalidEnd` for what is not a time in the future that has a timestamp. */
export function futureEndMs(text: string, zone: TimeZone, nowMs: number, target = '/endsAt'): number {
  const endMs = instantIn(zone, text)
  if (endMs === undefined || endMs <= nowMs || endMs >= TIMESTAMPS_END_MS) {
    throw new Refusal('InvalidEnd', `${text} is not a date or timestamp in the future, before the year 10000`, target)
  }
  return endMs
}

/** The last time at which a membership that is granted now can end; undefined without a limit. */
function latestEndMs({ maxDays }: Pick<JoinPolicy, 'maxDays'>, nowMs: number): number | undefined {
  return maxDays === undefined ? undefined : nowMs + maxDays * DAY_MS
}

/**
 * The end as sent, as a timestamp; undefined when none was sent.
 * @throws Refusal `EndTooLate` for one that is later than the policy allows for a membership that is granted now.
 */
export function allowedEnd(endMs: number | undefined, policy: JoinPolicy, nowMs: number): string | undefined {
  if (endMs === undefined) return undefined
  const latestMs = latestEndMs(policy, nowMs)
  if (latestMs !== undefined && endMs > latestMs) {
    const message = `The join policy allows ${policy.maxDays} days: until ${toTimestamp(latestMs)} at the latest`
    throw new Refusal('EndTooLate', message, '/endsAt')
  }
  return toTimestamp(endMs)
}

/**
 * The end of a membership that is granted: the one that was asked for, or the last one that the policy allows. One that
 * has passed since the call began stays: the membership is due at once.
 * @param limitFromMs The time from which the days of the policy count.
 */
export function grantedEnd(
  requestedEnd: string | undefined,
  policy: Pick<JoinPolicy, 'maxDays'>,
  limitFromMs: number,
): string | undefined {
  const latestMs = latestEndMs(policy, limitFromMs) ?? Number.POSITIVE_INFINITY
  const askedMs = requestedEnd === undefined ? Number.POSITIVE_INFINITY : Date.parse(requestedEnd)
  const endMs = Math.min(askedMs, latestMs)
  return Number.isFinite(endMs) ? toTimestamp(endMs) : undefined
}

/** A membership whose extension waits at its end stays so much longer. */
const EXTENSION_WAITS_MS = 14 * DAY_MS

type Ending = Pick<MembershipRequest, 'status' | 'endsAt' | 'deadlineMs' | 'extension'>

/** When the service ends the request by itself, in milliseconds; undefined when it never does. */
export function dueAtMs({ status, endsAt, deadlineMs, extension }: Ending): number | undefined {
  const endMs = endsAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(endsAt)
  const dueMs = { Joined: membershipDueMs(endMs, extension), PendingApproval: Math.min(endMs, deadlineMs ?? endMs) }
  const found = status === 'Joined' || status === 'PendingApproval' ? dueMs[status] : Number.POSITIVE_INFINITY
  return Number.isFinite(found) ? found : undefined
}

/** The end that an extension asks for can come before the extension is decided: it would then have no effect. */
function membershipDueMs(endMs: number, extension: Ending['extension']): number {
  if (extension === undefined) return endMs
  return Math.max(endMs, Math.min(endMs + EXTENSION_WAITS_MS, Date.parse(extension.endsAt)))
}

/** The later of two ends of memberships; undefined, no end, is the latest. */
export function laterEnd(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return undefined
  return Date.parse(right) > Date.parse(left) ? right : left
}

/** Of several requests the one with the latest end; of equal ones, the one that was created first. */
export function lastToEnd(requests: readonly MembershipRequest[]): MembershipRequest | undefined {
  const key = ({ createdAt, id }: MembershipRequest) => `${createdAt} ${id}`
  const oldestFirst = requests.toSorted((left, right) => (key(left) < key(right) ? -1 : 1))
  return oldestFirst.reduce<MembershipRequest | undefined>((last, request) => {
    return last === undefined || laterEnd(last.endsAt, request.endsAt) !== last.endsAt ? request : last
  }, undefined)
}

/** Whether the service ends the request now. */
export function isOverdue(request: Ending, nowMs: number): boolean {
  const dueMs = dueAtMs(request)
  return dueMs !== undefined && dueMs <= nowMs
}

/** The time until which a waiting request must be decided, in milliseconds; undefined without a limit. */
export function deadlineOf(
  { createdAt }: Pick<MembershipRequest, 'createdAt'>,
  { requestDays }: Pick<JoinPolicy, 'requestDays'>,
): number | undefined {
  return requestDays === undefined ? undefined : Date.parse(createdAt) + requestDays * DAY_MS
}
