import type { MessageOf, MessageQueue } from './messages.ts'

/**
 * The messages of the service, a function for each queue, and their ids. Of several messages of one queue with the same
 * id, one can be delivered: `occasion` distinguishes those that must all be delivered.
 */
type Sender = { readonly messageQueue: MessageQueue }

const send = (
  { messageQueue }: Sender,
  message: Parameters<MessageQueue['enqueue']>[0],
  id: string,
  delayMs = 0,
): Promise<void> => messageQueue.enqueue(message, { id, delayMs: Math.max(0, delayMs) })

/** The members of criteria collections are to be computed again. */
export function enqueueEvaluation(tenantId: string, occasion: string, to: Sender, delayMs?: number): Promise<void> {
  return send(to, { queue: 'evaluations', message: { tenantId } }, `${tenantId}:${occasion}`, delayMs)
}

/** The members of a collection have changed, which has to reach its groups. */
export function enqueueMembersChanged(
  { tenantId, collectionId }: MessageOf<'membership-changes'>,
  occasion: string,
  to: Sender,
  delayMs?: number,
): Promise<void> {
  const message = { tenantId, collectionId }
  return send(to, { queue: 'membership-changes', message }, `${collectionId}:${occasion}`, delayMs)
}

/** A sync job is due. */
export function enqueueSyncJob(
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  occasion: string,
  to: Sender,
  delayMs?: number,
): Promise<void> {
  return send(to, { queue: 'sync-jobs', message: { tenantId, jobId: id } }, `${id}:${occasion}`, delayMs)
}

/** The links of a tenant may need sync jobs. `afterRestore`: containers were restored, to slightly different times. */
export function enqueueSweep(
  { tenantId, afterRestore = false }: MessageOf<'sweeps'>,
  occasion: string,
  to: Sender,
): Promise<void> {
  const message = { tenantId, ...(afterRestore && { afterRestore }) }
  return send(to, { queue: 'sweeps', message }, `${tenantId}:${occasion}`)
}

/** Core objects may differ from the data of connectors. `after`: where an audit continues that began at `beganAtMs`. */
export function enqueueAudit(
  message: MessageOf<'audits'>,
  occasion: string,
  to: Sender,
  delayMs?: number,
): Promise<void> {
  return send(to, { queue: 'audits', message }, `${message.tenantId}:${occasion}`, delayMs)
}

/** Events of a source, or of the members of collections, are to be published. Without both, all of the tenant. */
export function enqueuePublishing(message: MessageOf<'events'>, occasion: string, to: Sender): Promise<void> {
  return send(to, { queue: 'events', message }, `${message.tenantId}:${occasion}`)
}

/** Events are due for a subscription. */
export function enqueueDelivery(
  { tenantId, subscriptionId }: MessageOf<'event-deliveries'>,
  occasion: string,
  to: Sender,
  delayMs?: number,
): Promise<void> {
  const message = { tenantId, subscriptionId }
  return send(to, { queue: 'event-deliveries', message }, `${subscriptionId}:${occasion}`, delayMs)
}

/** Mails of the tenant are due. */
export function enqueueMails(tenantId: string, occasion: string, to: Sender, delayMs?: number): Promise<void> {
  return send(to, { queue: 'mails', message: { tenantId } }, `${tenantId}:${occasion}`, delayMs)
}

/** Something of the tenant ends at `dueAtMs`, when the message is delivered. */
export function enqueueDeadline(
  { tenantId, dueAtMs }: MessageOf<'deadlines'>,
  occasion: string,
  to: Sender & { nowMs(): number },
): Promise<void> {
  const message = { tenantId, dueAtMs }
  return send(to, { queue: 'deadlines', message }, `due:${tenantId}:${dueAtMs}${occasion}`, dueAtMs - to.nowMs())
}
