import { chunk } from '../../kernel/chunk.ts'
import { enqueuePublishing } from '../../kernel/enqueue-messages.ts'
import type { EventDependencies } from './event-stores.ts'
import { receivesMembers } from './event-types.ts'
import { isEnabled } from './subscription.ts'

/** Collections of one message, and whose records are read together. */
export const COLLECTIONS_PER_MESSAGE_COUNT = 100

/** Enqueues the publication of changes of the members of collections. */
export async function enqueueMemberEvents(
  tenantId: string,
  collectionIds: readonly string[],
  deps: Pick<EventDependencies, 'messageQueue' | 'newId'>,
): Promise<void> {
  for (const ids of chunk(collectionIds, COLLECTIONS_PER_MESSAGE_COUNT)) {
    await enqueuePublishing({ tenantId, collectionIds: ids }, deps.newId(), deps)
  }
}

/**
 * Enqueues the publication of changes of members, where anybody receives them. Call it after the changes are written. A
 * failure is logged: the sweep publishes them later.
 */
export async function notifyMemberEvents(
  tenantId: string,
  collectionIds: readonly string[],
  deps: Pick<EventDependencies, 'subscriptions' | 'messageQueue' | 'newId' | 'log'>,
): Promise<void> {
  if (collectionIds.length === 0) return
  try {
    const { value } = await deps.subscriptions.read(tenantId)
    if (!value.some((subscription) => isEnabled(subscription) && receivesMembers(subscription.types))) return
    await enqueueMemberEvents(tenantId, collectionIds, deps)
  } catch (error) {
    deps.log.error('events.enqueue-failed', error, { tenantId, source: 'members' })
  }
}
