import type { HttpRequest, HttpResponseInit, InvocationContext } from '@azure/functions'
import type { FileAnswer } from '../../shared/http/public-files.ts'
import type { HttpRequest as ServiceRequest } from '../../shared/http/read-body.ts'
import type { LogDetails } from '../../shared/kernel/log.ts'
import { type TraceContext, traceContextOf } from '../../shared/kernel/trace-context.ts'
import type { Activity } from '../../shared/kernel/tracing.ts'
import { originOf } from '../../shared/messaging/origin-properties.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import type { Foundation } from './foundation.ts'
import type { MessageHandler } from './service.ts'

/** Answers a request, which is a part of the span of its invocation. */
export type Answer = (request: ServiceRequest, span: Activity) => FileAnswer | Promise<FileAnswer>

/** Answers a request of the host without a span and without metrics: for probes. */
export async function unobservedRequest(
  request: HttpRequest,
  answer: (request: ServiceRequest) => FileAnswer | Promise<FileAnswer>,
): Promise<HttpResponseInit> {
  return toHost(await answer(fromHost(request)))
}

/**
 * Answers a request of the host in a span of its own and measures the duration.
 * The span has the function's name until the operation is known.
 */
export function observedRequest(
  request: HttpRequest,
  context: InvocationContext,
  answer: Answer,
  { activities, metrics, elapsedMs }: Foundation,
): Promise<HttpResponseInit> {
  const startedMs = elapsedMs()
  const trace = hostTrace(context)
  const origin = trace === undefined ? {} : { trace }
  const { method } = request
  const details = { method, route: context.functionName }
  return activities.during(
    { name: `${method} ${context.functionName}`, kind: 'request', details, origin },
    async (span) => {
      const answered = await answer(fromHost(request), span)
      const { status } = answered
      span.describe({ status })
      const route = String(span.details.route)
      metrics.record('http.server.request.duration', (elapsedMs() - startedMs) / 1000, { method, route, status })
      return toHost(answered)
    },
  )
}

/**
 * Handles a message in a span that continues the sender's. A malformed message is logged and completed: it can never
 * succeed. A fault is logged and thrown, so that the message is delivered again and finally becomes a dead letter.
 */
export function observedMessage(
  queue: QueueName,
  message: unknown,
  context: InvocationContext,
  handler: MessageHandler,
  { activities, log, elapsedMs }: Foundation,
): Promise<void> {
  return activities.during(
    { name: `process ${queue}`, kind: 'message', ...deliveryOf(queue, context) },
    async (span) => {
      if (!handler.accepts(message)) {
        log.error('message.malformed', new Error('The message does not have the schema of its queue'), { queue })
        return
      }
      span.describe(message as LogDetails)
      const startedMs = elapsedMs()
      try {
        await handler.handle(message, span.sinceMs)
        log.info('message.handled', { queue, durationMs: Math.round(elapsedMs() - startedMs) })
      } catch (fault) {
        log.error('message.fault', fault, { queue })
        throw fault
      }
    },
  )
}

/** Runs a timer's work in a span of its own. */
export function observedTimer(
  context: InvocationContext,
  run: () => Promise<void>,
  { activities }: Foundation,
): Promise<void> {
  const trace = hostTrace(context)
  const origin = trace === undefined ? {} : { trace }
  return activities.during({ name: context.functionName, kind: 'timer', origin }, run)
}

/** Which delivery of a message this is, and the sender's trace; the host's own trace becomes a link to it. */
function deliveryOf(queue: QueueName, context: InvocationContext) {
  const { applicationProperties, messageId, deliveryCount } = context.triggerMetadata ?? {}
  // A message that is passed to the function by hand has neither.
  const delivery = messageId === undefined ? {} : { messageId: String(messageId), deliveryCount: Number(deliveryCount) }
  const details = { queue, ...delivery }
  const sent = originOf(applicationProperties)
  const host = hostTrace(context)
  if (host === undefined) return { details, origin: sent }
  return sent.trace === undefined
    ? { details, origin: { ...sent, trace: host } }
    : { details, origin: sent, link: host }
}

/** The trace that the host says the invocation is part of. */
function hostTrace({ traceContext }: InvocationContext): TraceContext | undefined {
  return traceContextOf(traceContext?.traceParent, traceContext?.traceState)
}

function fromHost(request: HttpRequest): ServiceRequest {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    bytes: async () => new Uint8Array(await request.arrayBuffer()),
  }
}

function toHost({ status, headers, body, bytes }: FileAnswer): HttpResponseInit {
  return { status, headers, ...(body === undefined && bytes === undefined ? {} : { body: bytes ?? body }) }
}
