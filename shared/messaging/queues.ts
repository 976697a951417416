/** A queue of the namespace. */
export type QueueDefinition = {
  readonly name: string
  /** Seconds a received message stays hidden from other receivers; Service Bus allows at most 300. */
  readonly lockDurationS: number
  /** Deliveries before a message goes to the dead-letter queue. */
  readonly maxDeliveryCount: number
  /**
   * Whether the messages of a tenant are a session: one instance receives them as long as they come, for some minutes
   * at most: host.json. When an instance ends without releasing a session, it stays locked for `lockDurationS`.
   * Default: false.
   */
  readonly requiresSession?: boolean
}

/** All queues. The sender, triggers, the local broker and the templates' tests use this list. */
export const QUEUES = [
  { name: 'audits', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'membership-changes', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sweeps', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'sync-jobs', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'tenant-evaluations', lockDurationS: 60, maxDeliveryCount: 10, requiresSession: true },
] as const satisfies readonly QueueDefinition[]

export type QueueName = (typeof QUEUES)[number]['name']

/** Whether the messages of a tenant in this queue are a session. */
export function hasSessions(queueName: QueueName): boolean {
  const queues: readonly QueueDefinition[] = QUEUES
  return queues.some(({ name, requiresSession = false }) => name === queueName && requiresSession)
}
