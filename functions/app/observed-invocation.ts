import type { InvocationContext } from '@azure/functions'
import { type TraceContext, traceContextOf } from '../../shared/kernel/trace-context.ts'
import type { Activity } from '../../shared/kernel/tracing.ts'
import { originOf } from '../../shared/messaging/origin-properties.ts'
import type { QueueName } from '../../shared/messaging/queues.ts'
import { elapsedMs } from './clock.ts'
import { activities, metrics } from './observation.ts'

/**
 * Answers a request as an activity, and measures how long that takes.
 * It bears the function's name until the answering knows the operation.
 */
export function observedRequest<Answer extends { readonly status: number }>(
  { method }: { readonly method: string },
  context: InvocationContext,
  answer: (activity: Activity) => Answer | Promise<Answer>,
): Promise<Answer> {
  const startedMs = elapsedMs()
  const trace = hostTrace(context)
  const origin = trace === undefined ? {} : { trace }
  const details = { method, route: context.functionName }
  return activities.during(
    { name: `${method} ${context.functionName}`, kind: 'request', details, origin },
    async (activity) => {
      const answered = await answer(activity)
      const { status } = answered
      activity.describe({ status })
      const route = String(activity.details.route)
      metrics.record('http.server.request.duration', (elapsedMs() - startedMs) / 1000, { method, route, status })
      return answered
    },
  )
}

/** Handles a message as an activity that goes on with what its sender was at. */
export function observedMessage(
  queue: QueueName,
  context: InvocationContext,
  handle: (activity: Activity) => Promise<void>,
): Promise<void> {
  const { applicationProperties, messageId, deliveryCount } = context.triggerMetadata ?? {}
  // A message that was given to the function by hand has neither.
  const delivery = messageId === undefined ? {} : { messageId: String(messageId), deliveryCount: Number(deliveryCount) }
  const details = { queue, ...delivery }
  const sent = originOf(applicationProperties)
  const host = hostTrace(context)
  const origin = sent.trace === undefined && host !== undefined ? { ...sent, trace: host } : sent
  const link = sent.trace === undefined || host === undefined ? {} : { link: host }
  return activities.during({ name: `process ${queue}`, kind: 'message', details, origin, ...link }, handle)
}

/** Does what a timer is there for as an activity. */
export function observedTimer(context: InvocationContext, run: () => Promise<void>): Promise<void> {
  const trace = hostTrace(context)
  return activities.during(
    { name: context.functionName, kind: 'timer', origin: trace === undefined ? {} : { trace } },
    run,
  )
}

/** What the host says that the invocation is a part of. */
function hostTrace({ traceContext }: InvocationContext): TraceContext | undefined {
  return traceContextOf(traceContext?.traceParent, traceContext?.traceState)
}
