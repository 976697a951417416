import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import { ObjectHistoryEntry } from '../insight/list-history.ts'

const ActorId = Described(Type.String(), 'A core identity id, the `oid` of an actor without one, or `system`.')
const OfCollection = Closed({ collectionId: Guid, actorId: ActorId })
const OfRequest = Closed({ requestId: Guid, collectionId: Guid, actorId: ActorId })
const LINK = { linkId: Guid, collectionId: Guid, directoryGroupId: Guid, actorId: ActorId }
const OfLink = Closed(LINK)
const OfConnector = Closed({ connectorId: Guid, actorId: ActorId })
const OfPlan = Closed({ planId: Guid, ...LINK })

/** Every type of event that a subscription can name, with the schema of its `data` and what it says. */
export const EVENTS = {
  'member.added': { data: ObjectHistoryEntry, meaning: 'An object became a member of a collection' },
  'member.removed': { data: ObjectHistoryEntry, meaning: 'An object is no longer a member of a collection' },
  'members.changed': {
    data: Closed({
      collectionId: Guid,
      added: Described(Type.Integer(), 'Number of added members.'),
      removed: Described(Type.Integer(), 'Number of removed members.'),
      membershipVersion: Described(Type.Integer(), 'The version of the changes in the history of the collection.'),
    }),
    meaning: 'More than 1,000 members of a collection changed at once; the history has each of them',
  },
  'collection.created': { data: OfCollection, meaning: 'A collection was created' },
  'collection.updated': { data: OfCollection, meaning: 'A collection was changed' },
  'collection.deleted': {
    data: OfCollection,
    meaning: 'A collection was deleted with all members; no `member.removed` tells of them',
  },
  'request.submitted': { data: OfRequest, meaning: 'A membership was requested' },
  'request.waiting': { data: OfRequest, meaning: 'A membership request waits at a gate' },
  'request.approved': { data: OfRequest, meaning: 'A gate approved a membership request' },
  'request.rejected': { data: OfRequest, meaning: 'A membership request was rejected' },
  'request.joined': { data: OfRequest, meaning: 'A membership request led to a membership' },
  'request.left': { data: OfRequest, meaning: 'A membership ended' },
  'request.cancelled': { data: OfRequest, meaning: 'A membership request was withdrawn or ended undecided' },
  'request.ending': { data: OfRequest, meaning: 'A membership ends within seven days' },
  'request.reminder': { data: OfRequest, meaning: 'A membership request waits at a gate for the days of its reminder' },
  'link.created': { data: OfLink, meaning: 'A group link was created' },
  'link.updated': {
    data: OfLink,
    meaning: 'A group link was enabled or disabled, or its `acceptedWithoutAccount` was changed',
  },
  'link.deleted': { data: OfLink, meaning: 'A group link was deleted' },
  'link.failed': {
    data: Closed({ ...LINK, error: Described(Nullable(Type.String()), 'As in the sync job; null when unknown.') }),
    meaning: 'The first of a series of sync jobs of a group link failed',
  },
  'link.recovered': { data: OfLink, meaning: 'A sync job of a group link succeeded after failed ones' },
  'link.paused': { data: OfLink, meaning: 'A group link removes no members, because some have no directory account' },
  'link.resumed': { data: OfLink, meaning: 'A group link removes members again' },
  'removals.held': { data: OfPlan, meaning: 'The removal guard held removals' },
  'removals.approved': { data: OfPlan, meaning: 'Held removals were approved' },
  'removals.rejected': { data: OfPlan, meaning: 'Held removals were rejected' },
  'removals.resolved': { data: OfPlan, meaning: 'A group link has no held removals any more' },
  'connector.late': { data: OfConnector, meaning: 'A connector has sent nothing for its expected interval' },
  'connector.recovered': { data: OfConnector, meaning: 'A connector that was late has sent data again' },
  'subscription.disabled': {
    data: Closed({ subscriptionId: Guid, reason: OneOf(['Gone', 'Failing']), actorId: ActorId }),
    meaning: 'The service disabled another subscription',
  },
} as const satisfies Record<string, { data: ReturnType<typeof Closed>; meaning: string }>

export type EventType = keyof typeof EVENTS

/** Events that each subscription gets, without naming their types. */
export const CONTROL_EVENTS = {
  'subscription.test': { data: Closed({ subscriptionId: Guid }), meaning: 'A test was asked for' },
  'subscription.dropped': {
    data: Closed({
      subscriptionId: Guid,
      count: Described(Type.Integer(), 'Number of dropped events.'),
      from: Described(Timestamp, 'Time of the oldest of them.'),
      to: Described(Timestamp, 'Time of the newest of them.'),
    }),
    meaning: 'More events waited than the service keeps; the oldest were dropped',
  },
} as const satisfies Record<string, { data: ReturnType<typeof Closed>; meaning: string }>

type AnyEventType = EventType | keyof typeof CONTROL_EVENTS

/** What an event says, before it has an id. */
export type EventDraft = {
  /** Texts that no other event has, from which the id is derived. */
  readonly key: readonly string[]
  readonly type: AnyEventType
  /** Timestamp. */
  readonly time: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** An event as stored. */
export const StoredEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  time: Type.String(),
  subject: Type.String(),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }),
})
export type StoredEvent = Readonly<Static<typeof StoredEvent>>

/** Gives an event its id, which is the same for the same key. */
export function eventOf(
  { key, ...draft }: EventDraft,
  tenantId: string,
  deriveId: (...parts: string[]) => string,
): StoredEvent {
  return { id: deriveId('event', tenantId, ...key), ...draft }
}

/** An event as delivered: CloudEvents 1.0 in JSON. */
export function cloudEvent(tenantId: string, { id, type, time, subject, data }: StoredEvent) {
  return {
    specversion: '1.0',
    id,
    source: `/tenants/${tenantId}`,
    type,
    time,
    subject,
    datacontenttype: 'application/json',
    data,
  }
}

/** A type of the list, or the beginning of one followed by `*`. */
export function isTypePattern(text: string): boolean {
  return Object.keys(EVENTS).some((type) => matchesType(text, type))
}

/** Whether a subscription to these types gets events of a type. */
export function receives(types: readonly string[], type: string): boolean {
  return type in CONTROL_EVENTS || types.some((pattern) => matchesType(pattern, type))
}

const MEMBER_EVENTS: readonly string[] = ['member.added', 'member.removed', 'members.changed'] satisfies EventType[]

/** Whether events of a type tell of changes of members, which the history of members has. */
export function isOfMembers(type: string): boolean {
  return MEMBER_EVENTS.includes(type)
}

/** Whether a subscription to these types gets changes of members. */
export function receivesMembers(types: readonly string[]): boolean {
  return MEMBER_EVENTS.some((type) => receives(types, type))
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
}
