import type { TokenCredential } from '@azure/identity'
import { ServiceBusClient, type ServiceBusSender } from '@azure/service-bus'
import type { Activities } from '../domain/activity.ts'
import type { Doorbells } from '../domain/doorbell.ts'
import { originProperties } from './origin-properties.ts'
import type { QueueName } from './queues.ts'

/** Which namespace, and who asks it: whoever has its connection string, or whoever the credential stands for. */
export type BusSettings =
  | { readonly connectionString: string }
  | { readonly namespace: string; readonly credential: TokenCredential }

/** Sends doorbells to their queues, and with each what it comes from. Connects when first used. */
export function messageSender(settings: BusSettings, activities: Activities, nowMs: () => number): Doorbells {
  let client: ServiceBusClient | undefined
  const senders = new Map<QueueName, ServiceBusSender>()
  const senderOf = (queue: QueueName): ServiceBusSender => {
    const known = senders.get(queue)
    if (known !== undefined) return known
    client ??= openBus(settings)
    const made = client.createSender(queue)
    senders.set(queue, made)
    return made
  }
  return {
    async ring({ queue, message }, { id, delayMs = 0 }) {
      const details = { queue, messageId: id, tenantId: message.tenantId }
      await activities.during({ name: `send ${queue}`, kind: 'send', details }, () =>
        senderOf(queue).sendMessages({
          body: message,
          messageId: id,
          contentType: 'application/json',
          applicationProperties: originProperties(activities.origin()),
          ...(delayMs > 0 ? { scheduledEnqueueTimeUtc: new Date(nowMs() + delayMs) } : {}),
        }),
      )
    },
  }
}

function openBus(settings: BusSettings): ServiceBusClient {
  return 'connectionString' in settings
    ? new ServiceBusClient(settings.connectionString)
    : new ServiceBusClient(settings.namespace, settings.credential)
}
