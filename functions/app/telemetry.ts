import { app } from '@azure/functions'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry.ts'
import type { ObservedFoundation } from './foundation.ts'

/**
 * Exports spans and metrics, where the settings name an Application Insights resource. The packages are loaded only
 * then, and when the app starts rather than with its code.
 */
export function exportTelemetry(settings: Settings, loadFoundation: () => Promise<ObservedFoundation>): void {
  const { monitorConnectionString } = settings
  if (monitorConnectionString === undefined) return
  let opened: Promise<Telemetry | undefined> | undefined

  // This capability stops the host from exporting for the process.
  app.setup({ capabilities: { WorkerOpenTelemetryEnabled: true } })

  app.hook.appStart(async () => {
    const foundation = await loadFoundation()
    opened ??= openTelemetry(monitorConnectionString, settings, foundation)
    foundation.recordMetricsTo((await opened)?.metrics)
  })

  app.hook.appTerminate(async () => {
    const { log, recordMetricsTo } = await loadFoundation()
    const telemetry = await opened
    opened = undefined
    recordMetricsTo()
    await telemetry?.close().catch((error: unknown) => log.error('telemetry.close-failed', error))
  })
}

/** Undefined when it cannot be opened: the service works without it. */
async function openTelemetry(
  connectionString: string,
  { managedIdentityClientId }: Settings,
  { log }: ObservedFoundation,
): Promise<Telemetry | undefined> {
  try {
    const { openAzureMonitor } = await import('../../shared/telemetry/azure-monitor.ts')
    const onFault = (fault: string) => log.error('telemetry.export-failed', new Error(fault))
    return await openAzureMonitor({ connectionString, managedIdentityClientId, onFault })
  } catch (error) {
    log.error('telemetry.open-failed', error)
    return undefined
  }
}
