import type { Container } from '@azure/cosmos'
import type { AccountChange, AccountChangeStore } from '../domain/core/core-object-store.ts'
import { queryAll } from './documents.ts'

const MOVED_SINCE = `SELECT c.id, c.objectType, c.accountMovedAtMs AS movedAtMs FROM c
  WHERE c.accountMovedAtMs >= @sinceMs`

/** A query of Cosmos takes 512 KB: for more ids, all that moved are read. */
const IDS_PER_QUERY_COUNT = 2000

/** Container `coreObjects`, partition key `/tenantId`. Hardly any document has the property that is asked for. */
export function cosmosAccountChangeStore(coreObjects: Container): AccountChangeStore {
  const since = (tenantId: string, sinceMs: number): Promise<AccountChange[]> => {
    const parameters = [{ name: '@sinceMs', value: sinceMs }]
    return queryAll<AccountChange>(coreObjects, tenantId, { query: MOVED_SINCE, parameters })
  }
  return {
    since,
    async amongSince(tenantId, ids, sinceMs) {
      if (ids.length === 0) return []
      if (ids.length > IDS_PER_QUERY_COUNT) {
        const wanted = new Set(ids)
        return (await since(tenantId, sinceMs)).filter(({ id }) => wanted.has(id))
      }
      const query = `${MOVED_SINCE} AND ARRAY_CONTAINS(@ids, c.id)`
      const parameters = [
        { name: '@sinceMs', value: sinceMs },
        { name: '@ids', value: [...ids] },
      ]
      return queryAll<AccountChange>(coreObjects, tenantId, { query, parameters })
    },
  }
}
