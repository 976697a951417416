import type { TokenCredential } from '@azure/identity'
import { ServiceBusClient, type ServiceBusSender } from '@azure/service-bus'
import type { Doorbells } from '../domain/doorbell.ts'
import type { QueueName } from './queues.ts'

/** Which namespace, and who asks it: whoever has its connection string, or whoever the credential stands for. */
export type BusSettings =
  | { readonly connectionString: string }
  | { readonly namespace: string; readonly credential: TokenCredential }

/** Sends doorbells to their queues. Connects when first used. */
export function messageSender(settings: BusSettings, nowMs: () => number): Doorbells {
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
      await senderOf(queue).sendMessages({
        body: message,
        messageId: id,
        contentType: 'application/json',
        ...(delayMs > 0 ? { scheduledEnqueueTimeUtc: new Date(nowMs() + delayMs) } : {}),
      })
    },
  }
}

function openBus(settings: BusSettings): ServiceBusClient {
  return 'connectionString' in settings
    ? new ServiceBusClient(settings.connectionString)
    : new ServiceBusClient(settings.namespace, settings.credential)
}
