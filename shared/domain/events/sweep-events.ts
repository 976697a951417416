import { enqueuePublishing } from '../../kernel/enqueue-messages.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { type DeliveryBatch, EVENT_SOURCES, type EventDependencies } from './event-stores.ts'
import { type EventDraft, eventOf, type StoredEvent } from './event-types.ts'
import { notifyLane, publishMissedMembers, publishOutboxes, storeBatches } from './publish-events.ts'

/** What is younger has a message on its way. */
const BEHIND_MS = 120_000
/** Batches that are dropped in one step. */
const DROPPED_AT_ONCE_COUNT = 100

/**
 * Enqueues the publication for each tenant that has unpublished events, or subscriptions. Costs a few reads for all
 * tenants together, and nothing for a tenant that is idle.
 */
export async function enqueueEventSweeps(deps: EventDependencies): Promise<void> {
  const tenants = new Set<string>()
  for (const source of EVENT_SOURCES) {
    for (const tenantId of await deps.outbox.tenantsBehind(source, BEHIND_MS)) tenants.add(tenantId)
  }
  for await (const page of deps.subscriptions.tenants()) for (const tenantId of page) tenants.add(tenantId)
  const nowMs = deps.nowMs()
  for (const tenantId of tenants) {
    await enqueuePublishing({ tenantId }, `events:${nowMs}`, deps)
  }
}

/** Publishes and delivers what a lost message or a crash has left, and bounds what waits. */
export async function sweepEvents(tenantId: string, deps: EventDependencies): Promise<void> {
  await publishOutboxes(tenantId, deps)
  await publishMissedMembers(tenantId, deps)
  await dropBacklog(tenantId, deps)
  for (const subscriptionId of await deps.deliveries.subscriptionsDue(tenantId, deps.nowMs() - BEHIND_MS)) {
    await notifyLane(tenantId, subscriptionId, deps)
  }
}

/** Drops the deliveries that wait longest, beyond the limit, and tells their receivers. */
async function dropBacklog(tenantId: string, deps: EventDependencies): Promise<void> {
  let excessCount = (await deps.deliveries.waitingCount(tenantId)) - deps.backlogLimitCount
  while (excessCount > 0) {
    const found = await deps.deliveries.longestWaiting(tenantId, Math.min(excessCount, DROPPED_AT_ONCE_COUNT))
    if (found.length === 0) return
    // Told first: when the process ends in between, the next sweep drops them, and they are told twice.
    for (const [subscriptionId, batches] of Map.groupBy(found, ({ value }) => value.subscriptionId)) {
      const events = batches.flatMap(({ value }) => pendingEvents(value))
      await tellDropped(tenantId, subscriptionId, events, deps)
    }
    for (const { value, version } of found) await deps.deliveries.replace(withoutPending(value), version)
    excessCount -= found.length
  }
}

/** What waits, without earlier events that tell of dropped ones. */
function pendingEvents({ deliveries }: DeliveryBatch): StoredEvent[] {
  const pending = deliveries.filter(({ state }) => state === 'Pending').map(({ event }) => event)
  return pending.filter(({ type }) => type !== 'subscription.dropped')
}

function withoutPending({ deliveries, ...batch }: DeliveryBatch): DeliveryBatch {
  const dropped = { state: 'Dropped' as const, dueAtMs: 0 }
  return {
    ...batch,
    deliveries: deliveries.map((delivery) => (delivery.state === 'Pending' ? { ...delivery, ...dropped } : delivery)),
  }
}

async function tellDropped(
  tenantId: string,
  subscriptionId: string,
  events: readonly StoredEvent[],
  deps: EventDependencies,
): Promise<void> {
  if (events.length === 0) return
  const times = events.map(({ time }) => time).sort()
  const [from = '', to = ''] = [times.at(0), times.at(-1)]
  const draft: EventDraft = {
    key: ['dropped', subscriptionId, ...events.map(({ id }) => id)],
    type: 'subscription.dropped',
    time: toTimestamp(deps.nowMs()),
    subject: `/event-subscriptions/${subscriptionId}`,
    data: { subscriptionId, count: events.length, from, to },
  }
  const event = eventOf(draft, tenantId, deps.deriveId)
  await storeBatches([event], { tenantId, subscriptionId }, deps)
  deps.metrics.record('events.dropped', events.length, {})
  deps.log.warn('events.dropped', { tenantId, subscriptionId, count: events.length })
}
