import type { ServiceBusReceivedMessage } from '@azure/service-bus'
import type { ServiceBusFunction } from './app-functions.ts'
import { type BusClient, type OpenBus, RECEIVER_OPTIONS } from './bus-client.ts'
import { type LockRenewal, whileLocked } from './lock-renewal.ts'
import { type ProcessingOptions, processMessage, settler } from './message-settlement.ts'
import { type QueuePump, startSessions } from './session-pump.ts'

export type PumpOptions = ProcessingOptions & {
  readonly functions: readonly ServiceBusFunction[]
  readonly openBus: OpenBus
}

export type Pump = {
  /** Stops receiving, waits for running handlers and their settlements, then closes the connections. */
  close(): Promise<void>
}

/**
 * Delivers messages to the functions. Functions with the same connection share a client, like on the platform, and those
 * with sessions another one.
 */
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
      const { connectionName, connection, takesSessions } = fn
      const key = `${connectionName} ${takesSessions}`
      const client = clients.get(key) ?? (await options.openBus(connection, takesSessions))
      clients.set(key, client)
      queues.push(takesSessions ? startSessions(fn, client, options) : startQueue(fn, client, options))
    }
    return pump
  } catch (error) {
    await pump.close()
    throw error
  }
}

function startQueue(fn: ServiceBusFunction, client: BusClient, options: PumpOptions): QueuePump {
  const { serviceBus, log } = options
  const receiver = client.createReceiver(fn.queueName, RECEIVER_OPTIONS)
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
