import { AzureMonitorMetricExporter, AzureMonitorTraceExporter } from '@azure/monitor-opentelemetry-exporter'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'

export type MonitorAccess = {
  /** Of Application Insights. */
  readonly connectionString: string
  /** Undefined: the connection string authenticates. */
  readonly managedIdentityClientId: string | undefined
}

export type MonitorExporters = { readonly traces: SpanExporter; readonly metrics: PushMetricExporter }

/** Opens the exporters of Azure Monitor. Only this module imports their package. Import it dynamically. */
export async function openExporters({ connectionString, managedIdentityClientId }: MonitorAccess) {
  const options = {
    connectionString,
    // The disk of a function instance is deleted with the instance.
    disableOfflineStorage: true,
    ...(managedIdentityClientId === undefined ? {} : { credential: await credentialOf(managedIdentityClientId) }),
  }
  return {
    traces: new AzureMonitorTraceExporter(options),
    metrics: new AzureMonitorMetricExporter(options),
  } satisfies MonitorExporters
}

async function credentialOf(clientId: string) {
  const { ManagedIdentityCredential } = await import('@azure/identity')
  return new ManagedIdentityCredential({ clientId })
}
