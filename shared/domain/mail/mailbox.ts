import { type Static, Type } from 'typebox'
import { localDate, nextLocalHourMs } from '../../kernel/local-day.ts'
import { OneOf } from '../../kernel/schema.ts'
import { StoredEvent } from '../events/event-types.ts'

/** Mails that one recipient gets within a day, before the rest becomes one digest. */
const MAILS_PER_DAY_COUNT = 50
const DIGEST_HOUR = 7
/** Reported events that a mailbox remembers: many more than are delivered again. */
const TOLD_COUNT = 300
/** Of more events that wait for a digest, the oldest are left out. The digest says how many. */
const WAITING_COUNT = 300

export const MailFrequency = OneOf(['Immediately', 'Daily', 'None'])
export type MailFrequency = Static<typeof MailFrequency>

/** What is known of a recipient of mails: how often they want any, and what they were told. */
export const Mailbox = Type.Object({
  /** An identity id, or a key of an operator's address. */
  key: Type.String(),
  mail: MailFrequency,
  /** The date of the last mail, in the tenant's time zone. Empty before the first. */
  day: Type.String(),
  /** Mails of that day. */
  sentCount: Type.Integer(),
  toldIds: Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
  /** Events for the next digest. */
  waiting: Type.Unsafe<readonly StoredEvent[]>(Type.Array(StoredEvent)),
  /** When the next digest is due; absent without one. */
  digestAtMs: Type.Optional(Type.Number()),
  /** Events that were left out of the next digest; absent without any. */
  omittedCount: Type.Optional(Type.Integer()),
})
export type Mailbox = Readonly<Static<typeof Mailbox>>

export function newMailbox(key: string): Mailbox {
  return { key, mail: 'Immediately', day: '', sentCount: 0, toldIds: [], waiting: [] }
}

/** Whether the recipient is told of an event at once, with the next digest, or not: also where they know it already. */
export function deliveryOf(
  mailbox: Mailbox,
  eventId: string,
  nowMs: number,
  timeZone: string,
): 'now' | 'later' | 'none' {
  const { mail, day, sentCount, toldIds, waiting } = mailbox
  if (mail === 'None' || toldIds.includes(eventId) || waiting.some(({ id }) => id === eventId)) return 'none'
  const isFull = day === localDate(nowMs, timeZone) && sentCount >= MAILS_PER_DAY_COUNT
  return mail === 'Daily' || isFull ? 'later' : 'now'
}

/** The mailbox after a mail that told these events. They wait for no digest any more: if they did, the mail was one. */
export function afterMail(mailbox: Mailbox, eventIds: readonly string[], nowMs: number, timeZone: string): Mailbox {
  const day = localDate(nowMs, timeZone)
  const remaining = withoutWaiting(mailbox, eventIds, nowMs, timeZone)
  const isDigest = remaining.waiting.length < mailbox.waiting.length
  const counted = isDigest ? withoutOmitted(remaining) : remaining
  return { ...counted, day, sentCount: (day === mailbox.day ? mailbox.sentCount : 0) + 1 }
}

/**
 * The mailbox without these events in its digest, as after a mail that need not be sent. A digest without them
 * stays due when it was. The next mail that is sent says how many events were left out.
 */
export function withoutWaiting(
  mailbox: Mailbox,
  eventIds: readonly string[],
  nowMs: number,
  timeZone: string,
): Mailbox {
  const { digestAtMs: dueMs, ...rest } = mailbox.mail === 'None' ? withoutOmitted(mailbox) : mailbox
  const waiting = mailbox.waiting.filter(({ id }) => !eventIds.includes(id))
  const toldIds = [...new Set([...mailbox.toldIds, ...eventIds])].slice(-TOLD_COUNT)
  if (waiting.length === 0) return { ...rest, toldIds, waiting }
  const isUntouched = waiting.length === mailbox.waiting.length && dueMs !== undefined
  return { ...rest, toldIds, waiting, digestAtMs: isUntouched ? dueMs : nextDigestMs(nowMs, timeZone) }
}

/** The mailbox with one more event in its next digest. */
export function withWaiting(mailbox: Mailbox, event: StoredEvent, nowMs: number, timeZone: string): Mailbox {
  const all = [...mailbox.waiting, event]
  const waiting = all.slice(-WAITING_COUNT)
  const omittedCount = (mailbox.omittedCount ?? 0) + all.length - waiting.length
  const changed = { ...mailbox, waiting, digestAtMs: mailbox.digestAtMs ?? nextDigestMs(nowMs, timeZone) }
  return omittedCount === 0 ? changed : { ...changed, omittedCount }
}

function withoutOmitted({ omittedCount: _omittedCount, ...mailbox }: Mailbox): Mailbox {
  return mailbox
}

function nextDigestMs(nowMs: number, timeZone: string): number {
  return nextLocalHourMs(nowMs, DIGEST_HOUR, timeZone)
}
