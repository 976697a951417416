import { Type } from 'typebox'
import { Guid } from '../kernel/schema.ts'

/**
 * The schemas of the messages. They contain ids only. They are open: the next version of the service may add members,
 * and both versions receive messages of both during a deployment.
 */
export const EvaluationMessage = Type.Object({ tenantId: Guid })
export const MembershipChangeMessage = Type.Object({ tenantId: Guid, collectionId: Guid })
/** `afterRestore`: the tenant's containers were restored, to slightly different times. */
export const SweepMessage = Type.Object({ tenantId: Guid, afterRestore: Type.Optional(Type.Boolean()) })
/** `dueAtMs`: a time at which something of the tenant ends. */
export const DeadlineMessage = Type.Object({ tenantId: Guid, dueAtMs: Type.Number() })
/**
 * `after`: the core object after which an audit continues that began at `beganAtMs`. `stage`: first, only the join keys are
 * stored by which identities find each other.
 */
export const AuditMessage = Type.Object({
  tenantId: Guid,
  after: Type.Optional(Guid),
  stage: Type.Optional(Type.Literal('keys')),
  beganAtMs: Type.Optional(Type.Number()),
})
/**
 * The records whose events are to be published, and the collections whose members have changed. Without a source, all.
 */
export const EventMessage = Type.Object({
  tenantId: Guid,
  source: Type.Optional(Type.String()),
  collectionIds: Type.Optional(Type.Array(Guid)),
})
export const EventDeliveryMessage = Type.Object({ tenantId: Guid, subscriptionId: Guid })
/** Mails to people of the tenant can be due. */
export const MailMessage = Type.Object({ tenantId: Guid })
export const SyncJobMessage = Type.Object({ tenantId: Guid, jobId: Guid })
