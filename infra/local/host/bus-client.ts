import type { ServiceBusReceiver, ServiceBusSessionReceiver } from '@azure/service-bus'
import type { BusConnection } from './host-settings.ts'

/** The part of the SDK receiver that the host uses. */
export type MessageReceiver = Pick<
  ServiceBusReceiver,
  'subscribe' | 'completeMessage' | 'abandonMessage' | 'renewMessageLock' | 'close'
>

/** The same for the receiver of one session, which is closed when its connection is lost. */
export type SessionReceiver = Pick<
  ServiceBusSessionReceiver,
  | 'sessionId'
  | 'sessionLockedUntilUtc'
  | 'subscribe'
  | 'completeMessage'
  | 'abandonMessage'
  | 'renewSessionLock'
  | 'close'
>

/** The host itself renews locks, and message bodies are bytes. */
export const RECEIVER_OPTIONS = {
  receiveMode: 'peekLock',
  maxAutoLockRenewalDurationInMs: 0,
  skipParsingBodyAsJson: true,
} as const
export type ReceiverOptions = typeof RECEIVER_OPTIONS

export type BusClient = {
  createReceiver(queueName: string, options: ReceiverOptions): MessageReceiver
  /** Waits for a session with a message. Rejects with the code `ServiceTimeout` when there was none for a second. */
  acceptNextSession(queueName: string, options: ReceiverOptions): Promise<SessionReceiver>
  close(): Promise<void>
}

/** @param takesSessions Whether the client is for queues with sessions. */
export type OpenBus = (connection: BusConnection, takesSessions: boolean) => Promise<BusClient>

/** The SDK cannot end the wait for a session. The host stops after it, so that it is short. */
const SESSION_OPTIONS = { retryOptions: { timeoutInMs: 1_000, maxRetries: 3, retryDelayInMs: 250 } }

/** The client of the SDK. The packages are loaded only for apps with Service Bus functions. */
export const openServiceBus: OpenBus = async (connection, takesSessions) => {
  const { ServiceBusClient } = await import('@azure/service-bus')
  const options = takesSessions ? SESSION_OPTIONS : {}
  if ('connectionString' in connection) return new ServiceBusClient(connection.connectionString, options)
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new ServiceBusClient(connection.fullyQualifiedNamespace, new DefaultAzureCredential(), options)
}
