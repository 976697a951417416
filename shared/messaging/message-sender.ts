import type { TokenCredential } from '@azure/identity'
import type { RetryOptions, ServiceBusClient, ServiceBusReceiver, ServiceBusSender } from '@azure/service-bus'
import { SpanKind } from '@opentelemetry/api'
import type { MessageQueue } from '../kernel/messages.ts'
import { inSpan, messageProperties } from '../kernel/tracing.ts'
import { QUEUES, type QueueName } from './queues.ts'

/** The namespace, with a connection string or a credential. */
export type BusSettings =
  | { readonly connectionString: string }
  | { readonly namespace: string; readonly credential: TokenCredential }

/**
 * Sends messages to their queues, with the trace of the current invocation. Loads its package and connects on first use.
 */
export function messageSender(settings: BusSettings, nowMs: () => number): MessageQueue {
  let client: Promise<ServiceBusClient> | undefined
  const senders = new Map<QueueName, ServiceBusSender>()
  const senderOf = async (queue: QueueName): Promise<ServiceBusSender> => {
    client ??= openBus(settings)
    const opened = await client
    const known = senders.get(queue)
    if (known !== undefined) return known
    const sender = opened.createSender(queue)
    senders.set(queue, sender)
    return sender
  }
  return {
    async enqueue({ queue, message }, { id, delayMs = 0, failureCount = 0 }) {
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
          applicationProperties: {
            ...messageProperties(),
            ...(failureCount > 0 ? { failures: failureCount } : {}),
          },
          ...(delayMs > 0 ? { scheduledEnqueueTimeUtc: new Date(nowMs() + delayMs) } : {}),
        })
      })
    },
  }
}

/**
 * Less than half a minute in total, because requests wait for their messages. The defaults of the package allow four
 * minutes. The sweep enqueues what could not be sent.
 */
const RETRIES: RetryOptions = { maxRetries: 3, retryDelayInMs: 250, timeoutInMs: 5_000 }

/** A client of the namespace. Loads the package. */
export async function openBus(settings: BusSettings): Promise<ServiceBusClient> {
  const bus = await import('@azure/service-bus')
  const options = { retryOptions: { ...RETRIES, mode: bus.RetryMode.Exponential } }
  return 'connectionString' in settings
    ? new bus.ServiceBusClient(settings.connectionString, options)
    : new bus.ServiceBusClient(settings.namespace, settings.credential, options)
}

/**
 * Returns the readiness check of the queue: peeks at a message, without receiving it. An open link would only show that
 * the queue existed when it was opened.
 */
export function queueCheck(settings: BusSettings): (signal: AbortSignal) => Promise<void> {
  let receiver: Promise<ServiceBusReceiver> | undefined
  const open = async () => (await openBus(settings)).createReceiver(QUEUES[0].name)
  return async (signal) => {
    receiver ??= open()
    await (await receiver).peekMessages(1, { abortSignal: signal })
  }
}
