import type { ServiceBusClient, ServiceBusSender } from '@azure/service-bus'
import type { Doorbells } from '../domain/doorbell.ts'
import type { QueueName } from './queues.ts'

export type BusSettings = { readonly connectionString: string | undefined; readonly namespace: string | undefined }

/** Sends doorbells to their queues. Loads its packages and connects when first used. */
export function messageSender(settings: BusSettings, nowMs: () => number): Doorbells {
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
    async ring({ queue, message }, { id, delayMs = 0 }) {
      const sender = await senderOf(queue)
      await sender.sendMessages({
        body: message,
        messageId: id,
        contentType: 'application/json',
        ...(delayMs > 0 ? { scheduledEnqueueTimeUtc: new Date(nowMs() + delayMs) } : {}),
      })
    },
  }
}

/** A client of the namespace. Where there is no connection string, the process's own identity is used. */
export async function openBus({ connectionString, namespace }: BusSettings): Promise<ServiceBusClient> {
  const bus = await import('@azure/service-bus')
  if (connectionString !== undefined) return new bus.ServiceBusClient(connectionString)
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new bus.ServiceBusClient(namespace ?? '', new DefaultAzureCredential())
}
