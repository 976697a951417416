import { app } from '@azure/functions'
import { sweepTenant } from '../shared/domain/links/sweep.ts'
import { SweepMessage } from '../shared/messaging/messages.ts'
import { linkDependencies } from './host/group-link.ts'
import { queueFunction } from './host/queue-function.ts'

app.serviceBusQueue(
  'sweep-tenant',
  queueFunction('sweeps', SweepMessage, ({ tenantId }) => sweepTenant(tenantId, linkDependencies)),
)
