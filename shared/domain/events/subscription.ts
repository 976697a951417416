import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'

/** Subscriptions of a tenant, at most. */
export const SUBSCRIPTIONS_LIMIT_COUNT = 20

/** After a rotation, deliveries are signed with the former secret too for this time. */
const FORMER_SECRET_VALID_MS = 24 * 60 * 60 * 1000

/** Each former secret adds a signature to each delivery. When more are replaced within a day, the oldest is dropped. */
const MAX_FORMER_SECRETS = 9

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Where events are sent to: `https`, a public address, without credentials. A name is resolved for each connection, ' +
    'which is made to a public address only.',
})
const Types = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 50,
  description: 'Types of events, or the beginning of one followed by `*`.',
})
const Text = Type.String({ maxLength: 1000 })
const State = OneOf(['Enabled', 'Disabled'])

const RECORD = {
  id: Guid,
  url: Url,
  types: Types,
  description: Nullable(Text),
  state: Described(
    State,
    'A disabled subscription gets no events. `PUT` with `state` enables it again: its five days begin anew.',
  ),
  disabledReason: Described(
    Nullable(OneOf(['Gone', 'Failing'])),
    '`Gone`: the receiver answered 410. `Failing`: nothing was received for five days, in which events always ' +
      'waited. Null when the service did not disable it.',
  ),
  createdAt: Timestamp,
  createdBy: Described(Guid, 'Object id (`oid`) of the user or application.'),
}

/** A subscription as clients see it. */
export const EventSubscription = Closed(RECORD)

/** The only responses with the secret. */
export const EventSubscriptionWithSecret = Closed({
  ...RECORD,
  secret: Described(
    Type.String(),
    'Verifies the signatures of deliveries: `whsec_` and the key in base64. Shown this once.',
  ),
})

export const NewEventSubscription = Type.Object({
  url: Url,
  types: Types,
  description: Type.Optional(Nullable(Text)),
})
export type NewEventSubscription = Static<typeof NewEventSubscription>

/** Members that are left out keep their values. */
export const EventSubscriptionUpdate = Type.Object({
  url: Type.Optional(Nullable(Url)),
  types: Type.Optional(Nullable(Types)),
  description: Type.Optional(Nullable(Text)),
  state: Type.Optional(Nullable(State)),
})
export type EventSubscriptionUpdate = Static<typeof EventSubscriptionUpdate>

const FormerSecret = Type.Object({ secret: Type.String(), untilMs: Type.Number() })
type FormerSecret = Readonly<Static<typeof FormerSecret>>

/** A subscription as stored. */
export const Subscription = Type.Object({
  ...RECORD,
  secret: Type.String(),
  formerSecret: Type.Optional(FormerSecret),
  /** Those before the former one, the newest first. The previous release reads only that one, and keeps these. */
  earlierSecrets: Type.Optional(Type.Array(FormerSecret)),
  /** It gets events from this time on: when it was created or last enabled. */
  sinceMs: Type.Number(),
  /**
   * It gets changes of members from this time on, if that is later: when its types came to have them. Absent where they
   * had them from the beginning, and in records of the previous release.
   */
  membersSinceMs: Type.Optional(Type.Number()),
  /** Rises with every change by a caller or the service. */
  revision: Type.Integer(),
})
export type Subscription = Readonly<Static<typeof Subscription>>

/** The subscriptions of tenants: one record for each tenant, so that one read shows whether anybody listens. */
export interface SubscriptionStore {
  /** Oldest first. Empty with an empty version when there never were any. */
  read(tenantId: string): Promise<Versioned<readonly Subscription[]>>
  /**
   * @param event What the change tells the other subscriptions, stored in the same transaction.
   * @throws Refusal `StaleVersion`.
   */
  replace(
    tenantId: string,
    subscriptions: readonly Subscription[],
    version: string,
    disabled?: DisabledSubscription,
  ): Promise<void>
  /** Tenants with a record, in pages. */
  tenants(): AsyncIterable<readonly string[]>
}

/** A subscription that the service disables. */
export type DisabledSubscription = {
  readonly subscriptionId: string
  readonly reason: 'Gone' | 'Failing'
  readonly at: string
}

export function toEventSubscription(subscription: Subscription): Static<typeof EventSubscription> {
  const { id, url, types, description, state, disabledReason, createdAt, createdBy } = subscription
  return { id, url, types, description, state, disabledReason, createdAt, createdBy }
}

/** The secrets with which a delivery is signed, the newest first. */
export function secretsOf(subscription: Subscription, nowMs: number): string[] {
  return [subscription.secret, ...validFormerSecrets(subscription, nowMs).map(({ secret }) => secret)]
}

/** The subscription with a new secret. The former ones stay valid, each for a day after it was replaced. */
export function rotated(subscription: Subscription, secret: string, nowMs: number): Subscription {
  const formerSecret = { secret: subscription.secret, untilMs: nowMs + FORMER_SECRET_VALID_MS }
  const earlierSecrets = validFormerSecrets(subscription, nowMs).slice(0, MAX_FORMER_SECRETS - 1)
  return { ...subscription, secret, formerSecret, earlierSecrets, revision: subscription.revision + 1 }
}

function validFormerSecrets({ formerSecret, earlierSecrets = [] }: Subscription, nowMs: number): FormerSecret[] {
  return [formerSecret ?? [], earlierSecrets].flat().filter(({ untilMs }) => nowMs < untilMs)
}

/** From when on a subscription gets changes of members. They are read from their history, which has older ones as well. */
export function getsMembersSinceMs({ sinceMs, membersSinceMs = sinceMs }: Subscription): number {
  return Math.max(sinceMs, membersSinceMs)
}

export function isEnabled({ state }: Subscription): boolean {
  return state === 'Enabled'
}
