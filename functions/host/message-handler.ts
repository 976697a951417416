import type { InvocationContext, ServiceBusQueueHandler } from '@azure/functions'
import type { Static, TSchema } from 'typebox'
import type { Activity } from '../../shared/domain/activity.ts'
import type { Doorbell } from '../../shared/domain/doorbell.ts'
import type { LogDetails } from '../../shared/domain/log.ts'
import { conforms } from '../../shared/http/validation.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { handledOrPostponed } from '../../shared/messaging/redelivery.ts'
import { sessionTokensOf } from '../../shared/messaging/session-properties.ts'
import { elapsedMs } from './clock.ts'
import { databaseSession, doorbells, newId } from './foundation.ts'
import { log } from './observation.ts'
import { observedMessage } from './observed-invocation.ts'

/**
 * Looks at what a message names, and reads nothing older than what its sender had seen. A malformed message is logged and settled, it could never succeed;
 * after a fault it comes again later, and in the end goes to the dead-letter queue.
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
        const doorbell = { queue, message } as Doorbell
        const postponed = await handledOrPostponed(
          { doorbell, ...deliveryOf(context) },
          () => look(message as Static<Schema>, activity),
          { doorbells, random: Math.random },
        )
        const durationMs = Math.round(elapsedMs() - startedMs)
        if (postponed === undefined) log.info('message.handled', { queue, durationMs })
        else log.error('message.postponed', postponed.fault, { queue, delayMs: postponed.delayMs })
      } catch (fault) {
        log.error('message.fault', fault, { queue })
        throw fault
      }
    })
}

/** One that was given to the function by hand has no id. */
function deliveryOf({ triggerMetadata }: InvocationContext): { readonly id: string; readonly failureCount: number } {
  const { messageId, applicationProperties } = triggerMetadata ?? {}
  const failures = (applicationProperties as { readonly failures?: unknown } | undefined)?.failures
  return {
    id: typeof messageId === 'string' ? rootOf(messageId) : newId(),
    failureCount: typeof failures === 'number' && Number.isInteger(failures) ? failures : 0,
  }
}

/** The id that the message had when it first came: ids have a limit of 128 characters. */
function rootOf(messageId: string): string {
  return messageId.split(':again:', 1)[0] ?? messageId
}
