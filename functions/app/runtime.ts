import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../../shared/kernel/log.ts'
import { type Metrics, NO_METRICS } from '../../shared/kernel/metrics.ts'
import { invocationDetails } from '../../shared/kernel/tracing.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'

/**
 * What every part of the service uses: time, ids, random numbers, log and metrics. Only the composition root, with this
 * file, reads the clock and makes random ids.
 */
export type Runtime = {
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
}

export type ObservedRuntime = Runtime & {
  /** From now on, records metrics to this recorder. Without an argument, records nothing. */
  readonly recordMetricsTo: (recorder?: Metrics) => void
}

/** Loads no package. Parts that `overrides` names take the place of the real ones. */
export function buildRuntime(
  { logLevel }: Pick<Settings, 'logLevel'>,
  overrides: Partial<Runtime> = {},
): ObservedRuntime {
  let recorder = NO_METRICS
  const nowMs = overrides.nowMs ?? (() => Date.now())
  const elapsedMs = overrides.elapsedMs ?? (() => performance.now())
  const writeLine = (line: string): void => void process.stdout.write(`${line}\n`)
  return {
    nowMs,
    elapsedMs,
    newId: overrides.newId ?? (() => randomUUID()),
    random: overrides.random ?? (() => Math.random()),
    sleep: overrides.sleep ?? ((delayMs) => setTimeout(delayMs)),
    log: overrides.log ?? jsonLog(logLevel, writeLine, nowMs, invocationDetails),
    metrics: overrides.metrics ?? { record: (...measured) => recorder.record(...measured) },
    recordMetricsTo: (other = NO_METRICS) => {
      recorder = other
    },
  }
}
