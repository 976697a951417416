import { app } from '@azure/functions'
import type { Telemetry } from '../../shared/telemetry/telemetry.ts'
import { log, observeBy } from './observation.ts'
import { settings } from './settings.ts'

const { monitorConnectionString: connectionString, managedIdentityClientId } = settings

// What the service observes of itself is exported where the settings name somewhere to. The packages are loaded then
// alone, and when the app starts, not with its code.
if (connectionString !== undefined) {
  let opened: Promise<Telemetry | undefined> | undefined

  // Tells the host that this process exports for itself.
  app.setup({ capabilities: { WorkerOpenTelemetryEnabled: true } })

  app.hook.appStart(async () => {
    opened ??= openTelemetry(connectionString)
    observeBy(await opened)
  })

  app.hook.appTerminate(async () => {
    const telemetry = await opened
    opened = undefined
    observeBy(undefined)
    await telemetry?.close().catch((error: unknown) => log.error('telemetry.not-closed', error))
  })
}

/** Undefined when it cannot be had: the service works all the same. */
async function openTelemetry(connectionString: string): Promise<Telemetry | undefined> {
  try {
    const { openAzureMonitor } = await import('../../shared/telemetry/azure-monitor.ts')
    const onFault = (fault: string) => log.error('telemetry.fault', new Error(fault))
    return await openAzureMonitor({ connectionString, managedIdentityClientId, onFault })
  } catch (error) {
    log.error('telemetry.not-opened', error)
    return undefined
  }
}
