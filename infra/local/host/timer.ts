import { nextOccurrence, type Schedule } from './ncrontab.ts'
import type { RpcRetryContext, RpcRetryOptions } from './programming-model.ts'

/** Input of a timer function. The library lower-cases the first letters. */
export type TimerInfo = {
  readonly Schedule: { readonly AdjustForDST: boolean }
  readonly ScheduleStatus: { readonly Last: string; readonly LastUpdated: string; readonly Next: string }
  readonly IsPastDue: boolean
}

export type TimerOptions = {
  readonly schedule: Schedule
  /** The schedule starts no runs. */
  readonly isDisabled?: boolean
  readonly retry: RpcRetryOptions | undefined
  /** Runs one attempt. The retry policy applies to a rejection. */
  readonly run: (info: TimerInfo, retryContext: RpcRetryContext | undefined) => Promise<void>
  /** Receives the error of a run after all retries. */
  readonly failed: (error: unknown) => void
  readonly nowMs: () => number
}

export type RunningTimer = {
  /** Runs once, after the current run. Rejects with the error of the run. */
  runByHand(): Promise<void>
  /** Starts no more runs. Resolves after the current run. */
  stop(): Promise<void>
}

/**
 * Maximum time between checks of the clock: `setTimeout` overflows at 2^31 ms, and does not count the sleep time of a
 * machine.
 */
const LONGEST_SLEEP_MS = 60_000

const NEVER = '0001-01-01T00:00:00'

/** Runs a function on its schedule. Runs never overlap: an occurrence during a run is skipped. */
export function startTimer(options: TimerOptions): RunningTimer {
  const { schedule, nowMs, failed } = options
  const stopping = new AbortController()
  let sleeping: NodeJS.Timeout | undefined
  let lastRun: Promise<void> = Promise.resolve()
  let busyCount = 0
  let lastMs: number | undefined

  function runInTurn(): Promise<void> {
    busyCount++
    const turn = lastRun.then(async () => {
      if (stopping.signal.aborted) return
      const startedMs = nowMs()
      await runWithRetries(options, timerInfo(schedule, lastMs, startedMs), stopping.signal)
      lastMs = startedMs
    })
    lastRun = turn.catch(() => undefined).finally(() => busyCount--)
    return turn
  }

  function arm(): void {
    const dueMs = nextOccurrence(schedule, nowMs())
    if (dueMs !== undefined) sleepUntil(dueMs)
  }

  function sleepUntil(dueMs: number): void {
    if (stopping.signal.aborted) return
    const leftMs = dueMs - nowMs()
    if (leftMs > 0) sleeping = setTimeout(sleepUntil, Math.min(leftMs, LONGEST_SLEEP_MS), dueMs)
    else if (busyCount > 0) arm()
    else void runInTurn().catch(failed).finally(arm)
  }

  if (!options.isDisabled) arm()
  return {
    runByHand: runInTurn,
    async stop() {
      stopping.abort()
      clearTimeout(sleeping)
      await lastRun
    },
  }
}

async function runWithRetries({ run, retry }: TimerOptions, info: TimerInfo, stopping: AbortSignal): Promise<void> {
  let context: RpcRetryContext | undefined
  for (let attempt = 0; ; attempt++) {
    try {
      return await run(info, context)
    } catch (error) {
      const maxRetryCount = retry?.maxRetryCount ?? 0
      if (retry === undefined || stopping.aborted || (maxRetryCount >= 0 && attempt >= maxRetryCount)) throw error
      await pause((retry.delayInterval?.seconds ?? 0) * 1000, stopping)
      if (stopping.aborted) throw error
      context = { retryCount: attempt + 1, maxRetryCount }
    }
  }
}

/** Ends early when the timer stops. */
function pause(delayMs: number, stopping: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timeout = setTimeout(resolve, delayMs)
  const onStop = () => {
    clearTimeout(timeout)
    resolve()
  }
  stopping.addEventListener('abort', onStop, { once: true })
  return promise
}

/**
 * `IsPastDue` is always false: it reports occurrences missed while the app was down, which this stateless host does not
 * know.
 */
function timerInfo(schedule: Schedule, lastMs: number | undefined, nowMs: number): TimerInfo {
  const nextMs = nextOccurrence(schedule, nowMs)
  const last = lastMs === undefined ? NEVER : new Date(lastMs).toISOString()
  const next = nextMs === undefined ? NEVER : new Date(nextMs).toISOString()
  return {
    Schedule: { AdjustForDST: true },
    ScheduleStatus: { Last: last, LastUpdated: last, Next: next },
    IsPastDue: false,
  }
}
