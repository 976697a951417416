import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { SweepMessage } from '../../shared/messaging/queues.ts'
import { linkDependencies } from '../app/group-link.ts'
import { messageHandler } from '../app/message-handler.ts'

export const handle = messageHandler('sweeps', SweepMessage, ({ tenantId }) => sweepTenant(tenantId, linkDependencies))
