import { withApplicationProperties } from './message-codec.ts'

/** Properties of a queue. Infinity means never, or no limit. */
export type QueueSettings = {
  readonly name: string
  readonly lockDurationMs: number
  /** Infinity: deliveries are not counted, like in a dead-letter queue. */
  readonly maxDeliveryCount: number
  /** Maximum lifetime of a message, regardless of its own time to live. */
  readonly timeToLiveMs: number
  readonly deadLettersExpired: boolean
}

export type MessageState = 'active' | 'scheduled'

export type Draft = {
  /** The encoded AMQP message of the sender. */
  readonly bytes: Buffer
  readonly messageId: string
  readonly timeToLiveMs: number
  /** Scheduled enqueue time. Undefined: immediately. */
  readonly dueAtMs: number | undefined
}

/** A message in a queue. Only the queue changes it. */
export type QueuedMessage = {
  sequenceNumber: number
  /** Its first sequence number. A scheduled or dead-lettered message gets another one later. */
  enqueuedSequenceNumber: number
  bytes: Buffer
  messageId: string
  state: MessageState
  enqueuedAtMs: number
  dueAtMs: number
  timeToLiveMs: number
  /** Number of previous deliveries: 0 on the first delivery. */
  deliveryCount: number
  lock: { readonly token: string; untilMs: number } | undefined
}

/** Records changes that must survive a restart. */
export interface Journal {
  added(queue: string, message: QueuedMessage): void
  /** The message changed, except its number. It is not locked. */
  changed(queue: string, message: QueuedMessage): void
  /** The message is locked. A restart counts as a delivery. */
  held(queue: string, sequenceNumber: number): void
  removed(queue: string, sequenceNumber: number): void
}

/** Content of a queue at the last run of the broker. */
export type KeptQueue = {
  readonly messages: readonly QueuedMessage[]
  /** Numbers of the messages that were locked. */
  readonly held: ReadonlySet<number>
  readonly lastSequenceNumber: number
}

/** Values to merge into the application properties of a message. */
export type Properties = Readonly<Record<string, unknown>>

/** Number of messages by state. `active` excludes locked messages. */
export type QueueCounts = { active: number; scheduled: number; locked: number }

/** Settlement of a locked message. */
export type Settlement = {
  readonly outcome: 'complete' | 'abandon' | 'dead-letter'
  readonly properties: Properties
}

/** The instant of the next timed event of a message. */
export function wakesAtMs(message: QueuedMessage): number {
  if (message.lock !== undefined) return message.lock.untilMs
  return message.state === 'scheduled' ? message.dueAtMs : message.enqueuedAtMs + message.timeToLiveMs
}

/** Creates a queued message. A message that is already due is not scheduled. */
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

/** Returns the message with additional application properties. */
export function merged(message: QueuedMessage, properties: Properties): QueuedMessage {
  if (Object.keys(properties).length > 0) message.bytes = withApplicationProperties(message.bytes, properties)
  return message
}

/** Dead-letter reason of an expired message, with the texts of Service Bus. */
export const EXPIRED = deadLettered('TTLExpiredException', 'The message lived longer than its time to live.')

/** Dead-letter reason of a message that reached the maximum delivery count. */
export const deliveredTooOften = ({ deliveryCount }: QueuedMessage): Properties =>
  deadLettered('MaxDeliveryCountExceeded', `Delivered ${deliveryCount} times.`)

function deadLettered(reason: string, description: string): Properties {
  return { DeadLetterReason: reason, DeadLetterErrorDescription: description }
}
