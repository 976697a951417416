import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import type { CollectionLists } from '../collections/collection-dependencies.ts'
import type { MemberCounts } from '../collections/member-counts.ts'
import type { LinkLists } from '../group-links/link-store.ts'

/** What a list of collections shows of each, besides its definition. */
export const CollectionCounts = Closed({
  collectionId: Guid,
  memberCount: Described(
    Nullable(Type.Integer({ minimum: 0 })),
    'The members of a criteria collection as last evaluated, and the memberships of a joinable one as of now. Null ' +
      'before the first evaluation, and for a joinable collection whose memberships were last changed by a version of ' +
      'the service that did not count them.',
  ),
  linkCount: Described(Type.Integer({ minimum: 0 }), 'The group links of the collection, disabled ones included.'),
})
export type CollectionCounts = Static<typeof CollectionCounts>

export type CollectionCountDependencies = {
  readonly collections: Pick<CollectionLists, 'summaries' | 'existing'>
  readonly memberCounts: MemberCounts
  readonly linkStore: Pick<LinkLists, 'linkedCollectionIds'>
}

/**
 * How many members and links collections have: with as many queries for all of a tenant as for one.
 * @param collectionId Undefined for all collections of the tenant. Empty when there is no such collection.
 */
export async function countMembersAndLinks(
  tenantId: string,
  collectionId: string | undefined,
  { collections, memberCounts, linkStore }: CollectionCountDependencies,
): Promise<CollectionCounts[]> {
  const ids = collectionId === undefined ? undefined : [collectionId]
  const [all, members, linked] = await Promise.all([
    ids === undefined ? collections.summaries(tenantId) : collections.existing(tenantId, ids),
    memberCounts.of(tenantId, ids),
    linkStore.linkedCollectionIds(tenantId, collectionId),
  ])
  const links = new Map<string, number>()
  for (const id of linked) links.set(id, (links.get(id) ?? 0) + 1)
  return all.map(({ id, kind }) => {
    // A joinable collection without a record of members never had one.
    const counted = members.get(id)
    const memberCount = counted === undefined && kind === 'joinable' ? 0 : (counted ?? null)
    return { collectionId: id, memberCount, linkCount: links.get(id) ?? 0 }
  })
}
