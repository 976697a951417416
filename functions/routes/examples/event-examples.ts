import type { Static } from 'typebox'
import { Type } from 'typebox'
import type { EventDelivery } from '../../../shared/domain/events/delivery.ts'
import { CONTROL_EVENTS, cloudEvent, EVENTS } from '../../../shared/domain/events/event-types.ts'
import type { Redelivery } from '../../../shared/domain/events/read-deliveries.ts'
import type {
  EventSubscription,
  EventSubscriptionUpdate,
  EventSubscriptionWithSecret,
  NewEventSubscription,
} from '../../../shared/domain/events/subscription.ts'
import { Closed, Described, Guid, OneOf } from '../../../shared/kernel/schema.ts'
import { Timestamp } from '../../../shared/kernel/timestamp.ts'
import type { EventDescription } from '../../../shared/openapi/webhooks.ts'
import {
  ACCOUNT_ID,
  CONNECTOR_ID,
  CREATED_AT,
  CRITERIA_COLLECTION_ID,
  GROUP_ID,
  JOINABLE_COLLECTION_ID,
  LINK_ID,
  MANAGER_ID,
  PLAN_ID,
  RELATIONSHIP_ID,
  REQUEST_ID,
  TENANT_ID,
  UPDATED_AT,
} from './core-data-examples.ts'

const SUBSCRIPTION_ID = '5b0c6e0a-3f5e-4b4e-9c40-6a1f6f2f8d11'
const EVENT_ID = '7d1a2f64-0b7c-8d52-9a3e-1c6f0f6f2b90'

const NEW_SUBSCRIPTION: NewEventSubscription = {
  url: 'https://events.example.com/collections',
  types: ['member.*', 'request.waiting'],
  description: 'Updates the phone book',
}
const SUBSCRIPTION: Static<typeof EventSubscription> = {
  id: SUBSCRIPTION_ID,
  url: 'https://events.example.com/collections',
  types: ['member.*', 'request.waiting'],
  description: 'Updates the phone book',
  state: 'Enabled',
  disabledReason: null,
  createdAt: CREATED_AT,
  createdBy: ACCOUNT_ID,
}
const WITH_SECRET: Static<typeof EventSubscriptionWithSecret> = {
  ...SUBSCRIPTION,
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDQjH1cHCTrXI=',
}
const UPDATE: EventSubscriptionUpdate = { types: ['member.*'], state: 'Enabled' }
const DELIVERY: EventDelivery = {
  eventId: EVENT_ID,
  type: 'member.added',
  time: UPDATED_AT,
  subject: `/collections/${CRITERIA_COLLECTION_ID}/members/${RELATIONSHIP_ID}`,
  state: 'Delivered',
  attempts: [
    { at: UPDATED_AT, status: 503, durationMs: 120, error: null },
    { at: UPDATED_AT, status: 204, durationMs: 48, error: null },
  ],
}
const REDELIVERY: Redelivery = { from: CREATED_AT, to: UPDATED_AT }

/** By component name. */
export const EVENT_EXAMPLES: Readonly<Record<string, unknown>> = {
  EventSubscription: SUBSCRIPTION,
  EventSubscriptionWithSecret: WITH_SECRET,
  NewEventSubscription: NEW_SUBSCRIPTION,
  EventSubscriptionUpdate: UPDATE,
  TestedSubscription: { eventId: EVENT_ID },
  EventDelivery: DELIVERY,
  Notifications: { mail: 'Daily' },
  NotificationsInput: { mail: 'Daily' },
  Redelivery: REDELIVERY,
  Redelivered: { queued: 12 },
}

const MEMBER = {
  collectionId: CRITERIA_COLLECTION_ID,
  at: UPDATED_AT,
  objectId: RELATIONSHIP_ID,
  relationshipId: RELATIONSHIP_ID,
  change: 'Added',
  cause: 'ObjectChanged',
  actorId: 'system',
  requestId: null,
  until: null,
  membershipVersion: 17,
}
const COLLECTION = { collectionId: CRITERIA_COLLECTION_ID, actorId: MANAGER_ID }
const REQUEST = { requestId: REQUEST_ID, collectionId: JOINABLE_COLLECTION_ID, actorId: MANAGER_ID }
const LINK = {
  linkId: LINK_ID,
  collectionId: CRITERIA_COLLECTION_ID,
  directoryGroupId: GROUP_ID,
  actorId: MANAGER_ID,
}
const PLAN = { planId: PLAN_ID, ...LINK, actorId: 'system' }

/** The `data` of an event of each type, and what the event is about. */
const DATA: Readonly<Record<keyof typeof EVENTS | keyof typeof CONTROL_EVENTS, Readonly<Record<string, unknown>>>> = {
  'member.added': MEMBER,
  'member.removed': { ...MEMBER, change: 'Removed' },
  'members.changed': { collectionId: CRITERIA_COLLECTION_ID, added: 1200, removed: 35, membershipVersion: 18 },
  'collection.created': COLLECTION,
  'collection.updated': COLLECTION,
  'collection.deleted': COLLECTION,
  'request.submitted': REQUEST,
  'request.waiting': REQUEST,
  'request.approved': REQUEST,
  'request.rejected': REQUEST,
  'request.joined': REQUEST,
  'request.left': REQUEST,
  'request.cancelled': REQUEST,
  'request.ending': { ...REQUEST, actorId: 'system' },
  'request.reminder': { ...REQUEST, actorId: 'system' },
  'link.created': LINK,
  'link.updated': LINK,
  'link.deleted': LINK,
  'link.failed': { ...LINK, actorId: 'system', error: 'The directory group does not exist.' },
  'link.recovered': { ...LINK, actorId: 'system' },
  'link.paused': { ...LINK, actorId: 'system' },
  'link.resumed': { ...LINK, actorId: 'system' },
  'removals.held': PLAN,
  'removals.approved': { ...PLAN, actorId: MANAGER_ID },
  'removals.rejected': { ...PLAN, actorId: MANAGER_ID },
  'removals.resolved': PLAN,
  'connector.late': { connectorId: CONNECTOR_ID, actorId: 'system' },
  'connector.recovered': { connectorId: CONNECTOR_ID, actorId: 'system' },
  'subscription.disabled': { subscriptionId: SUBSCRIPTION_ID, reason: 'Gone', actorId: 'system' },
  'subscription.test': { subscriptionId: SUBSCRIPTION_ID },
  'subscription.dropped': { subscriptionId: SUBSCRIPTION_ID, count: 1500, from: CREATED_AT, to: UPDATED_AT },
}

const SUBJECTS: readonly (readonly [beginning: string, subject: string])[] = [
  ['member.', `/collections/${CRITERIA_COLLECTION_ID}/members/${RELATIONSHIP_ID}`],
  ['members.', `/collections/${CRITERIA_COLLECTION_ID}`],
  ['collection.', `/collections/${CRITERIA_COLLECTION_ID}`],
  ['request.', `/membership-requests/${REQUEST_ID}`],
  ['link.', `/group-links/${LINK_ID}`],
  ['removals.', `/group-links/${LINK_ID}`],
  ['connector.', `/connectors/${CONNECTOR_ID}`],
  ['subscription.', `/event-subscriptions/${SUBSCRIPTION_ID}`],
]

/** What the service posts to those who subscribe, by type of event. */
export function eventDescriptions(): readonly EventDescription[] {
  return Object.entries({ ...EVENTS, ...CONTROL_EVENTS }).map(([name, { data, meaning }]) => {
    const type = name as keyof typeof DATA
    const subject = SUBJECTS.find(([beginning]) => type.startsWith(beginning))?.[1] ?? ''
    const event = { id: EVENT_ID, type, time: UPDATED_AT, subject, data: DATA[type] }
    return { type, meaning, schema: cloudEventSchema(type, data), example: cloudEvent(TENANT_ID, event) }
  })
}

function cloudEventSchema(type: string, data: ReturnType<typeof Closed>) {
  return Closed({
    specversion: OneOf(['1.0']),
    id: Described(Guid, 'The same each time that the event is delivered.'),
    source: Described(Type.String(), '`/tenants/` and the id of the tenant.'),
    type: OneOf([type]),
    time: Described(Timestamp, 'When it happened.'),
    subject: Described(Type.String(), 'What it happened to. Events of one subject are sent in order.'),
    datacontenttype: OneOf(['application/json']),
    data,
  })
}
