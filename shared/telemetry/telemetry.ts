import { type Meter, trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { type IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics'
import { AlwaysOnSampler, BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { METRICS, type MetricName, type Metrics } from '../kernel/metrics.ts'
import { TRACER_NAME } from '../kernel/tracing.ts'

/** Records metrics, and the spans of the whole process, until it is closed. */
export type Telemetry = {
  readonly metrics: Metrics
  /** Exports what is still buffered, and stops recording spans. */
  close(): Promise<void>
}

/** Opens OpenTelemetry's SDK on these exporters and registers it for `kernel/tracing`. One can be open at a time. */
export function openTelemetry(spanProcessors: SpanProcessor[], metricReader: IMetricReader): Telemetry {
  const resource = resourceFromAttributes({ 'service.name': TRACER_NAME })
  const tracing = new BasicTracerProvider({
    resource,
    // Ignores the trace flags of the caller: a caller must not be able to hide its requests from the operator.
    sampler: new AlwaysOnSampler(),
    spanProcessors,
  })
  const metering = new MeterProvider({ resource, readers: [metricReader] })
  trace.setGlobalTracerProvider(tracing)
  return {
    metrics: meterMetrics(metering.getMeter(TRACER_NAME)),
    async close() {
      trace.disable()
      await Promise.all([tracing.shutdown(), metering.shutdown()])
    },
  }
}

type Instrument = (value: number, dimensions: Readonly<Record<string, string | number>>) => void

/** One OpenTelemetry instrument for each metric of the list. */
function meterMetrics(meter: Meter): Metrics {
  const instruments = new Map<MetricName, Instrument>()
  for (const name of Object.keys(METRICS) as MetricName[]) instruments.set(name, instrument(meter, name))
  return { record: (name, value, dimensions) => instruments.get(name)?.(value, dimensions) }
}

function instrument(meter: Meter, name: MetricName): Instrument {
  const { kind, unit, meaning: description } = METRICS[name]
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, { unit, description })
      return (value, dimensions) => counter.add(value, dimensions)
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, { unit, description })
      return (value, dimensions) => histogram.record(value, dimensions)
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, { unit, description })
      return (value, dimensions) => gauge.record(value, dimensions)
    }
  }
}
