import type { LogDetails } from './log.ts'
import type { TraceContext } from './trace-context.ts'

/** `request`, `message` and `timer` begin something; the others are parts of what is being done. */
export type ActivityKind = 'request' | 'message' | 'timer' | 'send' | 'call'

/** Where something that is being done comes from, and what a message about it hands on. */
export type Origin = {
  readonly trace?: TraceContext
  /** When it all began: the request or the timer at the head of the chain. */
  readonly sinceMs?: number
}

export type ActivityStart = {
  /** Few distinct ones: an operation, never an id. */
  readonly name: string
  readonly kind: ActivityKind
  readonly details?: LogDetails
  /** What this goes on with; left out, with what is being done where it is started. */
  readonly origin?: Origin
  /** Another trace that has to do with it. */
  readonly link?: TraceContext
}

/** Something that is being done, as whoever does it can tell of it. */
export interface Activity {
  /** What was told of it so far. */
  readonly details: LogDetails
  /** As `Origin` says. */
  readonly sinceMs: number
  rename(name: string): void
  /** Adds to the details. */
  describe(details: LogDetails): void
}

/** Knows what is being done, wherever it is asked. */
export interface Activities {
  /** Does the work as an activity of its own. Fails as the work fails. */
  during<T>(start: ActivityStart, work: (activity: Activity) => Promise<T>): Promise<T>
  /** For a message about what is being done. Empty when nothing is. */
  origin(): Origin
}

/** An activity as it is recorded for others to see. */
export interface Span {
  /** What the parts of the activity continue. */
  readonly trace: TraceContext | undefined
  rename(name: string): void
  describe(details: LogDetails): void
  /** With what made the activity fail, if it did. */
  end(fault?: unknown): void
}

/** Records activities. */
export interface Tracer {
  start(activity: ActivityStart, parent: TraceContext | undefined): Span
}

/** Records nothing, and hands on the trace that came in: log lines of several processes still meet. */
export const UNTRACED: Tracer = {
  start: (_activity, parent) => ({
    trace: parent,
    rename: () => undefined,
    describe: () => undefined,
    end: () => undefined,
  }),
}

/** For whoever does something that nobody observes. */
export const UNOBSERVED: Activity = {
  details: {},
  sinceMs: 0,
  rename: () => undefined,
  describe: () => undefined,
}
