import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { StoredEvent } from './event-types.ts'

/** Seconds between an attempt and the next one. After the last one an event is given up. */
const RETRY_DELAYS_S = [5, 5 * 60, 30 * 60, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3600)] as const

/** A subscription is disabled after this time without a success, in which events always waited. */
const DISABLED_AFTER_MS = 5 * 24 * 60 * 60 * 1000

const GONE_STATUS = 410

const DeliveryState = OneOf(['Pending', 'Delivered', 'GivenUp', 'Dropped'])

const Attempt = Closed({
  at: Timestamp,
  status: Described(Nullable(Type.Integer()), 'The HTTP status of the answer; null without one.'),
  durationMs: Type.Integer(),
  error: Described(
    Nullable(OneOf(['Timeout', 'ConnectionFailed', 'TargetNotAllowed', 'ReceiverUnavailable'])),
    'Why there is no answer. `TargetNotAllowed`: the name has an address that is not public. `ReceiverUnavailable`: ' +
      'not sent, because the receiver did not answer other requests at the time.',
  ),
})
export type Attempt = Readonly<Static<typeof Attempt>>

/** A delivery as clients see it. */
export const EventDelivery = Closed({
  eventId: Guid,
  type: Type.String(),
  time: Timestamp,
  subject: Type.String(),
  state: Described(
    DeliveryState,
    '`GivenUp`: the tenth attempt failed. `Dropped`: more events waited than the service keeps.',
  ),
  attempts: Type.Array(Attempt),
})
export type EventDelivery = Static<typeof EventDelivery>

/** The delivery of one event to one subscription. */
export const StoredDelivery = Type.Object({
  event: StoredEvent,
  state: DeliveryState,
  attempts: Type.Unsafe<readonly Attempt[]>(Type.Array(Attempt)),
  /** When the next attempt is due. */
  dueAtMs: Type.Number(),
})
export type StoredDelivery = Readonly<Static<typeof StoredDelivery>>

export function newDelivery(event: StoredEvent): StoredDelivery {
  return { event, state: 'Pending', attempts: [], dueAtMs: 0 }
}

export function isSuccess({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Whether the receiver asks for no further events. */
export function isGone({ status }: Attempt): boolean {
  return status === GONE_STATUS
}

/** The delivery after an attempt. */
export function afterAttempt({ event, attempts }: StoredDelivery, attempt: Attempt): StoredDelivery {
  const all = [...attempts, attempt]
  if (isSuccess(attempt)) return { event, attempts: all, state: 'Delivered', dueAtMs: 0 }
  const delayS = RETRY_DELAYS_S[all.length - 1]
  if (delayS === undefined) return { event, attempts: all, state: 'GivenUp', dueAtMs: 0 }
  return {
    event,
    attempts: all,
    state: 'Pending',
    dueAtMs: Date.parse(attempt.at) + attempt.durationMs + delayS * 1000,
  }
}

/** An attempt that is not made, because the receiver does not answer. */
export function unavailableAt(nowMs: number): Attempt {
  return { at: toTimestamp(nowMs), status: null, durationMs: 0, error: 'ReceiverUnavailable' }
}

/** When the earliest of the next attempts is due; undefined when there are none. */
export function nextDueMs(deliveries: readonly StoredDelivery[]): number | undefined {
  const due = deliveries.filter(({ state }) => state === 'Pending').map(({ dueAtMs }) => dueAtMs)
  return due.length === 0 ? undefined : Math.min(...due)
}

/**
 * The first failure of a subscription since its last success, or since no event waited, as far as it was enabled by then:
 * one that is enabled again has five days anew.
 */
export function failingSinceEnabled(failingSinceMs: number | undefined, enabledAtMs: number): number | undefined {
  return failingSinceMs !== undefined && failingSinceMs >= enabledAtMs ? failingSinceMs : undefined
}

/** Whether a subscription has failed for so long that it is disabled. @param failingSinceMs its first failure. */
export function hasFailedTooLong(failingSinceMs: number | undefined, nowMs: number): boolean {
  return failingSinceMs !== undefined && nowMs - failingSinceMs >= DISABLED_AFTER_MS
}

export function toEventDelivery({ event, state, attempts }: StoredDelivery): EventDelivery {
  const { id: eventId, type, time, subject } = event
  return { eventId, type, time, subject, state, attempts: [...attempts] }
}
