import { Closed, Guid } from '../kernel/schema.ts'

/** One queue of the namespace, as the templates declare it and the local broker creates it. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds a received message stays hidden from other receivers; Service Bus allows at most 300. */
  readonly lockDurationS: number
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxDeliveryCount: number
}

/** Every queue there is. Sender, triggers, local broker and templates read this list. */
export const QUEUES = [
  { name: 'evaluations', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'membership-changes', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sweeps', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sync-jobs', lockDurationS: 300, maxDeliveryCount: 10 },
] as const satisfies readonly QueueDefinition[]

export type QueueName = (typeof QUEUES)[number]['name']

/** The messages of each queue: names of things to look at, and nothing else. */
export const EvaluationMessage = Closed({ tenantId: Guid })
export const MembershipChangeMessage = Closed({ tenantId: Guid, collectionId: Guid })
export const SweepMessage = Closed({ tenantId: Guid })
export const SyncJobMessage = Closed({ tenantId: Guid, jobId: Guid })
