/** A queue of the namespace. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds a received message stays hidden from other receivers; Service Bus allows at most 300. */
  readonly lockDurationS: number
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxDeliveryCount: number
}

/** All queues. The sender, triggers, the local broker and the templates' tests use this list. */
export const QUEUES = [
  { name: 'audits', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'deadlines', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'event-deliveries', lockDurationS: 60, maxDeliveryCount: 10 },
  { name: 'evaluations', lockDurationS: 15, maxDeliveryCount: 10 },
  { name: 'events', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'mails', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'membership-changes', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sweeps', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sync-jobs', lockDurationS: 300, maxDeliveryCount: 10 },
] as const satisfies readonly QueueDefinition[]

export type QueueName = (typeof QUEUES)[number]['name']
