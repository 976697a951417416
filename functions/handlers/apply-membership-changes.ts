import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { MembershipChangeMessage } from '../../shared/messaging/queues.ts'
import { linkDependencies } from '../app/group-link.ts'
import { messageHandler } from '../app/message-handler.ts'

export const handle = messageHandler('membership-changes', MembershipChangeMessage, (message, { sinceMs }) =>
  syncIncrementally(message, linkDependencies, sinceMs),
)
