import {
  type Context,
  createTraceState,
  type Span as OpenTelemetrySpan,
  type Tracer as OpenTelemetryTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { TraceContext } from '../kernel/trace-context.ts'
import type { ActivityKind, Span, Tracer } from '../kernel/tracing.ts'
import { spanAttributes } from './span-attributes.ts'

const KINDS: Readonly<Record<ActivityKind, SpanKind>> = {
  request: SpanKind.SERVER,
  message: SpanKind.CONSUMER,
  timer: SpanKind.SERVER,
  send: SpanKind.PRODUCER,
  call: SpanKind.CLIENT,
}

/** HTTP statuses from which on a span has failed: a server is not to blame for what its client sends. */
const FAILURES_FROM: Readonly<Partial<Record<ActivityKind, number>>> = { request: 500, call: 400 }

/** Records activities as spans. Parents are named, so that nothing has to be registered with the whole process. */
export function spanTracer(tracer: OpenTelemetryTracer): Tracer {
  return {
    start({ name, kind, details = {}, link }, parent) {
      const span = tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          attributes: spanAttributes(details),
          ...(link === undefined ? {} : { links: [{ context: spanContextOf(link) }] }),
        },
        parentContext(parent),
      )
      return recordedSpan(span, FAILURES_FROM[kind])
    },
  }
}

function recordedSpan(span: OpenTelemetrySpan, failuresFrom: number | undefined): Span {
  return {
    trace: traceContextOfSpan(span.spanContext()),
    rename: (name) => void span.updateName(name),
    describe(details) {
      span.setAttributes(spanAttributes(details))
      const { status } = details
      const isFailure = typeof status === 'number' && (status === 0 || status >= (failuresFrom ?? Number.MAX_VALUE))
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end(fault) {
      if (fault !== undefined) {
        // Its kind alone: messages may quote what a caller or the directory has sent, and stand in the log.
        span.setAttribute('error.type', fault instanceof Error ? fault.name : typeof fault)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

function parentContext(parent: TraceContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent))
}

function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}

function traceContextOfSpan({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  const tracestate = traceState?.serialize()
  return tracestate === undefined || tracestate === '' ? { traceparent } : { traceparent, tracestate }
}
