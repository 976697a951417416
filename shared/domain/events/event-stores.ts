import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { CollectionKind } from '../collections/collection.ts'
import type { CollectionSummary } from '../collections/collection-dependencies.ts'
import type { Attempt, StoredDelivery } from './delivery.ts'
import type { StoredEvent } from './event-types.ts'
import type { ChangeOfVersion } from './member-events.ts'
import type { Subscription, SubscriptionStore } from './subscription.ts'

/** Where events of a kind of record are stored until they are published. */
export const EVENT_SOURCES = ['collections', 'requests', 'links', 'jobs', 'events'] as const
export type EventSource = (typeof EVENT_SOURCES)[number]

/** Events that were stored in the transaction of one change. */
type OutboxEntry = { readonly id: string; readonly events: readonly StoredEvent[] }

/** Events that are not published yet. */
export interface OutboxStore {
  /** The oldest entries of a tenant. */
  first(source: EventSource, tenantId: string): Promise<readonly OutboxEntry[]>
  /** Entries that are deleted already are ignored. */
  remove(source: EventSource, tenantId: string, entries: readonly OutboxEntry[]): Promise<void>
  /** Tenants that have had entries for at least this time (ms). */
  tenantsBehind(source: EventSource, forMs: number): Promise<ReadonlySet<string>>
}

/** Up to where the changes of a collection's members are published. */
export type PublishedTo = { readonly membershipVersion: number; readonly atMs: number }

/** The history of members as the outbox of their events: each change is in the transaction of the members. */
export interface RecordedChanges {
  /**
   * The next changes in order, about as many as have 1,000 events in all. After a restore of the database, versions
   * come a second time, at a later time.
   * @param since Not older (ms).
   */
  next(
    tenantId: string,
    collection: CollectionSummary,
    after: PublishedTo,
    sinceMs: number,
  ): Promise<{ readonly changes: readonly ChangeOfVersion[]; readonly isMore: boolean }>
  /** The current version of each of these collections' members. */
  versions(
    tenantId: string,
    kind: CollectionKind,
    collectionIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>
}

export interface PublishedStore {
  /** The published changes of these collections, or of all. Collections without any are left out. */
  find(tenantId: string, collectionIds?: readonly string[]): Promise<ReadonlyMap<string, Versioned<PublishedTo>>>
  /** @returns The new version; undefined when others have written the record. */
  save(
    tenantId: string,
    collectionId: string,
    to: PublishedTo,
    version: string | undefined,
  ): Promise<string | undefined>
}

/** Some deliveries of a subscription that are stored together. */
export type DeliveryBatch = {
  readonly id: string
  readonly tenantId: string
  readonly subscriptionId: string
  /** Timestamp. */
  readonly createdAt: string
  /** The order in which the batches of a subscription are first attempted. */
  readonly position: number
  readonly deliveries: readonly StoredDelivery[]
}

export interface DeliveryStore {
  /** Stores new batches. One whose id is stored already is ignored. */
  add(tenantId: string, batches: readonly DeliveryBatch[]): Promise<void>
  /** The highest position of the batches of a subscription; 0 without any. */
  lastPosition(tenantId: string, subscriptionId: string): Promise<number>
  /** Batches with an attempt that is due, the first ones in order. */
  due(tenantId: string, subscriptionId: string, nowMs: number): Promise<readonly Versioned<DeliveryBatch>[]>
  /** Ignores a batch that others have changed since. */
  replace(batch: DeliveryBatch, version: string): Promise<void>
  /** Batches of a subscription up to a position, the newest first, in pages. Default: all. */
  newestFirst(tenantId: string, subscriptionId: string, toPosition?: number): AsyncIterable<readonly DeliveryBatch[]>
  /** Number of batches that wait for an attempt: of a tenant, or of one of its subscriptions. */
  waitingCount(tenantId: string, subscriptionId?: string): Promise<number>
  /** The batches that wait longest. */
  longestWaiting(tenantId: string, count: number): Promise<readonly Versioned<DeliveryBatch>[]>
  /** Subscriptions with an attempt that was due before. */
  subscriptionsDue(tenantId: string, beforeMs: number): Promise<ReadonlySet<string>>
  removeAll(tenantId: string, subscriptionId: string): Promise<void>
}

/** What is known of a receiver, and who delivers to it now. */
export type Lane = {
  readonly subscriptionId: string
  readonly owner: string | null
  readonly untilMs: number
  /** When the first attempt since the last success failed; absent after a success, and once no event waits any more. */
  readonly failingSinceMs?: number
}

/** One worker at a time delivers to a subscription, so that events arrive in order. */
export interface LaneStore {
  find(tenantId: string, subscriptionId: string): Promise<Versioned<Lane> | undefined>
  /** @returns The new version; undefined when others have written the record. */
  save(tenantId: string, lane: Lane, version: string | undefined): Promise<string | undefined>
}

/** Posts one event. Never throws. */
export interface EventSender {
  send(
    subscription: Pick<Subscription, 'url'>,
    secrets: readonly string[],
    message: { readonly id: string; readonly body: string },
  ): Promise<Attempt>
  /** Why an address may not be used; undefined when it may. */
  faultOf(url: string): string | undefined
}

/** Has people told of events by mail, if anybody is to be told of them. Repeating it has no further effect. */
export type TellByMail = (tenantId: string, events: readonly StoredEvent[]) => Promise<void>

export type EventDependencies = {
  readonly subscriptions: SubscriptionStore
  readonly outbox: OutboxStore
  readonly recordedChanges: RecordedChanges
  readonly published: PublishedStore
  readonly deliveries: DeliveryStore
  readonly lanes: LaneStore
  readonly sender: EventSender
  /** Undefined where no mails are sent. */
  readonly tellByMail: TellByMail | undefined
  readonly collections: {
    /** Of these ids, or all; only those that exist. */
    summaries(tenantId: string, ids?: readonly string[]): Promise<readonly CollectionSummary[]>
  }
  /** Batches that may wait for a tenant. */
  readonly backlogLimitCount: number
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  readonly clockDifferenceMs: number
  deriveId(...parts: string[]): string
  newId(): string
  newSecret(): string
  nowMs(): number
  sleep(delayMs: number): Promise<void>
}
