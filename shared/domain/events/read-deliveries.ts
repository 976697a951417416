import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Guid, Nullable } from '../../kernel/schema.ts'
import { UTC } from '../../kernel/time-zone.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import { instantMsOf } from '../insight/list-history.ts'
import { type EventDelivery, toEventDelivery } from './delivery.ts'
import type { EventDependencies } from './event-stores.ts'
import type { StoredEvent } from './event-types.ts'
import { readSubscription, requireEnabled } from './manage-subscriptions.ts'
import { notifyLane, storeBatches } from './publish-events.ts'

/** Events that one call sends again, at most. */
const REDELIVERED_LIMIT_COUNT = 10_000

/** Which events to send again: by id, or those of a time from `from` until before `to`. */
export const Redelivery = Type.Object({
  eventIds: Type.Optional(Nullable(Type.Array(Guid, { minItems: 1, maxItems: 1000 }))),
  from: Type.Optional(Nullable(Timestamp)),
  to: Type.Optional(Nullable(Timestamp)),
})
export type Redelivery = Static<typeof Redelivery>

export const Redelivered = Closed({ queued: Type.Integer() })

type DeliveryDependencies = Pick<
  EventDependencies,
  'subscriptions' | 'deliveries' | 'messageQueue' | 'deriveId' | 'newId' | 'nowMs'
>

/**
 * A page of the deliveries of a subscription, the newest events first.
 * @throws Refusal `SubscriptionNotFound`.
 */
export async function listDeliveries(
  tenantId: string,
  subscriptionId: string,
  { after, size }: PageRange,
  deps: Pick<EventDependencies, 'subscriptions' | 'deliveries'>,
): Promise<Page<EventDelivery>> {
  await readSubscription(tenantId, subscriptionId, deps)
  // The previous release continues by the time, and makes cursors without a position: then all batches are read.
  const [_createdAt, batchId, indexText, position] = after?.split(' ') ?? []
  const toPosition = position === undefined ? undefined : Number(position)
  const items: EventDelivery[] = []
  let last = ''
  let isAfter = after === undefined
  for await (const page of deps.deliveries.newestFirst(tenantId, subscriptionId, toPosition)) {
    for (const batch of page) {
      for (const [index, delivery] of [...batch.deliveries.entries()].reverse()) {
        const isLast = batch.id === batchId && index === Number(indexText)
        if (isAfter && items.length === size) return { items, continueAfter: last }
        if (isAfter) {
          items.push(toEventDelivery(delivery))
          last = `${batch.createdAt} ${batch.id} ${index} ${batch.position}`
        }
        isAfter ||= isLast
      }
    }
  }
  return { items }
}

/**
 * Sends events again that the subscription was sent within the last 30 days.
 * @returns How many.
 * @throws Refusal `SubscriptionNotFound`, `SubscriptionDisabled`, `MissingMember`, `InvalidValue`.
 */
export async function redeliver(
  tenantId: string,
  subscriptionId: string,
  { eventIds, from, to }: Redelivery,
  deps: DeliveryDependencies,
): Promise<Static<typeof Redelivered>> {
  if (!eventIds && !from) throw new Refusal('MissingMember', 'eventIds, or from and to, are required', '/eventIds')
  if (!eventIds && !to) throw new Refusal('MissingMember', 'to is required beside from', '/to')
  await requireEnabled(tenantId, subscriptionId, deps)
  const wanted = eventIds ? new Set<string>(eventIds) : undefined
  // Timestamps only, which have no day of a zone.
  const fromMs = from ? instantMsOf(from, '/from', UTC) : 0
  const toMs = to ? instantMsOf(to, '/to', UTC) : Infinity
  const found = new Map<string, StoredEvent>()
  for await (const page of deps.deliveries.newestFirst(tenantId, subscriptionId)) {
    for (const { event } of page.flatMap(({ deliveries }) => deliveries)) {
      const timeMs = Date.parse(event.time)
      if (wanted === undefined ? timeMs >= fromMs && timeMs < toMs : wanted.has(event.id)) found.set(event.id, event)
    }
    if (found.size === wanted?.size || found.size >= REDELIVERED_LIMIT_COUNT) break
  }
  const events = [...found.values()].sort((left, right) =>
    left.time < right.time ? -1 : Number(left.time > right.time),
  )
  // Batches of their own: those of the first delivery can have the same events.
  await storeBatches(events, { tenantId, subscriptionId, variant: deps.newId() }, deps)
  await notifyLane(tenantId, subscriptionId, deps)
  return { queued: events.length }
}
