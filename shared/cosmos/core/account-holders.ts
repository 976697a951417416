import type { Container } from '@azure/cosmos'
import { LRUCache } from 'lru-cache'
import type { AccountHolder, AccountHolders } from '../../domain/group-links/removal-plan.ts'
import { upToEntries } from '../../kernel/cache-size.ts'
import { chunk } from '../../kernel/chunk.ts'
import { queryAll, sqlParameters } from '../documents.ts'

/** Accounts in one query: few enough for the index, and for one response. */
const ACCOUNTS_PER_QUERY_COUNT = 1_000

type FoundHolder = { readonly account: string; readonly identityId: string; readonly displayName?: string }

/**
 * Names are for display only, and paused links are read often: without this, each read of one costs a query more. A
 * name that has changed is shown after this time.
 */
const NAMES_KEPT_MS = 10 * 60_000
const NAMES_KEPT_COUNT = 20_000

type FoundName = { readonly identityId: string; readonly displayName?: string }

/** Container `coreObjects`, partition key `/tenantId`. */
export function cosmosAccountHolders(coreObjects: Container): AccountHolders {
  const find = (tenantId: string, accounts: readonly string[]): Promise<FoundHolder[]> =>
    queryAll<FoundHolder>(
      coreObjects,
      tenantId,
      {
        query:
          'SELECT c.attributes.directoryObjectId AS account, c.id AS identityId, c.attributes.displayName AS displayName ' +
          "FROM c WHERE c.objectType = 'identity' AND c.deleted = false " +
          'AND ARRAY_CONTAINS(@accounts, c.attributes.directoryObjectId)',
        parameters: sqlParameters({ accounts }),
      },
      { maxItemCount: 2 * ACCOUNTS_PER_QUERY_COUNT },
    )
  const findNames = (tenantId: string, identityIds: readonly string[]): Promise<FoundName[]> =>
    queryAll<FoundName>(coreObjects, tenantId, {
      query:
        'SELECT c.id AS identityId, c.attributes.displayName AS displayName FROM c ' +
        "WHERE c.objectType = 'identity' AND c.deleted = false AND ARRAY_CONTAINS(@identityIds, c.id)",
      parameters: sqlParameters({ identityIds }),
    })
  const known = new LRUCache<string, FoundName>({ ...upToEntries(NAMES_KEPT_COUNT), ttl: NAMES_KEPT_MS })
  return {
    async namesOf(tenantId, identityIds) {
      const keyOf = (identityId: string) => `${tenantId}:${identityId}`
      const kept = identityIds.flatMap((identityId) => known.get(keyOf(identityId)) ?? [])
      const keptIds = new Set(kept.map(({ identityId }) => identityId))
      const unknown = identityIds.filter((identityId) => !keptIds.has(identityId))
      const queries = chunk(unknown, ACCOUNTS_PER_QUERY_COUNT).map((batch) => findNames(tenantId, batch))
      const found = (await Promise.all(queries)).flat()
      for (const name of found) known.set(keyOf(name.identityId), name)
      return new Map([...kept, ...found].map(({ identityId, displayName = null }) => [identityId, displayName]))
    },
    async ofAccounts(tenantId, accounts) {
      const queries = chunk(accounts, ACCOUNTS_PER_QUERY_COUNT).map((batch) => find(tenantId, batch))
      const found = (await Promise.all(queries)).flat()
      const holders = new Map<string, AccountHolder>()
      for (const { account, identityId, displayName = null } of found) {
        const other = holders.get(account)
        if (other === undefined || identityId < other.identityId) holders.set(account, { identityId, displayName })
      }
      return holders
    },
  }
}
