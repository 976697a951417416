import type {
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
} from '@azure/service-bus'
import type { QueueName } from '../../shared/messaging/queues.ts'

/** A message that no delivery could settle. */
export type DeadLetter = {
  readonly queue: QueueName
  readonly messageId: string
  /** Its place in the dead-letter queue, for good. */
  readonly sequenceNumber: string
  /** ISO 8601, in UTC. */
  readonly enqueuedAt: string
  readonly reason: string
  readonly description: string | undefined
  readonly deliveryCount: number
}

/** Messages asked for at a time. */
const PAGE_COUNT = 100

/** Milliseconds without a message after which the rest is taken to be in other hands. */
const PATIENCE_MS = 5_000

/**
 * Every dead letter of a queue that this client has not yet seen, oldest first: the client looks on from where it looked
 * last. They stay where they are, and nobody else is kept from them.
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
 * Sends these letters to their queue again, then takes each out of the dead letters: cut off in between, a message is
 * there twice, which changes nothing but the delay. The rest goes back to where it was.
 * @returns how many were sent; fewer than given when somebody else holds or has taken some
 */
export async function replayDeadLetters(
  client: ServiceBusClient,
  queue: QueueName,
  letters: readonly DeadLetter[],
): Promise<number> {
  const receiver = client.createReceiver(queue, { subQueueType: 'deadLetter', skipParsingBodyAsJson: true })
  const sender = client.createSender(queue)
  const wanted = new Set(letters.map(({ sequenceNumber }) => sequenceNumber))
  // Until the end, also those that are not wanted: given back at once, they would be received again and again.
  const held = new Set<ServiceBusReceivedMessage>()
  try {
    while (wanted.size > 0) {
      const atMostCount = Math.min(PAGE_COUNT, wanted.size)
      const messages = await receiver.receiveMessages(atMostCount, { maxWaitTimeInMs: PATIENCE_MS })
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
    await giveBack(receiver, held)
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

/** What the queue has put among the properties of a dead letter, and what is not the message's own. */
/** A message that is sent again begins anew: it has not failed yet. */
const PROPERTIES_OF_DEATH = ['DeadLetterReason', 'DeadLetterErrorDescription', 'failures']

/**
 * The same again. Its id tells which dead letter it stands for: duplicate detection does not take it for the message
 * that died, but does find it when the same letter is sent twice.
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
      Object.entries(applicationProperties).filter(([name]) => !PROPERTIES_OF_DEATH.includes(name)),
    ),
  }
}

/** A lock that is lost meanwhile has given the message back already. */
async function giveBack(receiver: ServiceBusReceiver, messages: Iterable<ServiceBusReceivedMessage>): Promise<void> {
  await Promise.allSettled(Array.from(messages, (message) => receiver.abandonMessage(message)))
}
