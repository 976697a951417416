import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { MemberCounts } from '../domain/collections/member-counts.ts'
import { documentParser } from './document-parser.ts'
import { DOCUMENTS_PER_PAGE_COUNT, queryAll, sqlParameters } from './documents.ts'
import { headCounts } from './members/head-versions.ts'
import { headId } from './requests/request-document.ts'

const parse = documentParser(
  'count of joined members',
  Type.Object({ collectionId: Type.String(), memberCount: Type.Optional(Type.Integer()) }),
)

const OF_ALL = "c.type = 'head'"
const OF_SOME = 'ARRAY_CONTAINS(@ids, c.id)'

/** The heads of containers `members` and `requests`, which have the numbers. */
export function cosmosMemberCounts(members: Container, requests: Container): MemberCounts {
  async function joinedCounts(tenantId: string, collectionIds: readonly string[] | undefined) {
    const query = `SELECT c.collectionId, c.memberCount FROM c WHERE ${collectionIds === undefined ? OF_ALL : OF_SOME}`
    const parameters = collectionIds === undefined ? [] : sqlParameters({ ids: collectionIds.map(headId) })
    const options = { maxItemCount: DOCUMENTS_PER_PAGE_COUNT }
    const heads = await queryAll<object>(requests, tenantId, { query, parameters }, options)
    return heads.map(parse).map(({ collectionId, memberCount }) => [collectionId, memberCount ?? null] as const)
  }
  return {
    async of(tenantId, collectionIds) {
      const [evaluated, joined] = await Promise.all([
        headCounts(members, tenantId, collectionIds),
        joinedCounts(tenantId, collectionIds),
      ])
      return new Map<string, number | null>([...evaluated, ...joined])
    },
  }
}
