import { syncIncrementally } from '../../shared/domain/links/apply-membership-changes.ts'
import { MembershipChangeMessage } from '../../shared/messaging/messages.ts'
import { linkDependencies } from '../host/group-link.ts'
import { messageHandler } from '../host/message-handler.ts'

export const handle = messageHandler('membership-changes', MembershipChangeMessage, (message, { sinceMs }) =>
  syncIncrementally(message, linkDependencies, sinceMs),
)
