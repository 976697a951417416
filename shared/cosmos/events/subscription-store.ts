import type { Container, OperationInput } from '@azure/cosmos'
import { Type } from 'typebox'
import type { EventDraft } from '../../domain/events/event-types.ts'
import { type DisabledSubscription, Subscription, type SubscriptionStore } from '../../domain/events/subscription.ts'
import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { deletionOf, isWriteConflict, readDocument, writeOf, writeTogether } from '../documents.ts'
import type { Outbox } from './outbox.ts'
import { outboxOperation } from './outbox.ts'

const SUBSCRIPTIONS_ID = 'subscriptions'
/** The version of a record that is not stored. */
const NOT_STORED = ''

const parser = versionedDocumentParser(
  'list of subscriptions',
  Type.Object({ subscriptions: Type.Unsafe<readonly Subscription[]>(Type.Array(Subscription)) }),
)

/** Container `events`: one document in the partition of each tenant that has a subscription. */
export function cosmosSubscriptionStore(events: Container, outbox: Pick<Outbox, 'notify'>): SubscriptionStore {
  return {
    async read(tenantId) {
      const document = await readDocument<object & { id: string }>(events, SUBSCRIPTIONS_ID, tenantId)
      if (document === undefined) return { value: [], version: NOT_STORED }
      const { value, version } = parser.parse(document)
      return { value: value.subscriptions, version }
    },
    async replace(tenantId, subscriptions, version, disabled) {
      const write = operationOf(tenantId, subscriptions, version)
      const eventWrites = disabled === undefined ? [] : [outboxOperation(tenantId, [disabledEvent(disabled)])]
      const failed = await writeTogether(events, tenantId, [write, ...eventWrites])
      if (failed !== undefined && isWriteConflict(failed.status)) throw new Refusal('StaleVersion')
      if (failed !== undefined) throw new Error(`Writing subscriptions failed with status ${failed.status}`)
      if (eventWrites.length > 0) await outbox.notify('events', tenantId, eventWrites)
    },
    async *tenants() {
      const query = `SELECT VALUE c.tenantId FROM c WHERE c.id = '${SUBSCRIPTIONS_ID}'`
      const iterator = events.items.query<string>(query)
      while (iterator.hasMoreResults()) yield (await iterator.fetchNext()).resources ?? []
    },
  }
}

/** Without subscriptions there is no document, so that no sweep looks at the tenant. */
function operationOf(tenantId: string, subscriptions: readonly Subscription[], version: string): OperationInput {
  const isStored = version !== NOT_STORED
  if (isStored && subscriptions.length === 0) return deletionOf(SUBSCRIPTIONS_ID, version)
  return writeOf({ id: SUBSCRIPTIONS_ID, tenantId, subscriptions }, isStored ? version : undefined)
}

function disabledEvent({ subscriptionId, reason, at: time }: DisabledSubscription): EventDraft {
  const data = { subscriptionId, reason, actorId: SYSTEM_ACTOR }
  const subject = `/event-subscriptions/${subscriptionId}`
  return { key: [subscriptionId, time], type: 'subscription.disabled', time, subject, data }
}
