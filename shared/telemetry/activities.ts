import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogDetails } from '../kernel/log.ts'
import { traceIdOf } from '../kernel/trace-context.ts'
import type { Activities, Activity, ActivityKind, ActivityStart, Origin, Span, Tracer } from '../kernel/tracing.ts'

const BEGINNINGS: readonly ActivityKind[] = ['request', 'message', 'timer']

/** What is being done at a place in the code, found by whoever is called from there. */
type Running = {
  readonly span: Span
  readonly sinceMs: number
  /** Of the request, message or timer run: its parts do not add to it. */
  readonly logDetails: { [name: string]: LogDetails[string] }
}

export type TrackedActivities = Activities & {
  /** What each log line written here and now has to say of the request, message or timer run it belongs to. */
  logDetails(): LogDetails
}

/** Follows activities through everything that they call and wait for, and has them recorded. */
export function trackedActivities(tracer: Tracer, nowMs: () => number): TrackedActivities {
  const current = new AsyncLocalStorage<Running>()
  return {
    async during(start, work) {
      const within = BEGINNINGS.includes(start.kind) ? undefined : current.getStore()
      const running = begun(start, within, tracer, nowMs)
      const activity = activityOf(running, start, within === undefined)
      try {
        const result = await current.run(running, work, activity)
        running.span.end()
        return result
      } catch (fault) {
        running.span.end(fault)
        throw fault
      }
    },
    origin(): Origin {
      const running = current.getStore()
      if (running === undefined) return {}
      const { sinceMs, span } = running
      return span.trace === undefined ? { sinceMs } : { sinceMs, trace: span.trace }
    },
    logDetails: () => current.getStore()?.logDetails ?? {},
  }
}

function begun(start: ActivityStart, within: Running | undefined, tracer: Tracer, nowMs: () => number): Running {
  const span = tracer.start(start, start.origin?.trace ?? within?.span.trace)
  const sinceMs = start.origin?.sinceMs ?? within?.sinceMs ?? nowMs()
  const logDetails = within?.logDetails ?? {
    ...(span.trace === undefined ? {} : { traceId: traceIdOf(span.trace) }),
    ...start.details,
  }
  return { span, sinceMs, logDetails }
}

function activityOf({ span, sinceMs, logDetails }: Running, start: ActivityStart, isWhole: boolean): Activity {
  const details: { [name: string]: LogDetails[string] } = { ...start.details }
  return {
    details,
    sinceMs,
    rename: (name) => span.rename(name),
    describe(more) {
      Object.assign(details, more)
      if (isWhole) Object.assign(logDetails, more)
      span.describe(more)
    },
  }
}
