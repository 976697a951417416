import type { Static } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { requireIfMatch, retryOnConflict, revisionETag } from '../../kernel/versioned.ts'
import type { EventDependencies } from './event-stores.ts'
import { type EventDraft, eventOf, isTypePattern, receivesMembers } from './event-types.ts'
import { notifyLane, storeBatches } from './publish-events.ts'
import {
  type EventSubscriptionUpdate,
  type EventSubscriptionWithSecret,
  isEnabled,
  type NewEventSubscription,
  rotated,
  SUBSCRIPTIONS_LIMIT_COUNT,
  type Subscription,
  toEventSubscription,
} from './subscription.ts'

type ManageDependencies = Pick<
  EventDependencies,
  'subscriptions' | 'deliveries' | 'sender' | 'messageQueue' | 'deriveId' | 'newId' | 'newSecret' | 'nowMs'
>
type WithSecret = Static<typeof EventSubscriptionWithSecret>

/** @throws Refusal `SubscriptionNotFound`. */
export async function readSubscription(
  tenantId: string,
  id: string,
  { subscriptions }: Pick<EventDependencies, 'subscriptions'>,
): Promise<Subscription> {
  return subscriptionOf((await subscriptions.read(tenantId)).value, id)
}

function subscriptionOf(all: readonly Subscription[], id: string): Subscription {
  const found = all.find((candidate) => candidate.id === id)
  if (found === undefined) throw new Refusal('SubscriptionNotFound', `The event subscription ${id} does not exist`)
  return found
}

/** @throws Refusal `QuotaExceeded`; `InvalidValue` for a type or an address. */
export async function createSubscription(
  { url, types, description = null }: NewEventSubscription,
  { tenantId, objectId }: Caller,
  creation: { newId(): string },
  deps: ManageDependencies,
): Promise<WithSecret> {
  requireValid({ url, types }, deps)
  const id = creation.newId()
  return retryOnConflict(async () => {
    const { value, version } = await deps.subscriptions.read(tenantId)
    // A repeated request after a crash finds what the first one has created.
    const created = value.find((candidate) => candidate.id === id)
    if (created !== undefined) return { ...toEventSubscription(created), secret: created.secret }
    if (value.length >= SUBSCRIPTIONS_LIMIT_COUNT) {
      throw new Refusal('QuotaExceeded', `A tenant has at most ${SUBSCRIPTIONS_LIMIT_COUNT} event subscriptions`)
    }
    const nowMs = deps.nowMs()
    const subscription: Subscription = {
      ...{ id, url, types, description },
      state: 'Enabled',
      disabledReason: null,
      createdAt: toTimestamp(nowMs),
      createdBy: objectId,
      secret: deps.newSecret(),
      sinceMs: nowMs,
      revision: 1,
    }
    await deps.subscriptions.replace(tenantId, [...value, subscription], version)
    return { ...toEventSubscription(subscription), secret: subscription.secret }
  })
}

/** @throws Refusal `SubscriptionNotFound`, `PreconditionFailed`; `InvalidValue` for a type or an address. */
export async function updateSubscription(
  tenantId: string,
  id: string,
  { url, types, description, state }: EventSubscriptionUpdate,
  ifMatch: string | undefined,
  deps: ManageDependencies,
): Promise<Subscription> {
  requireValid({ ...(url && { url }), ...(types && { types }) }, deps)
  const updated = await change(tenantId, id, deps, (before) => {
    requireIfMatch(revisionETag(before), ifMatch)
    const isNewlyEnabled = state === 'Enabled' && !isEnabled(before)
    const gainsMembers = receivesMembers(types ?? before.types) && !receivesMembers(before.types)
    return {
      ...before,
      url: url ?? before.url,
      types: types ?? before.types,
      description: description ?? before.description,
      state: state ?? before.state,
      disabledReason: state === 'Enabled' ? null : before.disabledReason,
      sinceMs: isNewlyEnabled ? deps.nowMs() : before.sinceMs,
      ...(gainsMembers ? { membersSinceMs: deps.nowMs() } : {}),
      revision: before.revision + 1,
    }
  })
  // What waited when it was disabled is due.
  if (isEnabled(updated)) await notifyLane(tenantId, id, deps)
  return updated
}

/** @throws Refusal `SubscriptionNotFound`, `PreconditionFailed`. */
export async function deleteSubscription(
  tenantId: string,
  id: string,
  ifMatch: string | undefined,
  deps: Pick<ManageDependencies, 'subscriptions' | 'deliveries'>,
): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await deps.subscriptions.read(tenantId)
    requireIfMatch(revisionETag(subscriptionOf(value, id)), ifMatch)
    const others = value.filter((candidate) => candidate.id !== id)
    await deps.subscriptions.replace(tenantId, others, version)
  })
  await deps.deliveries.removeAll(tenantId, id)
}

/** The subscription with a new secret. @throws Refusal `SubscriptionNotFound`. */
export async function rotateSecret(tenantId: string, id: string, deps: ManageDependencies): Promise<WithSecret> {
  const secret = deps.newSecret()
  const changed = await change(tenantId, id, deps, (before) => rotated(before, secret, deps.nowMs()))
  return { ...toEventSubscription(changed), secret }
}

/** Sends an event of type `subscription.test`. @throws Refusal `SubscriptionNotFound`, `SubscriptionDisabled`. */
export async function testSubscription(
  tenantId: string,
  subscriptionId: string,
  deps: ManageDependencies,
): Promise<{ eventId: string }> {
  await requireEnabled(tenantId, subscriptionId, deps)
  const nowMs = deps.nowMs()
  const draft: EventDraft = {
    key: ['test', deps.newId()],
    type: 'subscription.test',
    time: toTimestamp(nowMs),
    subject: `/event-subscriptions/${subscriptionId}`,
    data: { subscriptionId },
  }
  const event = eventOf(draft, tenantId, deps.deriveId)
  await storeBatches([event], { tenantId, subscriptionId }, deps)
  await notifyLane(tenantId, subscriptionId, deps)
  return { eventId: event.id }
}

/** @throws Refusal `SubscriptionNotFound`, `SubscriptionDisabled`. */
export async function requireEnabled(
  tenantId: string,
  id: string,
  deps: Pick<EventDependencies, 'subscriptions'>,
): Promise<void> {
  if (!isEnabled(await readSubscription(tenantId, id, deps))) throw new Refusal('SubscriptionDisabled')
}

function change(
  tenantId: string,
  id: string,
  { subscriptions }: Pick<ManageDependencies, 'subscriptions'>,
  changed: (before: Subscription) => Subscription,
): Promise<Subscription> {
  return retryOnConflict(async () => {
    const { value, version } = await subscriptions.read(tenantId)
    const before = subscriptionOf(value, id)
    const after = changed(before)
    const all = value.map((candidate) => (candidate === before ? after : candidate))
    await subscriptions.replace(tenantId, all, version)
    return after
  })
}

function requireValid(
  { url, types = [] }: { readonly url?: string; readonly types?: readonly string[] },
  { sender }: Pick<ManageDependencies, 'sender'>,
): void {
  const faults: RefusalEntry[] = []
  const unknown = types.find((type) => !isTypePattern(type))
  if (unknown !== undefined) faults.push(refusalEntry('InvalidValue', `${unknown} is no type of event`, '/types'))
  const fault = url === undefined ? undefined : sender.faultOf(url)
  if (fault !== undefined) faults.push(refusalEntry('InvalidValue', `The address ${fault}`, '/url'))
  throwIfRefused(faults)
}
