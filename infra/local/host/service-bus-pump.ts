import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus'
import type { ServiceBusFunction } from './app-functions.ts'
import type { HostJson } from './host-settings.ts'
import type { Invoke } from './invocation.ts'
import { type LockRenewal, whileLocked } from './lock-renewal.ts'
import type { HostLog, RpcTypedData } from './programming-model.ts'

export type PumpOptions = {
  readonly functions: readonly ServiceBusFunction[]
  readonly serviceBus: HostJson['serviceBus']
  readonly openBus: OpenBus
  readonly invoke: Invoke
  readonly log: HostLog
}

export type Pump = {
  /** Stops receiving, waits for running handlers and their settlements, then closes the connections. */
  close(): Promise<void>
}

/** Never rejects. */
type Settle = (outcome: 'complete' | 'abandon', message: ServiceBusReceivedMessage) => Promise<void>

type QueuePump = { stopReceiving(): Promise<void>; settled(): Promise<void>; close(): Promise<void> }

/** Delivers messages to the functions. Functions with the same connection share a client, like on the platform. */
export async function startPump(options: PumpOptions): Promise<Pump> {
  const clients = new Map<string, BusClient>()
  const queues: QueuePump[] = []
  const pump: Pump = {
    async close() {
      await Promise.allSettled(queues.map((queue) => queue.stopReceiving()))
      await Promise.all(queues.map((queue) => queue.settled()))
      await Promise.allSettled(queues.map((queue) => queue.close()))
      await Promise.allSettled(clients.values().map((client) => client.close()))
    },
  }
  try {
    for (const fn of options.functions) {
      const client = clients.get(fn.connectionString) ?? (await options.openBus(fn.connectionString))
      clients.set(fn.connectionString, client)
      queues.push(startQueue(fn, client, options))
    }
    return pump
  } catch (error) {
    await pump.close()
    throw error
  }
}

function startQueue(fn: ServiceBusFunction, client: BusClient, options: PumpOptions): QueuePump {
  const { serviceBus, log } = options
  const receiver = client.createReceiver(fn.queueName, {
    receiveMode: 'peekLock',
    // The pump itself renews locks.
    maxAutoLockRenewalDurationInMs: 0,
    skipParsingBodyAsJson: true,
  })
  const settle = settler(fn, receiver, log)
  const renewalOf = (message: ServiceBusReceivedMessage): LockRenewal => ({
    renew: () => receiver.renewMessageLock(message),
    renewedForMs: serviceBus.maxAutoLockRenewalDurationMs,
    onFailure(error) {
      const text = `The lock of message ${message.messageId} could not be renewed`
      log({ level: 'warning', category: 'host', message: text, functionName: fn.name, error })
    },
  })
  const running = new Set<Promise<void>>()
  let stopped = false
  const subscription = receiver.subscribe(
    {
      async processMessage(message) {
        // Received while the subscription closes: abandoned at once, instead of waiting for the lock to expire.
        const process = () => processMessage(fn, message, settle, options)
        const processing = stopped ? settle('abandon', message) : whileLocked(message, renewalOf(message), process)
        running.add(processing)
        await processing.finally(() => running.delete(processing))
      },
      async processError({ error, errorSource }) {
        const message = `Receiving from ${fn.queueName} failed (${errorSource})`
        log({ level: 'error', category: 'host', message, functionName: fn.name, error })
      },
    },
    { autoCompleteMessages: false, maxConcurrentCalls: serviceBus.maxConcurrentCalls },
  )
  return {
    stopReceiving() {
      stopped = true
      return subscription.close()
    },
    settled: async () => void (await Promise.all(running)),
    close: () => receiver.close(),
  }
}

/** Never rejects. A failed handler only increases the delivery count of the message. */
async function processMessage(
  fn: ServiceBusFunction,
  message: ServiceBusReceivedMessage,
  settle: Settle,
  { invoke, log }: PumpOptions,
): Promise<void> {
  try {
    await invoke(fn.registration, {
      inputData: [{ name: fn.triggerName, data: { string: Buffer.from(message.body).toString() } }],
      triggerMetadata: triggerMetadata(message),
    })
  } catch (error) {
    const text = `Message ${message.messageId} failed, delivery ${(message.deliveryCount ?? 0) + 1}`
    log({ level: 'error', category: 'host', message: text, functionName: fn.name, error })
    return settle('abandon', message)
  }
  await settle('complete', message)
}

/**
 * The metadata that functions read. The library lower-cases the first letter of each key at all levels. `DeliveryCount`
 * starts with 1 here and with 0 in the SDK.
 */
function triggerMetadata(message: ServiceBusReceivedMessage): Record<string, RpcTypedData> {
  return {
    MessageId: { string: String(message.messageId) },
    DeliveryCount: { json: JSON.stringify((message.deliveryCount ?? 0) + 1) },
    ApplicationProperties: { json: JSON.stringify(message.applicationProperties ?? {}) },
  }
}

/** A settlement fails if the lock is lost. The message is then redelivered, which handlers must support anyway. */
function settler(fn: ServiceBusFunction, receiver: MessageReceiver, log: HostLog): Settle {
  const inOrder = settlementOrder()
  return (outcome, message) =>
    inOrder(outcome, () =>
      outcome === 'complete' ? receiver.completeMessage(message) : receiver.abandonMessage(message),
    ).catch((error: unknown) => {
      const text = `Message ${message.messageId} could not be settled (${outcome})`
      log({ level: 'warning', category: 'host', message: text, functionName: fn.name, error })
    })
}

/** The part of the SDK receiver that the pump uses. */
export type MessageReceiver = Pick<
  ServiceBusReceiver,
  'subscribe' | 'completeMessage' | 'abandonMessage' | 'renewMessageLock' | 'close'
>

export type ReceiverOptions = {
  readonly receiveMode: 'peekLock'
  readonly maxAutoLockRenewalDurationInMs: 0
  /** Message bodies are bytes. */
  readonly skipParsingBodyAsJson: true
}

type BusClient = {
  createReceiver(queueName: string, options: ReceiverOptions): MessageReceiver
  close(): Promise<void>
}

export type OpenBus = (connectionString: string) => Promise<BusClient>

/** The client of the SDK, which is loaded only for apps with Service Bus functions. */
export const openServiceBus: OpenBus = async (connectionString) => {
  const { ServiceBusClient } = await import('@azure/service-bus')
  return new ServiceBusClient(connectionString)
}

/** Starts a settlement when no settlement with another outcome is in progress. Resolves or rejects like it. */
export type InOrder = (outcome: 'complete' | 'abandon', settle: () => Promise<void>) => Promise<void>

/**
 * Serializes settlements of a receiver with different outcomes. Settlements with the same outcome run concurrently.
 * Required because rhea 3.0.5, which the SDK uses, can merge two settlements of the same turn and send both with the
 * first outcome: a failed message would be completed and lost. (`write_dispositions` compares outcomes from the third.)
 */
export function settlementOrder(): InOrder {
  let outcomeNow: string | undefined
  let earlierOutcomes: Promise<unknown> = Promise.resolve()
  let sameOutcome: Promise<unknown> = Promise.resolve()
  return (outcome, settle) => {
    if (outcome !== outcomeNow) {
      outcomeNow = outcome
      earlierOutcomes = sameOutcome
    }
    const settled = earlierOutcomes.then(settle)
    const ended = settled.catch(() => undefined)
    sameOutcome = Promise.all([sameOutcome, ended]).then(() => undefined)
    return settled
  }
}
