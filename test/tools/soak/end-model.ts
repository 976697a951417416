/** When memberships and waiting requests end by themselves. Independent of the service: it shares no code with it. */
import type { ModelPolicy, ModelRequest, ModelStatus } from './request-model.ts'
import type { Span } from './times.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** An end that is past has had its effect after this time. */
const ENDED_WITHIN_MS = 60_000
/** The message for an end that is more than a day ahead comes from a look that can be late by this time. */
const LOOK_LATE_MS = 3 * 60 * 60 * 1000

/** The request is granted: the membership ends when it was asked to, or after the days of the policy. */
export function grantMembership(request: ModelRequest, { maxDays }: ModelPolicy, granted: Span): void {
  if (request.askedEndMs !== undefined) request.end = exactly(request.askedEndMs)
  else request.end = maxDays === undefined ? undefined : after(granted, maxDays)
}

/** @param now The time at a quiet point. */
export function applyEnd(request: ModelRequest, policy: ModelPolicy, now: Span): void {
  const due = dueOf(request, policy)
  const isFar = due !== undefined && due.latestMs - request.created.earliestMs > DAY_MS
  const endedWithinMs = isFar ? LOOK_LATE_MS : ENDED_WITHIN_MS
  const isPast = due !== undefined && due.latestMs + endedWithinMs < now.earliestMs
  const isUncertain = request.isEndUncertain || request.extension === 'unknown'
  if (!isUncertain && !mayHaveEnded(request, policy, now)) return
  const others = [...request.alternatives, ...request.unnoticed]
  const isCertain = isPast && !isUncertain && others.length === 0
  if (isCertain) request.status = ENDED_FROM[request.status] ?? request.status
  else noteThatMayHaveEnded(request)
}

/** Whether the end of a request, or its deadline, may be past. */
export function mayHaveEnded(request: ModelRequest, policy: ModelPolicy, now: Span): boolean {
  const due = dueOf(request, policy)
  return due !== undefined && due.earliestMs <= now.latestMs
}

/** The service may find that a request has ended before anything else happens to it. */
export function noteThatMayHaveEnded(request: ModelRequest): void {
  const possible = [request.status, ...request.alternatives, ...request.unnoticed]
  request.alternatives.push(...possible.flatMap((status) => ENDED_FROM[status] ?? []))
}

/** A membership whose end is past does not come back with its person. @param now The time at a quiet point. */
export function forgetPastEnd(request: ModelRequest, now: Span): void {
  if (request.end !== undefined && request.end.latestMs < now.earliestMs) request.endedByDeletion = false
}

/** A membership whose extension waits at its end stays for so long, or until the end that is asked for. */
const EXTENSION_WAITS_DAYS = 14

const ENDED_FROM: Readonly<Partial<Record<ModelStatus, ModelStatus>>> = {
  Joined: 'Left',
  PendingApproval: 'Cancelled',
}

function dueOf(
  { status, end, extension, askedEndMs, created }: ModelRequest,
  { requestDays }: ModelPolicy,
): Span | undefined {
  if (status !== 'PendingApproval') {
    if (end === undefined || typeof extension !== 'object') return end
    return latest(end, earliest(after(end, EXTENSION_WAITS_DAYS), exactly(extension.endMs)))
  }
  const asked = askedEndMs === undefined ? [] : [exactly(askedEndMs)]
  const deadline = requestDays === undefined ? [] : [after(created, requestDays)]
  return [...asked, ...deadline].sort((one, other) => one.earliestMs - other.earliestMs)[0]
}

/** Whether a membership that is found has an end as it must be. What was not known is known afterwards. */
export function hasRightEnd(request: ModelRequest, endsAt: string | null): boolean {
  const { status, askedEndMs, end } = request
  const isEndUncertain = request.isEndUncertain || request.extension === 'unknown'
  request.isEndUncertain = false
  const found = endsAt === null ? undefined : exactly(Date.parse(endsAt))
  const asked = askedEndMs === undefined ? undefined : exactly(askedEndMs)
  if (status === 'PendingApproval') return isWithin(asked, found)
  // A membership that its person's deletion has ended comes back with this end.
  if (status === 'Joined' || isEndUncertain) request.end = found
  if (status !== 'Joined') return true
  return isEndUncertain || isWithin(end, found)
}

function isWithin(expected: Span | undefined, found: Span | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found
  return found.earliestMs >= expected.earliestMs && found.latestMs <= expected.latestMs
}

/** The end that a membership gets that is extended now; undefined when the present one is as late. */
export function laterEnd(
  { end }: ModelRequest,
  { maxDays }: ModelPolicy,
  now: Span,
  shortMs: number,
): number | undefined {
  const askedMs = maxDays === undefined ? now.latestMs + shortMs : now.earliestMs + maxDays * DAY_MS - ENDED_WITHIN_MS
  return end === undefined || end.latestMs >= askedMs ? undefined : askedMs
}

export const exactly = (atMs: number): Span => ({ earliestMs: atMs, latestMs: atMs })

/** The earlier one of two times. */
export const earliest = (one: Span, other: Span): Span => ({
  earliestMs: Math.min(one.earliestMs, other.earliestMs),
  latestMs: Math.min(one.latestMs, other.latestMs),
})

/** The later one of two times. */
export const latest = (one: Span, other: Span): Span => ({
  earliestMs: Math.max(one.earliestMs, other.earliestMs),
  latestMs: Math.max(one.latestMs, other.latestMs),
})

export function after({ earliestMs, latestMs }: Span, days: number): Span {
  return { earliestMs: earliestMs + days * DAY_MS, latestMs: latestMs + days * DAY_MS }
}
