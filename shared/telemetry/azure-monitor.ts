import { type DiagLogger, DiagLogLevel, diag, SpanKind } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import {
  AggregationTemporality,
  InstrumentType,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { MonitorAccess, MonitorExporters } from './monitor-exporters.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'

export type MonitorSettings = MonitorAccess & {
  /** Called when an export fails. */
  onFault(fault: string): void
}

/** Alerts evaluate metrics per minute. */
const METRICS_EVERY_MS = 60_000

/** The attribute that the exporter takes a span's name from: its constant `AI_OPERATION_NAME`. */
const OPERATION_NAME = 'ai.operation.name'

/**
 * Opens telemetry that exports traces and metrics to Azure Monitor. It records at once. The exporters, which take a
 * fifth of a second to load, are loaded for the first export: seconds after the first span has ended. Import this
 * module dynamically.
 */
export function openAzureMonitor({ onFault, ...access }: MonitorSettings): Telemetry {
  diag.setLogger(faultsOnly(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  let opened: Promise<MonitorExporters> | undefined
  const open = (): Promise<MonitorExporters> => {
    opened ??= import('./monitor-exporters.ts').then(({ openExporters }) => openExporters(access))
    return opened
  }
  const isOpen = () => opened !== undefined
  return openTelemetry(
    [namedMessages, new BatchSpanProcessor(lateSpanExporter(open, isOpen))],
    new PeriodicExportingMetricReader({
      exporter: lateMetricExporter(open, isOpen),
      exportIntervalMillis: METRICS_EVERY_MS,
    }),
  )
}

type Open = () => Promise<MonitorExporters>

function lateSpanExporter(open: Open, isOpen: () => boolean): SpanExporter {
  return {
    export: (spans, done) => whenOpen(open, done, ({ traces }) => traces.export(spans, done)),
    shutdown: async () => (isOpen() ? (await open()).traces.shutdown() : undefined),
  }
}

function lateMetricExporter(open: Open, isOpen: () => boolean): PushMetricExporter {
  return {
    export: (metrics, done) => whenOpen(open, done, (exporters) => exporters.metrics.export(metrics, done)),
    // As the exporter of Azure Monitor selects it.
    selectAggregationTemporality: (type) =>
      UP_AND_DOWN.includes(type) ? AggregationTemporality.CUMULATIVE : AggregationTemporality.DELTA,
    forceFlush: () => Promise.resolve(),
    shutdown: async () => (isOpen() ? (await open()).metrics.shutdown() : undefined),
  }
}

const UP_AND_DOWN: readonly InstrumentType[] = [
  InstrumentType.UP_DOWN_COUNTER,
  InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
]

/** The SDK reports a failed export to its diagnostics. */
function whenOpen(
  open: Open,
  done: (result: ExportResult) => void,
  start: (exporters: MonitorExporters) => unknown,
): void {
  open()
    .then(start)
    .catch((error: unknown) =>
      done({ code: ExportResultCode.FAILED, error: error instanceof Error ? error : new Error(String(error)) }),
    )
}

/** Passes on the SDK's errors and drops its other diagnostics. */
function faultsOnly(onFault: (fault: string) => void): DiagLogger {
  const silent = () => undefined
  const error = (message: string, ...details: unknown[]) => onFault([message, ...details.map(String)].join(' '))
  return { error, warn: silent, info: silent, debug: silent, verbose: silent }
}

/** Copies the name of a message span to the attribute from which the exporter reads it. */
const namedMessages: SpanProcessor = {
  onStart: (span) => void (span.kind === SpanKind.CONSUMER && span.setAttribute(OPERATION_NAME, span.name)),
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}
