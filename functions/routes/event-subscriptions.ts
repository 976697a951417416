import { Type } from 'typebox'
import { EventDelivery } from '../../shared/domain/events/delivery.ts'
import type { EventDependencies } from '../../shared/domain/events/event-stores.ts'
import {
  createSubscription,
  deleteSubscription,
  readSubscription,
  rotateSecret,
  testSubscription,
  updateSubscription,
} from '../../shared/domain/events/manage-subscriptions.ts'
import { listDeliveries, Redelivered, Redelivery, redeliver } from '../../shared/domain/events/read-deliveries.ts'
import {
  EventSubscription,
  EventSubscriptionUpdate,
  EventSubscriptionWithSecret,
  NewEventSubscription,
  type Subscription,
  toEventSubscription,
} from '../../shared/domain/events/subscription.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { type OpenCursors, PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { deleted, ok, type Route, route } from '../../shared/http/route.ts'
import type { Role } from '../../shared/kernel/caller.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { revisionETag } from '../../shared/kernel/versioned.ts'
import { PREFIXES } from './prefixes.ts'

const MANAGERS: readonly Role[] = [
  'collection_criteria_definition-administrator',
  'collections-criteria.criteria.readwrite.all',
]

export type EventRouteDependencies = EventDependencies & { readonly cursors: OpenCursors }

/** Subscriptions to events, and what was delivered. */
export const eventSubscriptionRoutes = (deps: EventRouteDependencies): readonly Route[] => [
  ...recordRoutes(deps),
  ...deliveryRoutes(deps),
]

const recordRoutes = (deps: EventRouteDependencies): Route[] => [
  route('GET', '/event-subscriptions', {
    operationId: 'listEventSubscriptions',
    summary: 'List event subscriptions',
    description: 'In order of creation.',
    roles: MANAGERS,
    reply: { status: 200, schema: Type.Array(EventSubscription) },
    run: async ({ caller }) => ok((await deps.subscriptions.read(caller.tenantId)).value.map(toEventSubscription)),
  }),
  route('POST', '/event-subscriptions', {
    operationId: 'createEventSubscription',
    summary: 'Create an event subscription',
    description:
      'Events are posted to `url` as CloudEvents 1.0 in JSON (see `webhooks`), signed by the Standard Webhooks ' +
      'specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Any 2xx within 10 seconds is received; ' +
      'redirects are failures; 410 disables the subscription. Other answers are retried after 5 s, 5 and 30 min, 2, 5, ' +
      '10, 14, 20 and 24 h. After five days without a success, in which events always waited, the subscription is ' +
      'disabled.\n\n' +
      'Each event is delivered at least once, always with the same `id`. Events with the same `subject` are sent in ' +
      'order, unless one is being retried. More than 1,000 members that change at once are one `members.changed`. ' +
      '`collection.deleted` stands for the end of all memberships of the collection: what was not sent of its members by ' +
      'then is not sent any more, and an event of a member that comes after it has no effect.\n\n' +
      'A tenant has at most 20 subscriptions.',
    roles: MANAGERS,
    body: NewEventSubscription,
    reply: { status: 201, schema: EventSubscriptionWithSecret },
    refusals: ['QuotaExceeded'],
    run: async ({ body, caller, creation }) => {
      const data = await createSubscription(body, caller, creation, deps)
      return { data, headers: { location: `/${PREFIXES.collections}/event-subscriptions/${data.id}` } }
    },
  }),
  route('GET', '/event-subscriptions/{id}', {
    operationId: 'readEventSubscription',
    summary: 'Get an event subscription',
    roles: MANAGERS,
    reply: { status: 200, schema: EventSubscription, versioned: true },
    refusals: ['SubscriptionNotFound'],
    run: async ({ caller, path: { id } }) => subscriptionResult(await readSubscription(caller.tenantId, id, deps)),
  }),
  route('PUT', '/event-subscriptions/{id}', {
    operationId: 'updateEventSubscription',
    summary: 'Update an event subscription',
    description:
      'Omitted members keep their values. For types that are added, a subscription gets what happens from then on. `state` ' +
      '`Enabled` enables it again: it gets what happens from then on, and what was waiting when it was disabled.',
    roles: MANAGERS,
    body: EventSubscriptionUpdate,
    reply: { status: 200, schema: EventSubscription, versioned: true },
    refusals: ['SubscriptionNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async ({ caller: { tenantId }, path: { id }, body, ifMatch }) =>
      subscriptionResult(await updateSubscription(tenantId, id, body, ifMatch, deps)),
  }),
  route('DELETE', '/event-subscriptions/{id}', {
    operationId: 'deleteEventSubscription',
    summary: 'Delete an event subscription',
    description: 'Its deliveries are deleted as well.',
    roles: MANAGERS,
    reply: { status: 200, schema: Type.Null() },
    refusals: ['SubscriptionNotFound', 'PreconditionFailed', 'StaleVersion'],
    run: async ({ caller: { tenantId }, path: { id }, ifMatch }) =>
      deleted(deleteSubscription(tenantId, id, ifMatch, deps)),
  }),
  route('POST', '/event-subscriptions/{id}/rotate-secret', {
    operationId: 'rotateEventSubscriptionSecret',
    summary: 'Replace the secret of an event subscription',
    description:
      'For 24 hours, deliveries have a signature with the former secret as well. When it is replaced several times in ' +
      'this time, each of the last nine former secrets signs for 24 hours after it was replaced.',
    roles: MANAGERS,
    reply: { status: 200, schema: EventSubscriptionWithSecret },
    refusals: ['SubscriptionNotFound', 'StaleVersion'],
    run: async ({ caller: { tenantId }, path: { id } }) => ok(await rotateSecret(tenantId, id, deps)),
  }),
]

const deliveryRoutes = (deps: EventRouteDependencies): Route[] => [
  route('POST', '/event-subscriptions/{id}/test', {
    operationId: 'testEventSubscription',
    summary: 'Send a test event',
    description: 'Sends an event of type `subscription.test`. Its delivery is in the list of deliveries.',
    roles: MANAGERS,
    reply: { status: 202, schema: TestedSubscription },
    refusals: ['SubscriptionNotFound', 'SubscriptionDisabled'],
    run: async ({ caller: { tenantId }, path: { id } }) => ok(await testSubscription(tenantId, id, deps)),
  }),
  route('GET', '/event-subscriptions/{id}/deliveries', {
    operationId: 'listEventDeliveries',
    summary: 'List the deliveries of an event subscription',
    description: 'Returns a page of the deliveries of the last 30 days with their attempts, the newest first.',
    roles: MANAGERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(EventDelivery), paged: true },
    refusals: ['SubscriptionNotFound', 'InvalidCursor'],
    run: ({ caller: { tenantId }, path: { id }, query }) =>
      pagedResult(query, [tenantId, 'event deliveries', id], deps.cursors, (after, size) =>
        listDeliveries(tenantId, id, { after, size }, deps),
      ),
  }),
  route('POST', '/event-subscriptions/{id}/redeliver', {
    operationId: 'redeliverEvents',
    summary: 'Send events again',
    description:
      'Sends events of the last 30 days again, with the same `id`: those of `eventIds`, or those whose `time` lies from ' +
      '`from` until before `to`. About 10,000 at a time, the newest of them: repeat with an earlier `to` for older ones. Ids of events that the subscription was never sent are ignored.',
    roles: MANAGERS,
    body: Redelivery,
    reply: { status: 202, schema: Redelivered },
    refusals: ['SubscriptionNotFound', 'SubscriptionDisabled'],
    run: async ({ caller: { tenantId }, path: { id }, body }) => ok(await redeliver(tenantId, id, body, deps)),
  }),
]

export const TestedSubscription = Type.Object({ eventId: Guid }, { additionalProperties: false })

function subscriptionResult(subscription: Subscription): RouteResult<ReturnType<typeof toEventSubscription>> {
  return { data: toEventSubscription(subscription), headers: { etag: revisionETag(subscription) } }
}
