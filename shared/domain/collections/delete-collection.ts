import type { Caller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { requireIfMatch } from '../../kernel/versioned.ts'
import type { CollectionKind } from './collection.ts'
import { type CollectionDependencies, notifyEvaluation } from './collection-dependencies.ts'
import { found, withReferenceGuard } from './write-collection.ts'

/**
 * Deletes a collection that nothing refers to, and forgets its members.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `CollectionInUse` naming what refers to it.
 */
export async function deleteCollection(
  kind: CollectionKind,
  id: string,
  ifMatch: string | undefined,
  caller: Caller,
  deps: CollectionDependencies,
): Promise<void> {
  await withReferenceGuard(caller.tenantId, deps, async (referenceVersion) => {
    const { version } = found(await deps.collections.find(caller.tenantId, id, kind), id)
    requireIfMatch(version, ifMatch)
    await refuseInUse(id, caller.tenantId, deps)
    await deps.collections.remove(caller.tenantId, id, version, referenceVersion)
  })
  await removeMembers(id, caller.tenantId, deps)
  await notifyEvaluation(caller.tenantId, deps)
}

/** The collection is gone by now, whatever becomes of its members: later evaluations remove what is left of them. */
async function removeMembers(
  collectionId: string,
  tenantId: string,
  { memberships, log }: Pick<CollectionDependencies, 'memberships' | 'log'>,
): Promise<void> {
  try {
    await memberships.remove(tenantId, collectionId)
  } catch (error) {
    log.error('collections.members-left', error, { tenantId, collectionId })
  }
}

async function refuseInUse(id: string, tenantId: string, deps: CollectionDependencies): Promise<void> {
  // One whose own members decide on who joins names itself.
  const referrers = (await deps.collections.list(tenantId, { refersTo: id })).filter((referrer) => referrer.id !== id)
  const linkIds = await deps.links.linksOf(tenantId, id)
  if (referrers.length + linkIds.length === 0) return
  const users = [
    ...referrers.map((referrer) => `collection ${referrer.id} (${referrer.name})`),
    ...linkIds.map((linkId) => `group link ${linkId}`),
  ]
  throw new Refusal('CollectionInUse', `The collection is referred to by ${users.join(', ')}`)
}

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
    await collections.deleteRemovalRecord(tenantId, id)
  }
}
