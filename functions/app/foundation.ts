import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../../shared/kernel/log.ts'
import { type Metrics, NO_METRICS } from '../../shared/kernel/metrics.ts'
import { type Tracer, UNTRACED } from '../../shared/kernel/tracing.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { type TrackedActivities, trackedActivities } from '../../shared/telemetry/activities.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'

/**
 * What every part of the service uses: time, ids, random numbers, log, metrics and traces. The composition root, of which
 * this file is a part, is the only place that reads the clock and makes random ids.
 */
export type Foundation = {
  /** Milliseconds since 1970, UTC. */
  readonly nowMs: () => number
  /** Milliseconds since an arbitrary start. Does not jump when the clock is set. */
  readonly elapsedMs: () => number
  /** A random GUID. */
  readonly newId: () => string
  /** From 0 up to 1, evenly distributed. */
  readonly random: () => number
  readonly sleep: (delayMs: number) => Promise<void>
  readonly log: Log
  readonly metrics: Metrics
  readonly activities: TrackedActivities
}

/** Where spans and metrics are exported to. */
export type Observers = { readonly tracer: Tracer; readonly metrics: Metrics }

const NO_OBSERVERS: Observers = { tracer: UNTRACED, metrics: NO_METRICS }

export type ObservedFoundation = Foundation & {
  /** From now on, exports spans and metrics to these observers. Without an argument, exports nothing. */
  readonly observeBy: (observers?: Observers) => void
}

/** Loads no package. Parts that `overrides` names take the place of the real ones. */
export function buildFoundation(
  { logLevel }: Pick<Settings, 'logLevel'>,
  overrides: Partial<Foundation> = {},
): ObservedFoundation {
  let observers = NO_OBSERVERS
  const nowMs = overrides.nowMs ?? (() => Date.now())
  const elapsedMs = overrides.elapsedMs ?? (() => performance.now())
  const activities =
    overrides.activities ?? trackedActivities({ start: (...started) => observers.tracer.start(...started) }, nowMs)
  const writeLine = (line: string): void => void process.stdout.write(`${line}\n`)
  return {
    nowMs,
    elapsedMs,
    newId: overrides.newId ?? (() => randomUUID()),
    random: overrides.random ?? (() => Math.random()),
    sleep: overrides.sleep ?? ((delayMs) => setTimeout(delayMs)),
    log: overrides.log ?? jsonLog(logLevel, writeLine, nowMs, activities.logDetails),
    metrics: overrides.metrics ?? { record: (...measured) => observers.metrics.record(...measured) },
    activities,
    observeBy: (others = NO_OBSERVERS) => {
      observers = others
    },
  }
}
