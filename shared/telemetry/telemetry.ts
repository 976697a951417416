import { resourceFromAttributes } from '@opentelemetry/resources'
import { type IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics'
import { AlwaysOnSampler, BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Metrics } from '../kernel/metrics.ts'
import type { Tracer } from '../kernel/tracing.ts'
import { meterMetrics } from './meter-metrics.ts'
import { spanTracer } from './span-tracer.ts'

const SERVICE_NAME = 'collections-service'

/** Records spans and measures until it is closed. */
export type Telemetry = {
  readonly tracer: Tracer
  readonly metrics: Metrics
  /** Exports what is still here. */
  close(): Promise<void>
}

/** Telemetry by OpenTelemetry's own SDK, to whatever these export to. */
export function openTelemetry(spanProcessors: SpanProcessor[], metricReader: IMetricReader): Telemetry {
  const resource = resourceFromAttributes({ 'service.name': SERVICE_NAME })
  const tracing = new BasicTracerProvider({
    resource,
    // Whatever the trace's flags say: a caller must not be able to hide its requests from the operator.
    sampler: new AlwaysOnSampler(),
    spanProcessors,
  })
  const metering = new MeterProvider({ resource, readers: [metricReader] })
  return {
    tracer: spanTracer(tracing.getTracer(SERVICE_NAME)),
    metrics: meterMetrics(metering.getMeter(SERVICE_NAME)),
    async close() {
      await Promise.all([tracing.shutdown(), metering.shutdown()])
    },
  }
}
