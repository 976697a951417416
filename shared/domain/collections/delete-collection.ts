import { actorIdOf, type KnownCaller } from '../../kernel/caller.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { requireIfMatch } from '../../kernel/versioned.ts'
import { auditOfCollection } from './audit-collection.ts'
import type { CollectionKind } from './collection.ts'
import { type CollectionDependencies, type EvaluationNotifier, notifyEvaluation } from './collection-dependencies.ts'
import { found, withReferenceGuard } from './write-collection.ts'

type DeletionDependencies = Pick<CollectionDependencies, 'collections' | 'links' | 'memberships' | 'nowMs'>

/**
 * Deletes a collection that nothing refers to, and its members.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `CollectionInUse` naming the referring collections and
 * links.
 */
export async function deleteCollection(
  kind: CollectionKind,
  id: string,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: DeletionDependencies & EvaluationNotifier,
): Promise<void> {
  await withReferenceGuard(caller.tenantId, deps, async (referenceVersion) => {
    const { value, version } = found(await deps.collections.find(caller.tenantId, id, kind), id)
    requireIfMatch(version, ifMatch)
    await refuseInUse(id, caller.tenantId, deps)
    const audit = auditOfCollection('Deleted', value, undefined, actorIdOf(caller), deps)
    await deps.collections.remove(caller.tenantId, id, version, referenceVersion, audit)
  })
  await removeMembers(id, caller.tenantId, deps)
  await notifyEvaluation(caller.tenantId, deps)
}

/** A failure is logged: the collection is deleted, and later evaluations remove orphaned members. */
async function removeMembers(
  collectionId: string,
  tenantId: string,
  { memberships, log }: Pick<CollectionDependencies, 'memberships' | 'log'>,
): Promise<void> {
  try {
    await memberships.remove(tenantId, collectionId)
  } catch (error) {
    log.error('collections.members-orphaned', error, { tenantId, collectionId })
  }
}

async function refuseInUse(
  id: string,
  tenantId: string,
  deps: Pick<CollectionDependencies, 'collections' | 'links'>,
): Promise<void> {
  // A joinable collection that its own members may join refers to itself.
  const referrers = (await deps.collections.search(tenantId, { refersTo: id })).filter((referrer) => referrer.id !== id)
  const linkIds = await deps.links.linksOf(tenantId, id)
  if (referrers.length + linkIds.length === 0) return
  const users = [
    ...referrers.map((referrer) => `collection ${referrer.id} (${referrer.name})`),
    ...linkIds.map((linkId) => `group link ${linkId}`),
  ]
  throw new Refusal('CollectionInUse', `The collection is in use by ${users.join(', ')}`)
}
