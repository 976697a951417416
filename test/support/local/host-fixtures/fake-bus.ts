import type { MessageHandlers, ServiceBusReceivedMessage } from '@azure/service-bus'
import type { MessageReceiver, OpenBus, ReceiverOptions } from '../../../../infra/local/host/service-bus-pump.ts'

type Delivery = Pick<ServiceBusReceivedMessage, 'body'> & Partial<ServiceBusReceivedMessage>

export type FakeBus = {
  readonly openBus: OpenBus
  readonly events: string[]
  readonly connections: string[]
  readonly receivers: Record<string, { options: ReceiverOptions; maxConcurrentCalls: number | undefined }>
  /** Hands a message to the queue's subscriber; resolves when that is done with it. */
  deliver(queueName: string, message: Delivery): Promise<void>
}

/** A namespace that delivers what a test tells it to, and delivers an abandoned message once more. */
export function fakeBus(): FakeBus {
  const subscribers = new Map<string, MessageHandlers>()
  const bus: FakeBus = {
    events: [],
    connections: [],
    receivers: {},
    async openBus(connection) {
      bus.connections.push(connection)
      return { createReceiver, close: async () => void bus.events.push('client closed') }
    },
    async deliver(queueName, message) {
      await subscribers.get(queueName)?.processMessage(message as ServiceBusReceivedMessage)
    },
  }
  function createReceiver(queueName: string, options: ReceiverOptions): MessageReceiver {
    return {
      subscribe(handlers, subscribeOptions) {
        subscribers.set(queueName, handlers)
        bus.receivers[queueName] = { options, maxConcurrentCalls: subscribeOptions?.maxConcurrentCalls }
        return { close: async () => void bus.events.push(`${queueName} stopped`) }
      },
      completeMessage: async ({ messageId }) => void bus.events.push(`completed ${messageId}`),
      async abandonMessage(message) {
        bus.events.push(`abandoned ${message.messageId}`)
        const deliveryCount = (message.deliveryCount ?? 0) + 1
        if (deliveryCount < 2) setImmediate(() => void bus.deliver(queueName, { ...message, deliveryCount }))
      },
      renewMessageLock: async ({ messageId }) => {
        bus.events.push(`renewed ${messageId}`)
        return new Date(Date.now() + 60_000)
      },
      close: async () => void bus.events.push(`${queueName} closed`),
    }
  }
  return bus
}
