import type { MessageQueue } from './messages.ts'

/**
 * The messages of the service, a function for each queue, and their ids. Of several messages of one queue with the same
 * id, one can be delivered: `occasion` distinguishes those that must all be delivered.
 */
type Sender = { readonly messageQueue: MessageQueue }

/** The members of criteria collections are to be computed again. */
export async function enqueueEvaluation(
  tenantId: string,
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  await messageQueue.enqueue(
    { queue: 'evaluations', message: { tenantId } },
    { id: `${tenantId}:${occasion}`, delayMs },
  )
}

/** The members of a collection have changed, which has to reach its groups. */
export async function enqueueMembersChanged(
  { tenantId, collectionId }: { readonly tenantId: string; readonly collectionId: string },
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  const message = { tenantId, collectionId }
  await messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `${collectionId}:${occasion}`, delayMs })
}

/** A sync job is due. */
export async function enqueueSyncJob(
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  const message = { tenantId, jobId: id }
  await messageQueue.enqueue(
    { queue: 'sync-jobs', message },
    { id: `${id}:${occasion}`, delayMs: Math.max(0, delayMs) },
  )
}

/** The links of a tenant may need sync jobs. `afterRestore`: containers were restored, to slightly different times. */
export async function enqueueSweep(
  { tenantId, afterRestore = false }: { readonly tenantId: string; readonly afterRestore?: boolean },
  occasion: string,
  { messageQueue }: Sender,
): Promise<void> {
  const message = { tenantId, ...(afterRestore && { afterRestore }) }
  await messageQueue.enqueue({ queue: 'sweeps', message }, { id: `${tenantId}:${occasion}` })
}

/** Core objects may differ from the data of connectors. `after`: where an audit continues that began at `beganAtMs`. */
export async function enqueueAudit(
  message: {
    readonly tenantId: string
    readonly after?: string
    readonly stage?: 'keys' | undefined
    readonly beganAtMs?: number | undefined
  },
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  await messageQueue.enqueue({ queue: 'audits', message }, { id: `${message.tenantId}:${occasion}`, delayMs })
}

/** Events of a source, or of the members of collections, are to be published. Without both, all of the tenant. */
export async function enqueuePublishing(
  message: { readonly tenantId: string; readonly source?: string; readonly collectionIds?: readonly string[] },
  occasion: string,
  { messageQueue }: Sender,
): Promise<void> {
  await messageQueue.enqueue({ queue: 'events', message }, { id: `${message.tenantId}:${occasion}` })
}

/** Events are due for a subscription. */
export async function enqueueDelivery(
  { tenantId, subscriptionId }: { readonly tenantId: string; readonly subscriptionId: string },
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  const message = { tenantId, subscriptionId }
  await messageQueue.enqueue({ queue: 'event-deliveries', message }, { id: `${subscriptionId}:${occasion}`, delayMs })
}

/** Mails of the tenant are due. */
export async function enqueueMails(
  tenantId: string,
  occasion: string,
  { messageQueue }: Sender,
  delayMs = 0,
): Promise<void> {
  await messageQueue.enqueue(
    { queue: 'mails', message: { tenantId } },
    { id: `${tenantId}:${occasion}`, delayMs: Math.max(0, delayMs) },
  )
}

/** Something of the tenant ends at `dueAtMs`, when the message is delivered. */
export async function enqueueDeadline(
  { tenantId, dueAtMs }: { readonly tenantId: string; readonly dueAtMs: number },
  occasion: string,
  { messageQueue, nowMs }: Sender & { nowMs(): number },
): Promise<void> {
  const id = `due:${tenantId}:${dueAtMs}${occasion}`
  const delayMs = Math.max(0, dueAtMs - nowMs())
  await messageQueue.enqueue({ queue: 'deadlines', message: { tenantId, dueAtMs } }, { id, delayMs })
}
