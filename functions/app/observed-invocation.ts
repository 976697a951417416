import type { InvocationContext } from '@azure/functions'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { describeInvocation, inInvocation, type RunningInvocation } from '../../shared/kernel/tracing.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { elapsedMs, nowMs } from './clock.ts'
import { metrics } from './observation.ts'

/** Runs a request as an invocation and records its duration. The span has the function's name until `dispatch` knows the operation. */
export function observedRequest<Response extends { readonly status: number }>(
  { method }: { readonly method: string },
  context: InvocationContext,
  respond: () => Promise<Response>,
): Promise<Response> {
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

/** Handles a message as an invocation that continues the trace of its sender, and links to that of the host. */
export function observedMessage(
  queue: QueueName,
  context: InvocationContext,
  handle: (invocation: RunningInvocation) => Promise<void>,
): Promise<void> {
  const { applicationProperties, messageId, deliveryCount } = context.triggerMetadata ?? {}
  // A message that an operator posts to the function has neither.
  const delivery = messageId === undefined ? {} : { messageId: String(messageId), deliveryCount: Number(deliveryCount) }
  const trace = { host: hostTrace(context), sender: applicationProperties, nowMs: nowMs() }
  return inInvocation(
    { name: `process ${queue}`, kind: SpanKind.CONSUMER, details: { queue, ...delivery }, ...trace },
    handle,
  )
}

/** Runs a timer function as an invocation. */
export function observedTimer(context: InvocationContext, run: () => Promise<void>): Promise<void> {
  const { functionName: name } = context
  return inInvocation({ name, kind: SpanKind.SERVER, host: hostTrace(context), nowMs: nowMs() }, run)
}

/** The trace context of the host's own invocation. */
function hostTrace({ traceContext }: InvocationContext): Record<string, unknown> {
  return { traceparent: traceContext?.traceParent, tracestate: traceContext?.traceState }
}
