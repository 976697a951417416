import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { LogDetails } from './log.ts'

/** The name under which all spans are recorded. */
export const TRACER_NAME = 'collections-service'

// Log lines need the active context even where no spans are exported, so the context manager is always registered.
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

const propagator = new W3CTraceContextPropagator()
const INVOCATION = createContextKey('invocation')

/** One run of a function: a request, a message or a timer. */
export type Invocation = {
  /** Low cardinality: an operation or a queue, never an id. */
  readonly name: string
  readonly kind: SpanKind
  readonly details?: LogDetails
  /** `traceparent` and `tracestate` of the host's own span for this run. Invalid values are ignored. */
  readonly host?: unknown
  /** What `messageProperties` returned where the message was sent. Invalid values are ignored. */
  readonly sender?: unknown
  readonly nowMs: number
}

export type RunningInvocation = {
  /** When the request or timer at the head of the chain started. */
  readonly sinceMs: number
  readonly details: LogDetails
}

type InvocationState = {
  readonly sinceMs: number
  span?: Span
  readonly details: { [name: string]: LogDetails[string] }
}

/**
 * Runs `work` as an invocation: in a span of its own, with its details on every log line. The span continues the trace
 * of the sender and links to that of the host; without a sender, it continues that of the host. Rejects as `work` does.
 */
export function inInvocation<T>(
  { name, kind, details = {}, host, sender, nowMs }: Invocation,
  work: (invocation: RunningInvocation) => Promise<T>,
): Promise<T> {
  const state: InvocationState = { sinceMs: sinceMsOf(sender) ?? nowMs, details: { ...details } }
  const [sent, hosted] = [extracted(sender), extracted(host)]
  const isSent = trace.getSpanContext(sent) !== undefined
  const linked = isSent ? trace.getSpanContext(hosted) : undefined
  const options: SpanOptions = {
    kind,
    attributes: attributesOf(details),
    ...(linked === undefined ? {} : { links: [{ context: linked }] }),
  }
  const run = (span: Span): Promise<T> => {
    state.span = span
    return work(state)
  }
  return inSpan(name, options, run, (isSent ? sent : hosted).setValue(INVOCATION, state))
}

/**
 * Runs `work` in a span. When `work` rejects, the span records the name of the error and the rejection is passed on.
 */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  return trace.getTracer(TRACER_NAME).startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work(span)
    } catch (fault) {
      // Only the name: messages can quote personal data and belong in the log.
      span.setAttribute('error.type', fault instanceof Error ? fault.name : typeof fault)
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw fault
    } finally {
      span.end()
    }
  })
}

/** Adds details to the log lines and the span of the current invocation, and renames the span when a name is given. */
export function describeInvocation(details: LogDetails, name?: string): void {
  const state = currentInvocation()
  if (state === undefined) return
  Object.assign(state.details, details)
  state.span?.setAttributes(attributesOf(details))
  if (name !== undefined) state.span?.updateName(name)
}

/** What every log line of the current invocation contains. Empty outside of one. */
export function invocationDetails(): LogDetails {
  const state = currentInvocation()
  if (state === undefined) return {}
  const active = trace.getSpanContext(context.active())
  return active === undefined || !isSpanContextValid(active)
    ? state.details
    : { traceId: active.traceId, ...state.details }
}

/**
 * Application properties for a message sent by the current invocation: `traceparent` and `tracestate` as in W3C's draft
 * for AMQP, and `sincems`. In lower case, because the host changes the case of first letters. Handlers do not depend on
 * them.
 */
export function messageProperties(): Record<string, string | number> {
  const properties: Record<string, string | number> = {}
  propagator.inject(context.active(), properties, defaultTextMapSetter)
  const sinceMs = currentInvocation()?.sinceMs
  return sinceMs === undefined ? properties : { ...properties, sincems: sinceMs }
}

function currentInvocation(): InvocationState | undefined {
  return context.active().getValue(INVOCATION) as InvocationState | undefined
}

function extracted(carrier: unknown): Context {
  return propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter)
}

function sinceMsOf(carrier: unknown): number | undefined {
  const { sincems } = (carrier ?? {}) as { sincems?: unknown }
  return typeof sincems === 'number' && Number.isFinite(sincems) ? sincems : undefined
}

/**
 * Details that spans carry, under OpenTelemetry's names where there are any.
 * https://opentelemetry.io/docs/specs/semconv/
 */
const ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  requestId: 'request.id',
  operationId: 'operation.id',
  route: 'http.route',
  method: 'http.request.method',
  status: 'http.response.status_code',
  tenantId: 'tenant.id',
  collectionId: 'collection.id',
  jobId: 'job.id',
  queue: 'messaging.destination.name',
  messageId: 'messaging.message.id',
  deliveryCount: 'messaging.delivery_count',
}

/** Details without a name in the list stay in the log: callers' ids, for example. */
function attributesOf(details: LogDetails): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(details)) {
    const attribute = ATTRIBUTE_NAMES[name]
    if (attribute !== undefined && value !== undefined && value !== null) attributes[attribute] = value
  }
  return attributes
}
