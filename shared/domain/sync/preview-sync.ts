import { type Static, Type } from 'typebox'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import { askDirectory, verifyCollection, verifyGroup } from '../group-links/create-link.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import { allMembers } from './group-members.ts'
import { planSync } from './plan-sync.ts'

export const LinkPreviewInput = Type.Object({ collectionId: Guid, groupId: Guid })
export type LinkPreviewInput = Static<typeof LinkPreviewInput>

export const LinkPreview = Closed({
  membersToAdd: Described(Type.Array(Guid), 'Object ids in the directory.'),
  membersToRemove: Described(
    Type.Array(Guid),
    'Object ids in the directory. Also while accounts are missing and nothing would be removed: it is the risk.',
  ),
  membersWithoutEntraAccount: Described(
    Type.Integer({ minimum: 0 }),
    'Members of the collection without a directory account; while above zero, a sync removes nobody.',
  ),
})
export type LinkPreview = Static<typeof LinkPreview>

/** What a sync of the collection into the group would write. Writes nothing and needs no link. */
export async function previewLink(
  tenantId: string,
  { collectionId, groupId }: LinkPreviewInput,
  deps: LinkDependencies,
): Promise<LinkPreview> {
  const asked = { tenantId, groupId, target: '/groupId' }
  await verifyCollection(tenantId, collectionId, deps)
  await verifyGroup(asked, deps)
  const { accounts, withoutAccountCount } = await deps.collections.accountsOf(tenantId, collectionId)
  const { users, others } = await askDirectory(asked, deps, () => allMembers(tenantId, groupId, deps.directory))
  const { add, remove } = planSync(accounts.difference(others), users, { withoutAccountCount: 0 })
  return {
    membersToAdd: [...add],
    membersToRemove: [...remove],
    membersWithoutEntraAccount: withoutAccountCount,
  }
}
