import type { ServiceBusReceiver } from '@azure/service-bus'
import type { BusConnection } from './app-settings.ts'

/** What the pump needs of a receiver of the SDK. */
export type MessageReceiver = Pick<ServiceBusReceiver, 'subscribe' | 'completeMessage' | 'abandonMessage' | 'close'>

export type ReceiverOptions = {
  readonly receiveMode: 'peekLock'
  readonly maxAutoLockRenewalDurationInMs: number
  /** Bodies come as bytes. */
  readonly skipParsingBodyAsJson: true
}

export type BusClient = {
  createReceiver(queueName: string, options: ReceiverOptions): MessageReceiver
  close(): Promise<void>
}

export type OpenBus = (connection: BusConnection) => Promise<BusClient>

/** The SDK's client. Both packages load only when an app has Service Bus functions. */
export const openServiceBus: OpenBus = async (connection) => {
  const { ServiceBusClient } = await import('@azure/service-bus')
  if ('connectionString' in connection) return new ServiceBusClient(connection.connectionString)
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new ServiceBusClient(connection.fullyQualifiedNamespace, new DefaultAzureCredential())
}
