import { withApplicationProperties } from './message-codec.ts'

/** What a queue does with its messages. Infinity stands for "never" and "no limit". */
export type QueueSettings = {
  readonly name: string
  readonly lockDurationMs: number
  /** Infinity: deliveries are not counted, as in a dead-letter queue. */
  readonly maxDeliveryCount: number
  /** The longest a message waits, whatever it asks for itself. */
  readonly timeToLiveMs: number
  readonly deadLettersExpired: boolean
  /** A message id seen within this window is dropped; 0 turns that off. */
  readonly duplicateWindowMs: number
}

export type MessageState = 'active' | 'scheduled' | 'deferred'

/** A message as it arrives. */
export type Draft = {
  /** The encoded AMQP message, as its sender wrote it. */
  readonly bytes: Buffer
  readonly messageId: string
  readonly timeToLiveMs: number
  /** Not to be delivered before; undefined means at once. */
  readonly dueAtMs: number | undefined
}

/** A message in a queue. Only its queue changes it. */
export type QueuedMessage = {
  sequenceNumber: number
  /** The number it was first given; a scheduled or dead-lettered message gets another one later. */
  enqueuedSequenceNumber: number
  bytes: Buffer
  messageId: string
  state: MessageState
  enqueuedAtMs: number
  dueAtMs: number
  timeToLiveMs: number
  /** Deliveries that ended without settlement: 0 on the first delivery. */
  deliveryCount: number
  lock: { readonly token: string; untilMs: number } | undefined
}

/** Notes what must outlive the process. */
export interface Journal {
  added(queue: string, message: QueuedMessage): void
  /** Anything but its number may have changed; it is not held. */
  changed(queue: string, message: QueuedMessage): void
  /** A receiver has it: were the process to end now, that would count as a delivery. */
  held(queue: string, sequenceNumber: number): void
  removed(queue: string, sequenceNumber: number): void
}

/** What a queue had when the broker last ran. */
export type KeptQueue = {
  readonly messages: readonly QueuedMessage[]
  /** Numbers of the messages that a receiver had. */
  readonly held: ReadonlySet<number>
  readonly lastSequenceNumber: number
}

/** Values to merge into a message's application properties; empty for none. */
export type Properties = Readonly<Record<string, unknown>>

/** How many messages are in which state; `locked` ones are not counted as `active`. */
export type QueueCounts = { active: number; scheduled: number; locked: number; deferred: number }

/** What a receiver decides about a message it has locked. */
export type Settlement = {
  readonly outcome: 'complete' | 'abandon' | 'defer' | 'dead-letter'
  readonly properties: Properties
}

/** When something happens to a message by itself; a deferred one waits for ever, as in the cloud. */
export function wakesAtMs(message: QueuedMessage): number {
  if (message.lock !== undefined) return message.lock.untilMs
  if (message.state === 'scheduled') return message.dueAtMs
  return message.state === 'active' ? message.enqueuedAtMs + message.timeToLiveMs : Number.POSITIVE_INFINITY
}

/** A message as it enters its queue; one that is due already is not scheduled. */
export function newMessage(draft: Draft, sequenceNumber: number, longestMs: number, nowMs: number): QueuedMessage {
  const { bytes, messageId, dueAtMs = nowMs } = draft
  return {
    sequenceNumber,
    enqueuedSequenceNumber: sequenceNumber,
    bytes,
    messageId,
    state: dueAtMs > nowMs ? 'scheduled' : 'active',
    enqueuedAtMs: nowMs,
    dueAtMs,
    timeToLiveMs: Math.min(draft.timeToLiveMs, longestMs),
    deliveryCount: 0,
    lock: undefined,
  }
}

/** The message itself, with these among its application properties. */
export function merged(message: QueuedMessage, properties: Properties): QueuedMessage {
  if (Object.keys(properties).length > 0) message.bytes = withApplicationProperties(message.bytes, properties)
  return message
}

/** Why a message is among the dead letters, in the words of the real broker. */
export const LIVED_TOO_LONG = deadLettered('TTLExpiredException', 'The message lived longer than its time to live.')

/** The same, after as many deliveries as its queue allows. */
export const deliveredTooOften = ({ deliveryCount }: QueuedMessage): Properties =>
  deadLettered('MaxDeliveryCountExceeded', `Delivered ${deliveryCount} times.`)

function deadLettered(reason: string, description: string): Properties {
  return { DeadLetterReason: reason, DeadLetterErrorDescription: description }
}
