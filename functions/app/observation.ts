import { type Metrics, NO_METRICS } from '../../shared/kernel/metrics.ts'
import { invocationDetails } from '../../shared/kernel/tracing.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'
import { nowMs } from './clock.ts'
import { settings } from './settings.ts'

let recorded = NO_METRICS

/** Records metrics here from now on; undefined records none. */
export function recordMetricsTo(recorder: Metrics | undefined): void {
  recorded = recorder ?? NO_METRICS
}

export const metrics: Metrics = { record: (...measured) => recorded.record(...measured) }

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`)

export const log = jsonLog(settings.logLevel, writeLine, nowMs, invocationDetails)
