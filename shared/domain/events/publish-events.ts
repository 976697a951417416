import { chunk } from '../../kernel/chunk.ts'
import { enqueueDelivery, enqueuePublishing } from '../../kernel/enqueue-messages.ts'
import { timeLimit } from '../../kernel/invocation-time.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { CollectionSummary } from '../collections/collection-dependencies.ts'
import { newDelivery } from './delivery.ts'
import {
  type DeliveryBatch,
  EVENT_SOURCES,
  type EventDependencies,
  type EventSource,
  type PublishedTo,
} from './event-stores.ts'
import { eventOf, isOfMembers, receives, receivesMembers, type StoredEvent } from './event-types.ts'
import { eventsOfMembers } from './member-events.ts'
import { COLLECTIONS_PER_MESSAGE_COUNT, enqueueMemberEvents } from './notify-member-events.ts'
import { getsMembersSinceMs, isEnabled, type Subscription } from './subscription.ts'

/** Events whose deliveries are stored together. */
const EVENTS_PER_BATCH_COUNT = 100

/** Positions follow the clock, so that they rise even when all batches of a subscription have expired. */
const POSITIONS_PER_MS = 1000

const NOT_PUBLISHED: PublishedTo = { membershipVersion: 0, atMs: 0 }

type Publication = { readonly tenantId: string; readonly subscriptions: readonly Subscription[] }

/** Publishes the events of one kind of record. */
export async function publishOutbox(
  tenantId: string,
  source: EventSource,
  deps: EventDependencies,
  isLate = timeLimit(deps),
): Promise<void> {
  for (;;) {
    const entries = await deps.outbox.first(source, tenantId)
    if (entries.length === 0) return
    if (isLate()) return enqueuePublishing({ tenantId, source }, deps.newId(), deps)
    // Read after the entries: who has subscribed before a change gets its event.
    const publication = { tenantId, subscriptions: await enabledOf(tenantId, deps) }
    // When the process ends in between, the same events are published again, with the same ids.
    const events = entries.flatMap((entry) => entry.events)
    await storeDeliveries(events, publication, deps)
    await deps.tellByMail?.(tenantId, events)
    await deps.outbox.remove(source, tenantId, entries)
  }
}

/** Publishes what the outboxes of all sources have. */
export async function publishOutboxes(tenantId: string, deps: EventDependencies): Promise<void> {
  const isLate = timeLimit(deps)
  for (const source of EVENT_SOURCES) await publishOutbox(tenantId, source, deps, isLate)
}

/** Publishes the changes of the members of collections. Costs one read without a subscription. */
export async function publishMembers(
  tenantId: string,
  collectionIds: readonly string[],
  deps: EventDependencies,
): Promise<void> {
  const subscriptions = (await enabledOf(tenantId, deps)).filter(({ types }) => receivesMembers(types))
  if (subscriptions.length === 0) return
  const isLate = timeLimit(deps)
  for (const ids of chunk(collectionIds, COLLECTIONS_PER_MESSAGE_COUNT)) {
    const [collections, published] = await Promise.all([
      deps.collections.summaries(tenantId, ids),
      deps.published.find(tenantId, ids),
    ])
    const due = collections.map((collection) => ({ collection, published: published.get(collection.id) }))
    await publishCollections(due, { tenantId, subscriptions }, deps, isLate)
  }
}

/** Publishes the changes of members whose message was lost. */
export async function publishMissedMembers(tenantId: string, deps: EventDependencies): Promise<void> {
  const subscriptions = (await enabledOf(tenantId, deps)).filter(({ types }) => receivesMembers(types))
  if (subscriptions.length === 0) return
  const isLate = timeLimit(deps)
  const collections = await deps.collections.summaries(tenantId)
  const allPublished = await deps.published.find(tenantId)
  const missed: DueCollection[] = []
  for (const kind of ['criteria', 'joinable'] as const) {
    const ofKind = collections.filter((collection) => collection.kind === kind)
    const ids = ofKind.map(({ id }) => id)
    const current = await deps.recordedChanges.versions(tenantId, kind, ids)
    for (const collection of ofKind) {
      const published = allPublished.get(collection.id)
      const currentVersion = current.get(collection.id) ?? 0
      // After a restore of the database, a version can be lower than the published one.
      if (currentVersion === (published?.value.membershipVersion ?? 0)) continue
      missed.push({ collection, published, currentVersion })
    }
  }
  await publishCollections(missed, { tenantId, subscriptions }, deps, isLate)
}

type DueCollection = {
  readonly collection: CollectionSummary
  /** As read before; undefined when nothing is published yet. */
  readonly published: Versioned<PublishedTo> | undefined
  /** Of the members, as read before; absent when unknown. */
  readonly currentVersion?: number
}

/** Collections that are read at the same time. */
const COLLECTIONS_AT_ONCE_COUNT = 8

/** Events that are gathered before they are stored: many changed collections share batches. */
const EVENTS_AT_ONCE_COUNT = 2_000

async function publishCollections(
  collections: readonly DueCollection[],
  publication: Publication,
  deps: EventDependencies,
  isLate: () => boolean,
): Promise<void> {
  const { tenantId } = publication
  let rest = [...collections]
  while (rest.length > 0) {
    if (isLate()) {
      const ids = rest.map(({ collection }) => collection.id)
      return enqueueMemberEvents(tenantId, ids, deps)
    }
    const gathered: Publishable[] = []
    for (let count = 0; rest.length > 0 && count < EVENTS_AT_ONCE_COUNT; ) {
      const batch = rest.splice(0, COLLECTIONS_AT_ONCE_COUNT)
      const found = await Promise.all(batch.map((due) => nextOf(due, publication, deps)))
      gathered.push(...found.filter((ofCollection) => ofCollection !== undefined))
      count = gathered.reduce((sum, { events }) => sum + events.length, 0)
    }
    const events = gathered.flatMap((ofCollection) => ofCollection.events)
    // Read after the changes: who has subscribed before a change gets its event.
    const subscriptions = events.length === 0 ? [] : await enabledOf(tenantId, deps)
    await storeDeliveries(events, { tenantId, subscriptions }, deps)
    const saved = await Promise.all(
      gathered.map(async ({ due, to, isMore }): Promise<DueCollection[]> => {
        const version = await deps.published.save(tenantId, due.collection.id, to, due.published?.version)
        // When others have published the same changes meanwhile, they go on with the next ones.
        return version !== undefined && isMore ? [{ ...due, published: { value: to, version } }] : []
      }),
    )
    rest = [...saved.flat(), ...rest]
  }
}

/** The next events of a collection, and up to where its changes are then published. */
type Publishable = {
  readonly due: DueCollection
  readonly events: readonly StoredEvent[]
  readonly isMore: boolean
  readonly to: PublishedTo
}

async function nextOf(
  due: DueCollection,
  { tenantId, subscriptions }: Publication,
  deps: Pick<EventDependencies, 'clockDifferenceMs' | 'deriveId' | 'recordedChanges'>,
): Promise<Publishable | undefined> {
  const { collection, published, currentVersion = 0 } = due
  const sinceMs = Math.min(...subscriptions.map(getsMembersSinceMs)) - deps.clockDifferenceMs
  const after = published?.value ?? NOT_PUBLISHED
  const { changes, isMore } = await deps.recordedChanges.next(tenantId, collection, after, sinceMs)
  const drafts = changes.flatMap((change) => eventsOfMembers(change, collection))
  const events = drafts.map((draft) => eventOf(draft, tenantId, deps.deriveId))
  // What is older than the subscriptions is not published. Further sweeps need not look at it again.
  const passedOver = { membershipVersion: currentVersion, atMs: published?.value.atMs ?? sinceMs }
  const { membershipVersion, atMs } = changes.at(-1) ?? passedOver
  if (membershipVersion === 0 && changes.length === 0) return undefined
  return { due, events, isMore, to: { membershipVersion, atMs } }
}

/**
 * Stores the deliveries of events to those who receive them, then notifies their workers. The id of a batch follows from
 * its events, so that a repetition stores no second one.
 */
async function storeDeliveries(
  events: readonly StoredEvent[],
  { tenantId, subscriptions }: Publication,
  deps: EventDependencies,
): Promise<void> {
  for (const subscription of subscriptions) {
    const received = events.filter((event) => isFor(event, subscription, deps))
    if (received.length === 0) continue
    await storeBatches(received, { tenantId, subscriptionId: subscription.id }, deps)
    deps.metrics.record('events.published', received.length, {})
    await notifyLane(tenantId, subscription.id, deps)
  }
}

function isFor(
  event: StoredEvent,
  subscription: Subscription,
  deps: Pick<EventDependencies, 'clockDifferenceMs'>,
): boolean {
  const { id, types } = subscription
  const sinceMs = isOfMembers(event.type) ? getsMembersSinceMs(subscription) : subscription.sinceMs
  if (Date.parse(event.time) < sinceMs - deps.clockDifferenceMs) return false
  const isOfControl = event.type === 'subscription.test' || event.type === 'subscription.dropped'
  if (isOfControl || event.type === 'subscription.disabled') {
    // A test is for one subscription; that it was disabled is for the others.
    if ((event.data.subscriptionId === id) !== isOfControl) return false
  }
  return receives(types, event.type)
}

/**
 * Stores events for delivery to one subscription, behind all that are stored already. Those who store later events of a
 * record do it after these are stored, so that they find this position, also when their clocks differ.
 * @param variant Other texts store the same events again.
 */
export async function storeBatches(
  events: readonly StoredEvent[],
  { tenantId, subscriptionId, variant = '' }: { tenantId: string; subscriptionId: string; variant?: string },
  { deliveries, deriveId, nowMs }: Pick<EventDependencies, 'deliveries' | 'deriveId' | 'nowMs'>,
): Promise<void> {
  const lastPosition = await deliveries.lastPosition(tenantId, subscriptionId)
  const first = Math.max(nowMs() * POSITIONS_PER_MS, lastPosition + 1)
  const batches = chunk(events, EVENTS_PER_BATCH_COUNT).map((ofBatch, index): DeliveryBatch => {
    const id = deriveId('batch', subscriptionId, variant, ...ofBatch.map((event) => event.id))
    const batch = { id, tenantId, subscriptionId, createdAt: toTimestamp(nowMs()), position: first + index }
    return { ...batch, deliveries: ofBatch.map(newDelivery) }
  })
  await deliveries.add(tenantId, batches)
}

/** Enqueues the delivery of what is due for a subscription. */
export async function notifyLane(
  tenantId: string,
  subscriptionId: string,
  { messageQueue, newId }: Pick<EventDependencies, 'messageQueue' | 'newId'>,
  delayMs = 0,
): Promise<void> {
  await enqueueDelivery({ tenantId, subscriptionId }, newId(), { messageQueue }, delayMs)
}

async function enabledOf(
  tenantId: string,
  deps: Pick<EventDependencies, 'subscriptions'>,
): Promise<readonly Subscription[]> {
  return (await deps.subscriptions.read(tenantId)).value.filter(isEnabled)
}
