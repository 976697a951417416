import { databaseCheck } from '../../shared/cosmos/database-check.ts'
import { readinessCheck } from '../../shared/http/probes.ts'
import { queueCheck } from '../../shared/messaging/message-sender.ts'
import { nowMs } from './clock.ts'
import { busSettings, container, keys } from './foundation.ts'
import { log } from './observation.ts'

/** Whether what the service stands on can be used. */
export const readiness = readinessCheck({
  checks: {
    database: databaseCheck(container('tenants')),
    queue: queueCheck(busSettings),
    directoryKeys: () => keys.ready(),
  },
  log,
  nowMs,
})
