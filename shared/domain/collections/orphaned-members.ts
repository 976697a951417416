import type { CollectionDependencies } from './collection-dependencies.ts'

/** By then whoever was writing members of a collection while it was deleted has ended, one way or the other. */
const WRITERS_GONE_AFTER_MS = 60 * 60 * 1000

/**
 * Removes the members of collections deleted a while ago: those that could not be removed with the collection, and those
 * that an evaluation wrote at the same moment and then crashed.
 */
export async function removeOrphanedMembers(
  tenantId: string,
  { collections, memberships, nowMs }: Pick<CollectionDependencies, 'collections' | 'memberships' | 'nowMs'>,
): Promise<void> {
  for (const id of await collections.removedBefore(tenantId, nowMs() - WRITERS_GONE_AFTER_MS)) {
    await memberships.remove(tenantId, id)
    await collections.forgetRemoved(tenantId, id)
  }
}
