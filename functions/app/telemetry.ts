import { app } from '@azure/functions'
import type { Telemetry } from '../../shared/telemetry/telemetry.ts'
import { settings } from './settings.ts'

const { monitorConnectionString: connectionString, managedIdentityClientId } = settings

// The packages of telemetry are loaded only where the settings name a destination, and at the start of the app, not
// with its code.
if (connectionString !== undefined) {
  let opened: Promise<Telemetry | undefined> | undefined

  // Tells the host that this process exports its own telemetry.
  app.setup({ capabilities: { WorkerOpenTelemetryEnabled: true } })

  app.hook.appStart(async () => {
    const { recordMetricsTo } = await import('./observation.ts')
    opened ??= openTelemetry(connectionString)
    recordMetricsTo((await opened)?.metrics)
  })

  app.hook.appTerminate(async () => {
    const { log, recordMetricsTo } = await import('./observation.ts')
    const telemetry = await opened
    opened = undefined
    recordMetricsTo(undefined)
    await telemetry?.close().catch((error: unknown) => log.error('telemetry.close-failed', error))
  })
}

/** Undefined when telemetry cannot be opened: the service works without it. */
async function openTelemetry(connectionString: string): Promise<Telemetry | undefined> {
  const { log } = await import('./observation.ts')
  try {
    const { openAzureMonitor } = await import('../../shared/telemetry/azure-monitor.ts')
    const onFault = (fault: string) => log.error('telemetry.export-failed', new Error(fault))
    return await openAzureMonitor({ connectionString, managedIdentityClientId, onFault })
  } catch (error) {
    log.error('telemetry.open-failed', error)
    return undefined
  }
}
