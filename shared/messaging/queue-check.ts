import type { ServiceBusReceiver } from '@azure/service-bus'
import { type BusSettings, openBus } from './message-sender.ts'
import { QUEUES } from './queues.ts'

/**
 * A look at the first message of a queue, which stays where it is: it asks the queue itself, where an open link would
 * only tell that it once was there. Rejects when it is not answered.
 */
export function queueCheck(settings: BusSettings): (signal: AbortSignal) => Promise<void> {
  let receiver: Promise<ServiceBusReceiver> | undefined
  const open = async () => (await openBus(settings)).createReceiver(QUEUES[0].name)
  return async (signal) => {
    receiver ??= open()
    await (await receiver).peekMessages(1, { abortSignal: signal })
  }
}
