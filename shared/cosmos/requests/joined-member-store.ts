import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { JoinedMembers } from '../../domain/collections/membership-store.ts'
import type { JoinedMembership } from '../../domain/criteria/collection-members.ts'
import { chunk } from '../../kernel/chunk.ts'
import { parseChange } from '../change-document.ts'
import { documentParser } from '../document-parser.ts'
import { DOCUMENTS_PER_PAGE_COUNT, type QueryParameters, queryAll, sqlParameters } from '../documents.ts'
import { followedChanges, historySince } from '../members/followed-changes.ts'
import { headId, OUTLINE_PROPERTIES, parseJoinedHead } from './request-document.ts'

const parseJoinedRow = documentParser(
  'joined membership',
  Type.Object({
    ofCollection: Type.String(),
    identityId: Type.String(),
    relationshipId: OUTLINE_PROPERTIES.relationshipId,
  }),
)

const JOINED =
  "SELECT c.ofCollection, c.holderId AS identityId, c.position AS relationshipId FROM c WHERE c.state = 'Joined' AND "

/** A query is at most 512 KB long. https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const IDS_PER_QUERY_COUNT = 2000

/** Container `requests`, partition key `/tenantId`: the slots of memberships, and the head of each collection. */
export function cosmosJoinedMembers(requests: Container, nowMs: () => number): JoinedMembers {
  const find = <T>(tenantId: string, query: string, parameters: QueryParameters): Promise<T[]> =>
    queryAll<T>(
      requests,
      tenantId,
      { query, parameters: sqlParameters(parameters) },
      { maxItemCount: DOCUMENTS_PER_PAGE_COUNT },
    )
  const findJoined = async (tenantId: string, condition: string, parameters: QueryParameters) => {
    const rows = await find<object>(tenantId, JOINED + condition, parameters)
    return Map.groupBy(rows.map(parseJoinedRow), ({ ofCollection }) => ofCollection)
  }
  const headsOf = async (tenantId: string, collectionIds: readonly string[]) => {
    const byId = new Map(collectionIds.map((id) => [id, { membershipVersion: 0, revision: '0' }]))
    if (byId.size === 0) return byId
    const heads = await Promise.all(
      chunk(collectionIds.map(headId), IDS_PER_QUERY_COUNT).map((ids) =>
        find<object>(tenantId, 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', { ids }),
      ),
    )
    for (const { collectionId, membershipVersion, revision = 0 } of heads.flat().map(parseJoinedHead)) {
      byId.set(collectionId, { membershipVersion, revision: `${membershipVersion}.${revision}` })
    }
    return byId
  }
  const versions = async (tenantId: string, collectionIds: readonly string[]) => {
    const heads = await headsOf(tenantId, collectionIds)
    return new Map(heads.entries().map(([id, { membershipVersion }]) => [id, membershipVersion]))
  }

  return {
    versions,
    async revisions(tenantId, collectionIds) {
      const heads = await headsOf(tenantId, collectionIds)
      return new Map(heads.entries().map(([id, { revision }]) => [id, revision]))
    },
    async of(tenantId, collectionIds) {
      if (collectionIds.length === 0) return new Map()
      // Versions are read first. Members newer than their version are reported again; older members would be missed.
      const heads = await headsOf(tenantId, collectionIds)
      const parts = await Promise.all(
        chunk([...heads.keys()], IDS_PER_QUERY_COUNT).map((ids) =>
          findJoined(tenantId, 'ARRAY_CONTAINS(@ids, c.ofCollection)', { ids }),
        ),
      )
      const found = new Map(parts.flatMap((part) => [...part]))
      return new Map(
        heads.entries().map(([id, head]) => {
          const memberships = (found.get(id) ?? []).map(membershipOf).sort(byIdentity)
          return [id, { memberships, ...head }]
        }),
      )
    },
    async ofIdentity(tenantId, identityId) {
      const found = await findJoined(tenantId, 'c.holderId = @identityId', { identityId })
      return new Map(found.entries().map(([id, memberships]) => [id, memberships.map(membershipOf)]))
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const current = (await versions(tenantId, [collectionId])).get(collectionId) ?? 0
      if (current < membershipVersion) return undefined
      const { where, parameters } = followedChanges(membershipVersion, nowMs())
      const query = `SELECT * FROM c WHERE c.collectionId = @collectionId AND ${where}`
      const changes = await find<object>(tenantId, query, { collectionId, ...parameters })
      return historySince(membershipVersion, current, changes.map(parseChange))
    },
  }
}

function membershipOf({ identityId, relationshipId }: JoinedMembership): JoinedMembership {
  return { identityId, relationshipId }
}

function byIdentity(left: JoinedMembership, right: JoinedMembership): number {
  if (left.identityId !== right.identityId) return left.identityId < right.identityId ? -1 : 1
  return (left.relationshipId ?? '') < (right.relationshipId ?? '') ? -1 : 1
}
