import {
  AI_OPERATION_NAME,
  AzureMonitorMetricExporter,
  AzureMonitorTraceExporter,
} from '@azure/monitor-opentelemetry-exporter'
import { type DiagLogger, DiagLogLevel, diag, SpanKind } from '@opentelemetry/api'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { openTelemetry, type Telemetry } from './telemetry.ts'

export type MonitorSettings = {
  /** Of Application Insights. */
  readonly connectionString: string
  /** Where there is none, the connection string alone has to do. */
  readonly managedIdentityClientId: string | undefined
  /** Told of what cannot be exported. */
  onFault(fault: string): void
}

/** Alerts look at minutes. */
const METRICS_EVERY_MS = 60_000

/**
 * Traces and metrics to Azure Monitor. This module is the only one that knows its packages, and is imported where they
 * are wanted: they take a quarter of a second to load.
 */
export async function openAzureMonitor({
  connectionString,
  managedIdentityClientId,
  onFault,
}: MonitorSettings): Promise<Telemetry> {
  diag.setLogger(faultsOnly(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const options = {
    connectionString,
    // The disk of a function instance ends with it.
    disableOfflineStorage: true,
    ...(managedIdentityClientId === undefined ? {} : { credential: await credentialOf(managedIdentityClientId) }),
  }
  return openTelemetry(
    [namedMessages, new BatchSpanProcessor(new AzureMonitorTraceExporter(options))],
    new PeriodicExportingMetricReader({
      exporter: new AzureMonitorMetricExporter(options),
      exportIntervalMillis: METRICS_EVERY_MS,
    }),
  )
}

async function credentialOf(clientId: string) {
  const { ManagedIdentityCredential } = await import('@azure/identity')
  return new ManagedIdentityCredential({ clientId })
}

/** The SDK's own words, of which only its errors are wanted. */
function faultsOnly(onFault: (fault: string) => void): DiagLogger {
  const silent = () => undefined
  const error = (message: string, ...details: unknown[]) => onFault([message, ...details.map(String)].join(' '))
  return { error, warn: silent, info: silent, debug: silent, verbose: silent }
}

/** The exporter drops the names of message spans, unless they stand in an attribute of its own. */
const namedMessages: SpanProcessor = {
  onStart: (span) => void (span.kind === SpanKind.CONSUMER && span.setAttribute(AI_OPERATION_NAME, span.name)),
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}
