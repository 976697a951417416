import { app } from '@azure/functions'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry.ts'
import type { ObservedRuntime } from './runtime.ts'

/**
 * Exports spans and metrics, where the settings name an Application Insights resource.
 * @returns the function that opens telemetry. Each observed invocation calls it before its span starts: the first one
 * loads the packages, so that the app starts without them.
 */
export function exportTelemetry(
  settings: Settings,
  loadRuntime: () => Promise<ObservedRuntime>,
): () => Promise<unknown> {
  const { monitorConnectionString } = settings
  if (monitorConnectionString === undefined) return async () => undefined
  let opened: Promise<Telemetry | undefined> | undefined

  // This capability stops the host from exporting for the process.
  app.setup({ capabilities: { WorkerOpenTelemetryEnabled: true } })

  app.hook.appTerminate(async () => {
    if (opened === undefined) return
    const { log, recordMetricsTo } = await loadRuntime()
    const telemetry = await opened
    opened = undefined
    recordMetricsTo()
    await telemetry?.close().catch((error: unknown) => log.error('telemetry.close-failed', error))
  })

  return () => {
    opened ??= openTelemetry(monitorConnectionString, settings, loadRuntime)
    return opened
  }
}

/** Undefined when it cannot be opened: the service works without it. */
async function openTelemetry(
  connectionString: string,
  { managedIdentityClientId }: Settings,
  loadRuntime: () => Promise<ObservedRuntime>,
): Promise<Telemetry | undefined> {
  const { log, recordMetricsTo } = await loadRuntime()
  try {
    const { openAzureMonitor } = await import('../../shared/telemetry/azure-monitor.ts')
    const onFault = (fault: string) => log.error('telemetry.export-failed', new Error(fault))
    const telemetry = openAzureMonitor({ connectionString, managedIdentityClientId, onFault })
    recordMetricsTo(telemetry.metrics)
    return telemetry
  } catch (error) {
    log.error('telemetry.open-failed', error)
    return undefined
  }
}
