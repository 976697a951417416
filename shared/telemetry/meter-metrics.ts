import type { Meter } from '@opentelemetry/api'
import { METRICS, type MetricName, type Metrics } from '../kernel/metrics.ts'

type Instrument = (value: number, dimensions: Readonly<Record<string, string | number>>) => void

/** Measures as instruments of OpenTelemetry, one for each in the list. */
export function meterMetrics(meter: Meter): Metrics {
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
