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
  /** Undefined: the connection string authenticates. */
  readonly managedIdentityClientId: string | undefined
  /** Called when an export fails. */
  onFault(fault: string): void
}

/** Alerts evaluate metrics per minute. */
const METRICS_EVERY_MS = 60_000

/**
 * Opens telemetry that exports traces and metrics to Azure Monitor. Only this module imports its packages, which take a
 * quarter of a second to load. Import it dynamically.
 */
export async function openAzureMonitor({
  connectionString,
  managedIdentityClientId,
  onFault,
}: MonitorSettings): Promise<Telemetry> {
  diag.setLogger(faultsOnly(onFault), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const options = {
    connectionString,
    // The disk of a function instance is deleted with the instance.
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

/** Passes on the SDK's errors and drops its other diagnostics. */
function faultsOnly(onFault: (fault: string) => void): DiagLogger {
  const silent = () => undefined
  const error = (message: string, ...details: unknown[]) => onFault([message, ...details.map(String)].join(' '))
  return { error, warn: silent, info: silent, debug: silent, verbose: silent }
}

/** Copies the name of a message span to the attribute from which the exporter reads it. */
const namedMessages: SpanProcessor = {
  onStart: (span) => void (span.kind === SpanKind.CONSUMER && span.setAttribute(AI_OPERATION_NAME, span.name)),
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}
