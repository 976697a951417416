import { EventEmitter } from 'node:events'
import type { InvocationContext, Timer } from '@azure/functions'

type Observed = {
  messages: { message: unknown; metadata: InvocationContext['triggerMetadata'] }[]
  timerRuns: { timer: Timer; retryContext: InvocationContext['retryContext'] }[]
  /** Timer runs that are to fail from here on. */
  timerFailures: number
  /** Emits the name of a handler that is about to wait. */
  begun: EventEmitter
  /** Ends of handlers that were told to wait, and of the app. */
  ended: string[]
  /** What each invocation was told to be a part of. */
  traces: InvocationContext['traceContext'][]
  evaluations: number
}

/** What the fixture app's functions have seen: the tests run in the same process and read it here. */
export const observed: Observed = {
  messages: [],
  timerRuns: [],
  timerFailures: 0,
  begun: new EventEmitter(),
  ended: [],
  traces: [],
  evaluations: 0,
}
