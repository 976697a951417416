import { databaseCheck } from '../../shared/cosmos/database-check.ts'
import { readinessProbe } from '../../shared/http/readiness.ts'
import { queueCheck } from '../../shared/messaging/queue-check.ts'
import { busSettings, container, keys, log, nowMs } from './foundation.ts'

/** Whether what the service stands on can be used. */
export const readiness = readinessProbe({
  checks: {
    database: databaseCheck(container('tenants')),
    queue: queueCheck(busSettings),
    directoryKeys: () => keys.ready(),
  },
  log,
  nowMs,
})
