import type { InvocationContext, ServiceBusQueueHandler } from '@azure/functions'
import type { Static, TSchema } from 'typebox'
import { conforms } from '../../shared/http/validation.ts'
import type { LogDetails } from '../../shared/kernel/log.ts'
import { describeInvocation, type RunningInvocation } from '../../shared/kernel/tracing.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { elapsedMs } from './clock.ts'
import { log } from './observation.ts'
import { observedMessage } from './observed-invocation.ts'

/**
 * Looks at what a message names. A malformed message is logged and settled, it could never succeed;
 * a fault is thrown on, so that the message comes again and in the end goes to the dead-letter queue.
 */
export function messageHandler<Schema extends TSchema>(
  queue: QueueName,
  schema: Schema,
  look: (message: Static<Schema>, invocation: RunningInvocation) => Promise<void>,
): ServiceBusQueueHandler {
  return (message: unknown, context: InvocationContext) =>
    observedMessage(queue, context, async (invocation) => {
      if (!conforms(schema, message)) {
        log.error('message.malformed', new Error('The message is not of the shape of its queue'), { queue })
        return
      }
      describeInvocation(message as LogDetails)
      const startedMs = elapsedMs()
      try {
        await look(message as Static<Schema>, invocation)
        log.info('message.handled', { queue, durationMs: Math.round(elapsedMs() - startedMs) })
      } catch (fault) {
        log.error('message.fault', fault, { queue })
        throw fault
      }
    })
}
