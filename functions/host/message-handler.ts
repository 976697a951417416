import type { InvocationContext, ServiceBusQueueHandler } from '@azure/functions'
import type { Static, TSchema } from 'typebox'
import type { Activity } from '../../shared/domain/activity.ts'
import type { LogDetails } from '../../shared/domain/log.ts'
import { conforms } from '../../shared/http/validation.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { sessionTokensOf } from '../../shared/messaging/session-properties.ts'
import { elapsedMs } from './clock.ts'
import { databaseSession } from './foundation.ts'
import { log } from './observation.ts'
import { observedMessage } from './observed-invocation.ts'

/**
 * Looks at what a message names, and reads nothing older than what its sender had seen. A malformed message is logged and settled, it could never succeed;
 * a fault is thrown on, so that the message comes again and in the end goes to the dead-letter queue.
 */
export function messageHandler<Schema extends TSchema>(
  queue: QueueName,
  schema: Schema,
  look: (message: Static<Schema>, activity: Activity) => Promise<void>,
): ServiceBusQueueHandler {
  return (message: unknown, context: InvocationContext) =>
    observedMessage(queue, context, async (activity) => {
      if (!conforms(schema, message)) {
        log.error('message.malformed', new Error('The message is not of the shape of its queue'), { queue })
        return
      }
      activity.describe(message as LogDetails)
      databaseSession.advance(sessionTokensOf(context.triggerMetadata?.applicationProperties))
      const startedMs = elapsedMs()
      try {
        await look(message as Static<Schema>, activity)
        log.info('message.handled', { queue, durationMs: Math.round(elapsedMs() - startedMs) })
      } catch (fault) {
        log.error('message.fault', fault, { queue })
        throw fault
      }
    })
}
