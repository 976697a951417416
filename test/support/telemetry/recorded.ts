import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { openTelemetry, type Telemetry } from '../../../shared/telemetry/telemetry.ts'

export type RecordedValue = {
  readonly name: string
  /** The sum of a histogram. */
  readonly value: number
  readonly dimensions: Readonly<Record<string, unknown>>
}

export type RecordedTelemetry = Telemetry & {
  /** Spans that have ended, the first to end first. */
  spans(): ReadableSpan[]
  values(): Promise<RecordedValue[]>
  clear(): void
}

/** Telemetry that stays in memory. */
export function recordedTelemetry(): RecordedTelemetry {
  const spanExporter = new InMemorySpanExporter()
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter })
  return {
    ...openTelemetry([new SimpleSpanProcessor(spanExporter)], reader),
    spans: () => spanExporter.getFinishedSpans(),
    async values() {
      await reader.forceFlush()
      return metricExporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ value, attributes }) => ({
            name: descriptor.name,
            value: typeof value === 'number' ? value : (value.sum ?? Number.NaN),
            dimensions: attributes,
          })),
        )
    },
    clear() {
      spanExporter.reset()
      metricExporter.reset()
    },
  }
}
