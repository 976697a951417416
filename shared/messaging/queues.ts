import { Type } from 'typebox'
import { Closed, Guid } from '../kernel/schema.ts'

/** A queue of the namespace. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds a received message stays hidden from other receivers; Service Bus allows at most 300. */
  readonly lockDurationS: number
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxDeliveryCount: number
  /**
   * Whether the messages of a tenant are a session: one instance receives them as long as they come. When an instance
   * ends without releasing a session, it stays locked for `lockDurationS`. Default: false.
   */
  readonly requiresSession?: boolean
}

/** All queues. The sender, triggers, the local broker and the templates' tests use this list. */
export const QUEUES = [
  { name: 'audits', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'evaluations', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'membership-changes', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sweeps', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sync-jobs', lockDurationS: 300, maxDeliveryCount: 10 },
] as const satisfies readonly QueueDefinition[]

export type QueueName = (typeof QUEUES)[number]['name']

/** The schemas of the messages. They contain ids only. */
export const EvaluationMessage = Closed({ tenantId: Guid })
export const MembershipChangeMessage = Closed({ tenantId: Guid, collectionId: Guid })
export const SweepMessage = Closed({ tenantId: Guid })
/** `after`: the core object after which an audit continues that began at `beganAtMs`. */
export const AuditMessage = Closed({
  tenantId: Guid,
  after: Type.Optional(Guid),
  beganAtMs: Type.Optional(Type.Number()),
})
export const SyncJobMessage = Closed({ tenantId: Guid, jobId: Guid })
