import type { Container } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import { chunk } from '../kernel/chunk.ts'
import { documentParser } from './document-parser.ts'
import { type QueryParameters, sqlParameters } from './documents.ts'
import { HEAD_ID, membersPartition } from './membership-plan.ts'

/** Partitions that one query reads. */
const HEADS_PER_QUERY_COUNT = 100

const HeadVersion = Type.Object({ membersOf: Type.String(), membershipVersion: Type.Integer() })
const parse = documentParser<Static<typeof HeadVersion>>('head of members', HeadVersion)

/** The versions of the members of these collections, by collection. */
export async function headVersions(
  members: Container,
  tenantId: string,
  collectionIds: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const some of chunk(collectionIds, HEADS_PER_QUERY_COUNT)) {
    const partitions = Object.fromEntries(some.map((id, index) => [`p${index}`, membersPartition(tenantId, id)]))
    const names = Object.keys(partitions).map((name) => `@${name}`)
    const condition = `c.membersOf IN (${names.join()})`
    for (const head of await readHeads(members, tenantId, condition, partitions)) found.set(...head)
  }
  return found
}

/** The same of a tenant's collections whose head was written since a time of the database's clock, in seconds. */
export async function headVersionsWrittenSince(
  members: Container,
  tenantId: string,
  sinceS: number,
): Promise<Map<string, number>> {
  const condition = 'c._ts >= @sinceS AND STARTSWITH(c.membersOf, @tenant)'
  const tenant = membersPartition(tenantId, '')
  return new Map(await readHeads(members, tenantId, condition, { sinceS, tenant }))
}

/**
 * Across partitions, each of which holds the members of one collection. A plain filter without order is cheap there.
 */
async function readHeads(
  members: Container,
  tenantId: string,
  condition: string,
  parameters: QueryParameters,
): Promise<[collectionId: string, membershipVersion: number][]> {
  const iterator = members.items.query<object>({
    query: `SELECT c.membersOf, c.membershipVersion FROM c WHERE c.id = @id AND ${condition}`,
    parameters: sqlParameters({ id: HEAD_ID, ...parameters }),
  })
  const found: Static<typeof HeadVersion>[] = []
  while (iterator.hasMoreResults()) found.push(...(await iterator.fetchNext()).resources.map(parse))
  return found.map((head) => [head.membersOf.slice(membersPartition(tenantId, '').length), head.membershipVersion])
}
