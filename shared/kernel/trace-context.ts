/** Where a trace stands, in the form in which it travels between processes. https://www.w3.org/TR/trace-context/ */
export type TraceContext = {
  /** Version, trace id, id of the parent span and flags, in hexadecimal. */
  readonly traceparent: string
  /** What other systems on the way have added, as it came. */
  readonly tracestate?: string
}

/** Ids of zeros are invalid: section 3.2.2.3. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Systems have to hand on this much at least, and may drop what is longer: section 3.3.1.5. */
const TRACESTATE_AT_MOST_CHARACTERS = 512

/** The context that these values give; undefined for anything that is none, which a receiver has to ignore. */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined
  const isKept =
    typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= TRACESTATE_AT_MOST_CHARACTERS
  return isKept ? { traceparent, tracestate } : { traceparent }
}

/** The trace's own id, which log lines and spans share: 32 hexadecimal digits. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35)
}
