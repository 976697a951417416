import { app } from '@azure/functions'
import { applyMembershipChanges } from '../shared/domain/links/apply-membership-changes.ts'
import { MembershipChangeMessage } from '../shared/messaging/messages.ts'
import { linkDependencies } from './host/group-link.ts'
import { queueFunction } from './host/queue-function.ts'

app.serviceBusQueue(
  'apply-membership-changes',
  queueFunction('membership-changes', MembershipChangeMessage, (message, { sinceMs }) =>
    applyMembershipChanges(message, linkDependencies, sinceMs),
  ),
)
