import { type Metrics, NO_METRICS } from '../../shared/kernel/metrics.ts'
import { type Tracer, UNTRACED } from '../../shared/kernel/tracing.ts'
import { trackedActivities } from '../../shared/telemetry/activities.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'
import { nowMs } from './clock.ts'
import { settings } from './settings.ts'

type Observers = { readonly tracer: Tracer; readonly metrics: Metrics }

const UNOBSERVED: Observers = { tracer: UNTRACED, metrics: NO_METRICS }

let observers = UNOBSERVED

/** Has everything recorded by these from now on; by nobody without any. */
export function observeBy(others: Observers | undefined): void {
  observers = others ?? UNOBSERVED
}

export const metrics: Metrics = { record: (...measured) => observers.metrics.record(...measured) }

export const activities = trackedActivities({ start: (...started) => observers.tracer.start(...started) }, nowMs)

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`)

export const log = jsonLog(settings.logLevel, writeLine, nowMs, activities.logDetails)
