import { randomBytes } from 'node:crypto'
import {
  cosmosDeliveryStore,
  cosmosLaneStore,
  cosmosPublishedStore,
} from '../../shared/cosmos/events/delivery-stores.ts'
import { cosmosOutbox, cosmosOutboxStore, type Outbox } from '../../shared/cosmos/events/outbox.ts'
import { cosmosRecordedChanges } from '../../shared/cosmos/events/recorded-changes.ts'
import { cosmosSubscriptionStore } from '../../shared/cosmos/events/subscription-store.ts'
import type { CollectionLists } from '../../shared/domain/collections/collection-dependencies.ts'
import { deliverEvents } from '../../shared/domain/events/deliver-events.ts'
import type { TellByMail } from '../../shared/domain/events/event-stores.ts'
import { EVENT_SOURCES, type EventDependencies } from '../../shared/domain/events/event-stores.ts'
import { publishMembers, publishOutbox } from '../../shared/domain/events/publish-events.ts'
import { isEnabled } from '../../shared/domain/events/subscription.ts'
import { enqueueEventSweeps, sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { isMailed } from '../../shared/domain/mail/letter.ts'
import { coalesce } from '../../shared/kernel/concurrency.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { webhookSender } from '../../shared/webhooks/webhook-sender.ts'
import { SECRET_PREFIX } from '../../shared/webhooks/webhook-signature.ts'
import { messageHandler } from './message-handlers.ts'
import type { Wiring } from './wiring.ts'

const SECRET_BYTES = 32

/** Batches of deliveries that may wait for a tenant: at least as many events. */
const BACKLOG_LIMIT_COUNT = 20_000

/** The outbox of all stores, and the subscriptions that, with mails, decide whether it is used. */
export function outboxWiring({ container, mailer, messageQueue, log, newId }: Wiring) {
  const isWanted: Parameters<typeof cosmosOutbox>[0]['isWanted'] = async (tenantId, events) =>
    (mailer !== undefined && events.some(isMailed)) || (await subscriptions.read(tenantId)).value.some(isEnabled)
  const outbox: Outbox = cosmosOutbox({ isWanted, messageQueue, log, newId })
  const subscriptions = cosmosSubscriptionStore(container('events'), outbox)
  return { outbox, subscriptions }
}

/** What publishing and delivering events need, made of the connections of the service. */
export function eventWiring(
  { historyDays, eventTargets, clockDifferenceS }: Settings,
  { container, messageQueue, log, metrics, deriveId, newId, nowMs, elapsedMs, sleep }: Wiring,
  subscriptions: EventDependencies['subscriptions'],
  collections: Pick<CollectionLists, 'summaries'>,
  tellByMail: TellByMail | undefined,
): EventDependencies {
  return {
    subscriptions,
    outbox: cosmosOutboxStore(container, nowMs),
    recordedChanges: cosmosRecordedChanges(container('members'), container('requests')),
    published: cosmosPublishedStore(container('events'), historyDays),
    deliveries: cosmosDeliveryStore(container('events')),
    lanes: cosmosLaneStore(container('events')),
    sender: webhookSender({ targets: eventTargets, nowMs, elapsedMs }),
    collections,
    backlogLimitCount: BACKLOG_LIMIT_COUNT,
    clockDifferenceMs: clockDifferenceS * 1000,
    tellByMail,
    ...{ messageQueue, log, metrics, deriveId, newId, nowMs, sleep },
    newSecret: () => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'),
  }
}

/** The handlers of the queues `events` and `event-deliveries`. */
export function eventMessages(deps: EventDependencies) {
  // Messages of one tenant, or one kind of its records, share a run.
  const changed = new Map<string, Set<string>>()
  const members = coalesce(async (tenantId) => {
    const ids = changed.get(tenantId) ?? new Set()
    changed.delete(tenantId)
    await publishMembers(tenantId, [...ids], deps)
  })
  const outbox = coalesce((key) => {
    const [tenantId, [name]] = split(key)
    const source = EVENT_SOURCES.find((source) => source === name)
    return source === undefined ? Promise.resolve() : publishOutbox(tenantId, source, deps)
  })
  return {
    ...messageHandler('events', async ({ tenantId, source, collectionIds = [] }) => {
      if (source === undefined && collectionIds.length === 0) return sweepEvents(tenantId, deps)
      if (source !== undefined) await outbox(`${tenantId} ${source}`)
      if (collectionIds.length === 0) return
      changed.set(tenantId, new Set([...(changed.get(tenantId) ?? []), ...collectionIds]))
      await members(tenantId)
    }),
    ...messageHandler('event-deliveries', (message) => deliverEvents(message, deps)),
  }
}

function split(key: string): [tenantId: string, names: string[]] {
  const [tenantId = '', ...names] = key.split(' ')
  return [tenantId, names]
}

const SWEPT_EVERY_MINUTES = 10

/**
 * Runs with the timer of all sweeps. Enqueues the sweeps of events and runs those of mails, every ten minutes.
 * @param minutes Those of the hour that have begun since the timer last ran.
 */
export async function sweepEventsSince(
  minutes: readonly number[],
  deps: EventDependencies,
  sweepMails: () => Promise<void>,
): Promise<void> {
  if (!minutes.some((minute) => minute % SWEPT_EVERY_MINUTES === 0)) return
  try {
    await enqueueEventSweeps(deps)
  } finally {
    await sweepMails()
  }
}
