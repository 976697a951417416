import type { Container } from '@azure/cosmos'
import type { AccountHolder, AccountHolders } from '../../domain/group-links/removal-plan.ts'
import { chunk } from '../../kernel/chunk.ts'
import { queryAll, sqlParameters } from '../documents.ts'

/** Accounts in one query: few enough for the index, and for one response. */
const ACCOUNTS_PER_QUERY_COUNT = 1_000

type FoundHolder = { readonly account: string; readonly identityId: string; readonly displayName?: string }

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
  return {
    async namesOf(tenantId, identityIds) {
      const queries = chunk(identityIds, ACCOUNTS_PER_QUERY_COUNT).map((batch) => findNames(tenantId, batch))
      const found = (await Promise.all(queries)).flat()
      return new Map(found.map(({ identityId, displayName = null }) => [identityId, displayName]))
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
