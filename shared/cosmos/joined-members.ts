import type { Container } from '@azure/cosmos'
import type { JoinedMembers } from '../domain/collections/membership-store.ts'
import type { JoinedMembership } from '../domain/criteria/collection-members.ts'
import { DOCUMENTS_PER_PAGE_COUNT, type QueryParameters, queryAll, sqlParameters } from './documents.ts'
import { historySince } from './membership-plan.ts'
import { headId, type JoinedChangeDocument, type JoinedHeadDocument } from './request-document.ts'

/** Container `requests`, partition key `/tenantId`: the slots of memberships, and the heads that count their changes. */
export function cosmosJoinedMembers(requests: Container): JoinedMembers {
  const find = <T>(tenantId: string, query: string, parameters: QueryParameters): Promise<T[]> =>
    queryAll<T>(
      requests,
      tenantId,
      { query, parameters: sqlParameters(parameters) },
      { maxItemCount: DOCUMENTS_PER_PAGE_COUNT },
    )
  const versions = async (tenantId: string, collectionIds: readonly string[]) => {
    const known = new Map(collectionIds.map((id) => [id, 0]))
    if (known.size === 0) return known
    const heads = await find<JoinedHeadDocument>(tenantId, 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', {
      ids: collectionIds.map(headId),
    })
    for (const { collectionId, membershipVersion } of heads) known.set(collectionId, membershipVersion)
    return known
  }
  const joined =
    "SELECT c.ofCollection, c.holderId AS identityId, c.position AS relationshipId FROM c WHERE c.state = 'Joined' AND "

  return {
    versions,
    async of(tenantId, collectionIds) {
      if (collectionIds.length === 0) return new Map()
      // The versions first: members that are newer than their version are told of again, older ones would be missed.
      const versionOf = await versions(tenantId, collectionIds)
      const clause = 'ARRAY_CONTAINS(@ids, c.ofCollection)'
      const found = await find<FoundMembership>(tenantId, joined + clause, { ids: [...versionOf.keys()] })
      const byCollection = Map.groupBy(found, ({ ofCollection }) => ofCollection)
      return new Map(
        versionOf.entries().map(([id, membershipVersion]) => {
          const memberships = (byCollection.get(id) ?? []).map(membershipOf).sort(byIdentity)
          return [id, { memberships, membershipVersion }]
        }),
      )
    },
    async ofIdentity(tenantId, identityId) {
      const found = await find<FoundMembership>(tenantId, `${joined}c.holderId = @identityId`, { identityId })
      const byCollection = Map.groupBy(found, ({ ofCollection }) => ofCollection)
      return new Map(byCollection.entries().map(([id, memberships]) => [id, memberships.map(membershipOf)]))
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const current = (await versions(tenantId, [collectionId])).get(collectionId) ?? 0
      if (current < membershipVersion) return undefined
      const query =
        "SELECT * FROM c WHERE c.collectionId = @collectionId AND c.type = 'change' AND c.membershipVersion > @version"
      const changes = await find<JoinedChangeDocument>(tenantId, query, { collectionId, version: membershipVersion })
      return historySince(membershipVersion, current, changes)
    },
  }
}

type FoundMembership = JoinedMembership & { readonly ofCollection: string }

function membershipOf({ identityId, relationshipId }: FoundMembership): JoinedMembership {
  return { identityId, relationshipId }
}

function byIdentity(one: JoinedMembership, other: JoinedMembership): number {
  if (one.identityId !== other.identityId) return one.identityId < other.identityId ? -1 : 1
  return (one.relationshipId ?? '') < (other.relationshipId ?? '') ? -1 : 1
}
