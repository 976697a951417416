import type { TokenCredential } from '@azure/identity'
import type { RetryOptions, ServiceBusClient, ServiceBusSender } from '@azure/service-bus'
import type { Activities } from '../domain/activity.ts'
import type { Doorbells } from '../domain/doorbell.ts'
import { originProperties } from './origin-properties.ts'
import type { QueueName } from './queues.ts'
import { sessionProperties } from './session-properties.ts'

/** Which namespace, and who asks it: whoever has its connection string, or whoever the credential stands for. */
export type BusSettings =
  | { readonly connectionString: string }
  | { readonly namespace: string; readonly credential: TokenCredential }

/**
 * Sends doorbells to their queues, and with each what it comes from, and what its sender has seen of the database. Loads
 * its packages and connects when first used.
 */
export function messageSender(
  settings: BusSettings,
  activities: Activities,
  nowMs: () => number,
  sessionTokens: () => Readonly<Record<string, string>> = () => ({}),
): Doorbells {
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
    async ring({ queue, message }, { id, delayMs = 0, failureCount = 0 }) {
      const details = { queue, messageId: id, tenantId: message.tenantId }
      await activities.during({ name: `send ${queue}`, kind: 'send', details }, async () => {
        const sender = await senderOf(queue)
        await sender.sendMessages({
          body: message,
          messageId: id,
          contentType: 'application/json',
          applicationProperties: {
            ...originProperties(activities.origin()),
            ...sessionProperties(sessionTokens()),
            ...(failureCount > 0 ? { failures: failureCount } : {}),
          },
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
