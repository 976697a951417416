import type { HttpRequest, InvocationContext } from '@azure/functions'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { LogDetails } from '../../shared/kernel/log.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import { describeInvocation, inInvocation } from '../../shared/kernel/tracing.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { failureCountOf, handleWithRedelivery, originalId } from '../../shared/messaging/redelivery.ts'
import type { Connections } from './connections.ts'
import type { HostResponse } from './host-request.ts'
import type { MessageHandler } from './message-handlers.ts'
import type { Runtime } from './runtime.ts'

/**
 * Responds to a request of the host in a span of its own and records the duration.
 * The span has the function's name until `dispatch` knows the operation.
 */
export function observedRequest(
  { method }: HttpRequest,
  context: InvocationContext,
  respond: () => Promise<HostResponse>,
  { metrics, elapsedMs, nowMs }: Runtime,
): Promise<HostResponse> {
  const startedMs = elapsedMs()
  const route = context.functionName
  const name = `${method} ${route}`
  const start = { name, kind: SpanKind.SERVER, details: { method, route }, host: hostTrace(context), nowMs: nowMs() }
  return inInvocation(start, async ({ details }) => {
    const response = await respond()
    const { status } = response
    describeInvocation({ status })
    if (status >= 500) trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR })
    const dimensions = { method, route: String(details.route), status }
    metrics.record('http.server.request.duration', (elapsedMs() - startedMs) / 1000, dimensions)
    return response
  })
}

type MessageDependencies = Runtime & Pick<Connections, 'messageQueue'>

/**
 * Handles a message in a span that continues the sender's and links to that of the host. Reads of the database are not
 * older than what the sender had seen. A malformed message is logged and completed: it can never succeed. After a fault
 * the message is delivered again later, and finally becomes a dead letter.
 */
export function observedMessage(
  queue: QueueName,
  message: unknown,
  context: InvocationContext,
  handler: MessageHandler,
  { log, elapsedMs, nowMs, newId, random, messageQueue }: MessageDependencies,
): Promise<void> {
  const { applicationProperties, messageId, deliveryCount } = context.triggerMetadata ?? {}
  // A message that an operator posts to the function has neither.
  const delivery = messageId === undefined ? {} : { messageId: String(messageId), deliveryCount: Number(deliveryCount) }
  const start = {
    name: `process ${queue}`,
    kind: SpanKind.CONSUMER,
    details: { queue, ...delivery },
    host: hostTrace(context),
    sender: applicationProperties,
    nowMs: nowMs(),
  }
  return inInvocation(start, async ({ sinceMs }) => {
    if (!handler.accepts(message)) {
      log.error('message.malformed', new Error('The message does not have the schema of its queue'), { queue })
      return
    }
    describeInvocation(message as LogDetails)
    const startedMs = elapsedMs()
    try {
      const id = typeof messageId === 'string' ? originalId(messageId) : newId()
      const received = {
        message: { queue, message } as Message,
        id,
        failureCount: failureCountOf(applicationProperties),
      }
      const postponed = await handleWithRedelivery(received, () => handler.handle(message, sinceMs), {
        messageQueue,
        random,
      })
      if (postponed === undefined) {
        log.info('message.handled', { queue, durationMs: Math.round(elapsedMs() - startedMs) })
        return
      }
      const { fault, delayMs } = postponed
      log.warn('message.postponed', { queue, delayMs, reason: fault instanceof Error ? fault.message : String(fault) })
      trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR })
    } catch (fault) {
      log.error('message.fault', fault, { queue })
      throw fault
    }
  })
}

/** Runs a timer's work in a span of its own. */
export function observedTimer(context: InvocationContext, run: () => Promise<void>, { nowMs }: Runtime): Promise<void> {
  const { functionName: name } = context
  return inInvocation({ name, kind: SpanKind.SERVER, host: hostTrace(context), nowMs: nowMs() }, run)
}

/** The trace context of the host's own invocation. */
function hostTrace({ traceContext }: InvocationContext): Record<string, unknown> {
  return { traceparent: traceContext?.traceParent, tracestate: traceContext?.traceState }
}
