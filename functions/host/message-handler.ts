import type { ServiceBusQueueHandler } from '@azure/functions'
import type { Static, TSchema } from 'typebox'
import { conforms } from '../../shared/http/validation.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { log } from './foundation.ts'

/**
 * Looks at what a message names. A malformed message is logged and settled, it could never succeed;
 * a fault is thrown on, so that the message comes again and in the end goes to the dead-letter queue.
 */
export function messageHandler<Schema extends TSchema>(
  queue: QueueName,
  schema: Schema,
  look: (message: Static<Schema>) => Promise<void>,
): ServiceBusQueueHandler {
  return async (message: unknown) => {
    if (!conforms(schema, message)) {
      log.error('message.malformed', new Error('The message is not of the shape of its queue'), { queue })
      return
    }
    try {
      await look(message as Static<Schema>)
    } catch (fault) {
      log.error('message.fault', fault, { queue })
      throw fault
    }
  }
}
