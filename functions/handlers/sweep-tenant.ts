import { sweepTenant } from '../../shared/domain/links/sweep.ts'
import { SweepMessage } from '../../shared/messaging/messages.ts'
import { linkDependencies } from '../host/group-link.ts'
import { messageHandler } from '../host/message-handler.ts'

export const handle = messageHandler('sweeps', SweepMessage, ({ tenantId }) => sweepTenant(tenantId, linkDependencies))
