import type { ServiceBusReceiver } from '@azure/service-bus'
import type { BusConnection } from './app-settings.ts'

/** The part of the SDK receiver that the pump uses. */
export type MessageReceiver = Pick<ServiceBusReceiver, 'subscribe' | 'completeMessage' | 'abandonMessage' | 'close'>

export type ReceiverOptions = {
  readonly receiveMode: 'peekLock'
  readonly maxAutoLockRenewalDurationInMs: number
  /** Message bodies are bytes. */
  readonly skipParsingBodyAsJson: true
}

export type BusClient = {
  createReceiver(queueName: string, options: ReceiverOptions): MessageReceiver
  close(): Promise<void>
}

export type OpenBus = (connection: BusConnection) => Promise<BusClient>

/** The client of the SDK. The packages are loaded only for apps with Service Bus functions. */
export const openServiceBus: OpenBus = async (connection) => {
  const { ServiceBusClient } = await import('@azure/service-bus')
  if ('connectionString' in connection) return new ServiceBusClient(connection.connectionString)
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new ServiceBusClient(connection.fullyQualifiedNamespace, new DefaultAzureCredential())
}
