import { traceContextOf } from '../kernel/trace-context.ts'
import type { Origin } from '../kernel/tracing.ts'

/**
 * Application properties that tell where a message comes from: nothing that its handling depends on. In lower case,
 * since the host changes the case of first letters. `traceparent` and `tracestate` are those of W3C's draft for AMQP.
 */
export function originProperties({ trace, sinceMs }: Origin): Record<string, string | number> {
  return { ...trace, ...(sinceMs === undefined ? {} : { sincems: sinceMs }) }
}

/** The reverse, of whatever has come. */
export function originOf(properties: unknown): Origin {
  const { traceparent, tracestate, sincems } = (properties ?? {}) as Record<string, unknown>
  const trace = traceContextOf(traceparent, tracestate)
  return {
    ...(trace === undefined ? {} : { trace }),
    ...(typeof sincems === 'number' && Number.isFinite(sincems) ? { sinceMs: sincems } : {}),
  }
}
