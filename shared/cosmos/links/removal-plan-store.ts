import type { Container, JSONObject, OperationInput } from '@azure/cosmos'
import { Type } from 'typebox'
import { PLAN_KEPT_S, type PlanKey, type RemovalPlanStore } from '../../domain/group-links/removal-plan.ts'
import { chunk } from '../../kernel/chunk.ts'
import { packedGuids, unpackedGuids } from '../../kernel/packed-guids.ts'
import { pageFrom } from '../../kernel/versioned.ts'
import { documentParser } from '../document-parser.ts'
import { queryDocuments, writeTogether } from '../documents.ts'

/** A document has about 43 KB, far below the 2 MB that Cosmos accepts. A page of the default size reads two. */
const ACCOUNTS_PER_DOCUMENT_COUNT = 2_000

/** About 1 MB: half of what Cosmos accepts in one transaction. */
const DOCUMENTS_PER_TRANSACTION_COUNT = 25

/** `id`: the last account of the chunk. `accounts`: see `packedGuids`. */
const parse = documentParser('chunk of a removal plan', Type.Object({ id: Type.String(), accounts: Type.String() }))

/** Container `removalPlans`: partition key `/planOf`, a partition for each plan. Each document has a `ttl`. */
export function cosmosRemovalPlanStore(plans: Container): RemovalPlanStore {
  /** The chunks that end at or after the given account, in ascending order. */
  async function* chunksFrom(plan: PlanKey, account: string): AsyncGenerator<readonly string[]> {
    const partition = partitionOf(plan)
    const query = {
      query: 'SELECT * FROM c WHERE c.id >= @account ORDER BY c.id',
      parameters: [{ name: '@account', value: account }],
    }
    for await (const page of queryDocuments<object>(plans, partition, query, { maxItemCount: CHUNKS_PER_PAGE_COUNT })) {
      for (const document of page) yield unpackedGuids(parse(document).accounts)
    }
  }

  return {
    async save(plan, accounts) {
      const partition = partitionOf(plan)
      const operations = chunk(accounts, ACCOUNTS_PER_DOCUMENT_COUNT).map((batch) => upsertOf(partition, batch))
      for (const batch of chunk(operations, DOCUMENTS_PER_TRANSACTION_COUNT)) {
        const failure = await writeTogether(plans, partition, [...batch])
        if (failure !== undefined) throw new Error(`Storing a removal plan failed: ${failure.status}`)
      }
    },
    async page(plan, after, size) {
      const found: string[] = []
      for await (const accounts of chunksFrom(plan, after ?? '')) {
        found.push(...(after === undefined ? accounts : accounts.filter((account) => account > after)))
        if (found.length > size) break
      }
      return pageFrom(found, size, (account) => account)
    },
    async includes(plan, account) {
      for await (const accounts of chunksFrom(plan, account)) return accounts.includes(account)
      return false
    },
    async accountsOf(plan) {
      const all = new Set<string>()
      for await (const accounts of chunksFrom(plan, '')) for (const account of accounts) all.add(account)
      return all
    },
  }
}

/** Chunks in one response: those of the largest page. */
const CHUNKS_PER_PAGE_COUNT = 4

function partitionOf({ tenantId, planId }: PlanKey): string {
  return `${tenantId}:${planId}`
}

function upsertOf(planOf: string, accounts: readonly string[]): OperationInput {
  const resourceBody: JSONObject = {
    id: accounts.at(-1) ?? '',
    planOf,
    accounts: packedGuids(accounts),
    ttl: PLAN_KEPT_S,
  }
  return { operationType: 'Upsert', resourceBody }
}
