import type {
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
} from '@azure/service-bus'
import type { QueueName } from '../../shared/messaging/queues.ts'

export type DeadLetter = {
  readonly queue: QueueName
  readonly messageId: string
  /** Sequence number in the dead-letter queue. */
  readonly sequenceNumber: string
  /** ISO 8601, in UTC. */
  readonly enqueuedAt: string
  readonly reason: string
  readonly description: string | undefined
  readonly deliveryCount: number
}

const PAGE_COUNT = 100

/** Maximum wait for the next message. Other clients hold the remaining messages. */
const MAX_WAIT_MS = 5_000

/**
 * Peeks all dead letters of a queue, oldest first, without locking them. A client continues after the last message that
 * it peeked.
 */
export async function deadLettersOf(client: ServiceBusClient, queue: QueueName): Promise<DeadLetter[]> {
  const receiver = client.createReceiver(queue, { subQueueType: 'deadLetter', skipParsingBodyAsJson: true })
  const found: DeadLetter[] = []
  try {
    for (let page = await receiver.peekMessages(PAGE_COUNT); page.length > 0; ) {
      found.push(...page.map((message) => deadLetter(queue, message)))
      const next = page.at(-1)?.sequenceNumber?.add(1)
      if (next === undefined) break
      page = await receiver.peekMessages(PAGE_COUNT, { fromSequenceNumber: next })
    }
  } finally {
    await receiver.close()
  }
  return found
}

/**
 * Sends each dead letter to its queue as a new message, then completes the dead letter. If interrupted between the two
 * steps, the message is duplicated, which is harmless. Abandons other received dead letters.
 * @returns the number of replayed messages; smaller than given if another client holds or has completed some
 */
export async function replayDeadLetters(
  client: ServiceBusClient,
  queue: QueueName,
  letters: readonly DeadLetter[],
): Promise<number> {
  const receiver = client.createReceiver(queue, { subQueueType: 'deadLetter', skipParsingBodyAsJson: true })
  const sender = client.createSender(queue)
  const wanted = new Set(letters.map(({ sequenceNumber }) => sequenceNumber))
  // Includes unwanted messages until the end: if abandoned at once, they would be received repeatedly.
  const held = new Set<ServiceBusReceivedMessage>()
  try {
    while (wanted.size > 0) {
      const atMostCount = Math.min(PAGE_COUNT, wanted.size)
      const messages = await receiver.receiveMessages(atMostCount, { maxWaitTimeInMs: MAX_WAIT_MS })
      if (messages.length === 0) break
      for (const message of messages) held.add(message)
      for (const message of messages.filter(({ sequenceNumber }) => wanted.has(String(sequenceNumber)))) {
        await sender.sendMessages(replayed(message))
        await receiver.completeMessage(message)
        held.delete(message)
        wanted.delete(String(message.sequenceNumber))
      }
    }
  } finally {
    await abandonAll(receiver, held)
    await Promise.all([receiver.close(), sender.close()])
  }
  return letters.length - wanted.size
}

function deadLetter(queue: QueueName, message: ServiceBusReceivedMessage): DeadLetter {
  return {
    queue,
    messageId: String(message.messageId ?? ''),
    sequenceNumber: String(message.sequenceNumber),
    enqueuedAt: message.enqueuedTimeUtc?.toISOString() ?? '',
    reason: message.deadLetterReason ?? 'no reason given',
    description: message.deadLetterErrorDescription,
    deliveryCount: message.deliveryCount ?? 0,
  }
}

/**
 * Properties that Service Bus adds to a dead letter, and the service's own count of failures: a replay starts at zero.
 */
const DEAD_LETTER_PROPERTIES = ['DeadLetterReason', 'DeadLetterErrorDescription', 'failures']

/**
 * A copy of the message. Its ID contains the sequence number of the dead letter, so that duplicate detection accepts
 * the replay of a message but drops a second replay of the same dead letter.
 */
function replayed(message: ServiceBusReceivedMessage): ServiceBusMessage {
  const { body, contentType, correlationId, subject, applicationProperties = {}, messageId, sequenceNumber } = message
  const firstId = String(messageId ?? '').replace(/:replayed:\d+$/, '')
  return {
    body,
    messageId: `${firstId}:replayed:${sequenceNumber}`,
    ...(contentType === undefined ? {} : { contentType }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(subject === undefined ? {} : { subject }),
    applicationProperties: Object.fromEntries(
      Object.entries(applicationProperties).filter(([name]) => !DEAD_LETTER_PROPERTIES.includes(name)),
    ),
  }
}

/** Ignores errors: if a lock expires, Service Bus releases the message itself. */
async function abandonAll(receiver: ServiceBusReceiver, messages: Iterable<ServiceBusReceivedMessage>): Promise<void> {
  await Promise.allSettled(Array.from(messages, (message) => receiver.abandonMessage(message)))
}
