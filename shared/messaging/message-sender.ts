import type { TokenCredential } from '@azure/identity'
import type { RetryOptions, ServiceBusClient, ServiceBusReceiver, ServiceBusSender } from '@azure/service-bus'
import { SpanKind } from '@opentelemetry/api'
import type { MessageQueue } from '../kernel/messages.ts'
import { inSpan, messageProperties } from '../kernel/tracing.ts'
import { QUEUES, type QueueName } from './queues.ts'

/** Which namespace, and who asks it: whoever has its connection string, or whoever the credential stands for. */
export type BusSettings =
  | { readonly connectionString: string }
  | { readonly namespace: string; readonly credential: TokenCredential }

/** Sends doorbells to their queues, and with each what it comes from. Loads its packages and connects when first used. */
export function messageSender(settings: BusSettings, nowMs: () => number): MessageQueue {
  let client: Promise<ServiceBusClient> | undefined
  const senders = new Map<QueueName, ServiceBusSender>()
  const senderOf = async (queue: QueueName): Promise<ServiceBusSender> => {
    client ??= openBus(settings)
    const opened = await client
    const known = senders.get(queue)
    if (known !== undefined) return known
    const made = opened.createSender(queue)
    senders.set(queue, made)
    return made
  }
  return {
    async enqueue({ queue, message }, { id, delayMs = 0 }) {
      const attributes = {
        'messaging.destination.name': queue,
        'messaging.message.id': id,
        'tenant.id': message.tenantId,
      }
      await inSpan(`send ${queue}`, { kind: SpanKind.PRODUCER, attributes }, async () => {
        const sender = await senderOf(queue)
        await sender.sendMessages({
          body: message,
          messageId: id,
          contentType: 'application/json',
          applicationProperties: messageProperties(),
          ...(delayMs > 0 ? { scheduledEnqueueTimeUtc: new Date(nowMs() + delayMs) } : {}),
        })
      })
    },
  }
}

/**
 * Half a minute in all, where the package's own defaults are thirty seconds between two tries and four minutes: requests
 * wait for their doorbells, and those that are lost are rung again by the sweep.
 */
const PATIENCE: RetryOptions = { maxRetries: 3, retryDelayInMs: 250, timeoutInMs: 5_000 }

/** A client of the namespace. Its package is loaded here. */
export async function openBus(settings: BusSettings): Promise<ServiceBusClient> {
  const bus = await import('@azure/service-bus')
  const options = { retryOptions: { ...PATIENCE, mode: bus.RetryMode.Exponential } }
  return 'connectionString' in settings
    ? new bus.ServiceBusClient(settings.connectionString, options)
    : new bus.ServiceBusClient(settings.namespace, settings.credential, options)
}

/**
 * A look at the first message of a queue, which stays where it is: it asks the queue itself, where an open link would
 * only tell that it once was there. Rejects when it is not answered.
 */
export function queueCheck(settings: BusSettings): (signal: AbortSignal) => Promise<void> {
  let receiver: Promise<ServiceBusReceiver> | undefined
  const open = async () => (await openBus(settings)).createReceiver(QUEUES[0].name)
  return async (signal) => {
    receiver ??= open()
    await (await receiver).peekMessages(1, { abortSignal: signal })
  }
}
