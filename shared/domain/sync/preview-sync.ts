import { type Static, Type } from 'typebox'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import { type CollectionAccounts, collectionNotEvaluated, isNotEvaluated } from '../group-links/collection-accounts.ts'
import { callDirectory, verifyCollection, verifyGroup } from '../group-links/create-link.ts'
import { readAllMembers } from '../group-links/directory.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import { countUnaccepted } from './accepted-members.ts'
import { planSync } from './plan-sync.ts'

export const LinkPreviewInput = Type.Object({ collectionId: Guid, groupId: Guid })
export type LinkPreviewInput = Static<typeof LinkPreviewInput>

export const LinkPreview = Closed({
  membersToAdd: Described(Type.Array(Guid), 'Directory object ids of the accounts that a sync would add.'),
  membersToRemove: Described(
    Type.Array(Guid),
    'Directory object ids of the group members that are not in the collection. They are listed even while ' +
      '`membersWithoutEntraAccount` is above zero and a sync would remove none of them.',
  ),
  membersWithoutEntraAccount: Described(
    Type.Integer({ minimum: 0 }),
    'Number of collection members without a directory account, those included whose account the last sync job of the ' +
      "group's link could not add and that the group still does not have, without those that the link accepts. While " +
      'it is above zero, a sync removes no member.',
  ),
  groupMemberCount: Described(
    Type.Integer({ minimum: 0 }),
    'Number of users who are members of the group now: what `membersToRemove` is a share of.',
  ),
})
export type LinkPreview = Static<typeof LinkPreview>

type PreviewDependencies = LinkDependencies & { sleep(delayMs: number): Promise<void> }

/** Delays before the accounts are read again while another instance evaluates the collection. */
const REREAD_DELAYS_MS = [1_000, 2_000, 4_000]

/**
 * What a sync of the collection into the group would write. Needs no link, and writes nothing.
 * @throws Refusal of `VERIFICATION_REFUSALS`.
 */
export async function previewLink(
  tenantId: string,
  { collectionId, groupId }: LinkPreviewInput,
  deps: PreviewDependencies,
): Promise<LinkPreview> {
  const group = { tenantId, groupId, target: '/groupId' }
  await verifyCollection(tenantId, collectionId, deps)
  await verifyGroup(group, deps)
  const link = (await deps.links.ofGroup(tenantId, groupId))?.value
  const accepted = link?.collectionId === collectionId ? link.acceptedWithoutAccount : []
  const collection = await evaluatedAccounts({ tenantId, collectionId, accepted }, deps)
  const { accounts, withoutAccountCount } = collection
  const { users, others } = await callDirectory(group, deps, () => readAllMembers(tenantId, groupId, deps.directory))
  // Another client can have added the accounts that the last job could not add.
  const notAdded = accounts.intersection(new Set(link?.unresolved)).difference(users)
  const unresolved = notAdded.union(accounts.intersection(others))
  const { add, remove } = planSync(accounts.difference(unresolved), users, { withoutAccountCount: 0 })
  return {
    membersToAdd: [...add],
    membersToRemove: [...remove],
    membersWithoutEntraAccount: withoutAccountCount + countUnaccepted(unresolved, collection.accepted),
    groupMemberCount: users.size,
  }
}

/** @throws Refusal `CollectionNotVerified` while the collection is not evaluated, or not since its condition changed. */
async function evaluatedAccounts(
  { tenantId, collectionId, accepted }: { tenantId: string; collectionId: string; accepted: readonly string[] },
  { collections, sleep }: Pick<PreviewDependencies, 'collections' | 'sleep'>,
): Promise<CollectionAccounts> {
  const read = async (): Promise<CollectionAccounts | undefined> => {
    const found = await collections.accountsOf(tenantId, collectionId, accepted).catch((error: unknown) => {
      if (!isNotEvaluated(error)) throw error
      return undefined
    })
    return found?.isCurrent === true ? found : undefined
  }
  for (const delayMs of REREAD_DELAYS_MS) {
    const found = await read()
    if (found !== undefined) return found
    await sleep(delayMs)
  }
  const found = await read()
  if (found === undefined) throw collectionNotEvaluated(collectionId)
  return found
}
