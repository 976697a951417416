import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { chunk } from '../../kernel/chunk.ts'
import { documentParser } from '../document-parser.ts'
import { type QueryParameters, queryPartitions, type Stored, sqlParameters } from '../documents.ts'
import { HEAD_ID, membersPartition } from './membership-plan.ts'

/** Partitions that one query reads. */
const HEADS_PER_QUERY_COUNT = 100

const HeadVersion = Type.Object({ membersOf: Type.String(), membershipVersion: Type.Integer() })
const parse = documentParser('head of members', HeadVersion)

/** The versions of the members of these collections, by collection. */
export async function headVersions(
  members: Container,
  tenantId: string,
  collectionIds: readonly string[],
): Promise<Map<string, number>> {
  return versionsIn(tenantId, await readHeadsOf(members, tenantId, collectionIds, VERSION))
}

/** The heads of these collections as stored, by collection. */
export async function headDocuments(
  members: Container,
  tenantId: string,
  collectionIds: readonly string[],
): Promise<Map<string, Stored<object>>> {
  const found = await readHeadsOf<Stored<{ readonly membersOf: string }>>(members, tenantId, collectionIds, '*')
  return new Map(found.map((head) => [collectionOf(tenantId, head), head]))
}

/** The versions of a tenant's collections whose head was written since a time of the database's clock, in seconds. */
export async function headVersionsWrittenSince(
  members: Container,
  tenantId: string,
  sinceS: number,
): Promise<Map<string, number>> {
  const condition = `c._ts >= @sinceS AND ${OF_TENANT}`
  const tenant = membersPartition(tenantId, '')
  return versionsIn(tenantId, await readHeads(members, VERSION, condition, { sinceS, tenant }))
}

const HeadCount = Type.Object({ membersOf: Type.String(), count: Type.Integer() })
const parseCount = documentParser('count of members', HeadCount)

/** The numbers of members of collections, by collection. @param collectionIds Undefined for all of the tenant. */
export async function headCounts(
  members: Container,
  tenantId: string,
  collectionIds: readonly string[] | undefined,
): Promise<Map<string, number>> {
  const found =
    collectionIds === undefined
      ? await readHeads(members, COUNT, OF_TENANT, { tenant: membersPartition(tenantId, '') })
      : await readHeadsOf(members, tenantId, collectionIds, COUNT)
  return new Map(found.map(parseCount).map((head) => [collectionOf(tenantId, head), head.count]))
}

const VERSION = 'c.membersOf, c.membershipVersion'
const COUNT = 'c.membersOf, c.count'
const OF_TENANT = 'STARTSWITH(c.membersOf, @tenant)'

function versionsIn(tenantId: string, found: readonly object[]): Map<string, number> {
  return new Map(found.map(parse).map((head) => [collectionOf(tenantId, head), head.membershipVersion]))
}

function collectionOf(tenantId: string, { membersOf }: { readonly membersOf: string }): string {
  return membersOf.slice(membersPartition(tenantId, '').length)
}

async function readHeadsOf<T extends object>(
  members: Container,
  tenantId: string,
  collectionIds: readonly string[],
  selected: string,
): Promise<T[]> {
  const found: T[] = []
  for (const batch of chunk(collectionIds, HEADS_PER_QUERY_COUNT)) {
    const partitions = Object.fromEntries(batch.map((id, index) => [`p${index}`, membersPartition(tenantId, id)]))
    const names = Object.keys(partitions).map((name) => `@${name}`)
    found.push(...(await readHeads<T>(members, selected, `c.membersOf IN (${names.join()})`, partitions)))
  }
  return found
}

/** Across partitions: each holds the members of one collection. A plain filter without order is cheap there. */
function readHeads<T extends object>(
  members: Container,
  selected: string,
  condition: string,
  parameters: QueryParameters,
): Promise<T[]> {
  return queryPartitions<T>(members, {
    query: `SELECT ${selected} FROM c WHERE c.id = @id AND ${condition}`,
    parameters: sqlParameters({ id: HEAD_ID, ...parameters }),
  })
}
