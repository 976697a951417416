import type { Container } from '@azure/cosmos'
import type { CoreObjectReferences } from '../../domain/object-access/visible-by-references.ts'
import { type QueryParameters, queryAll, sqlParameters } from '../documents.ts'

/** No query returns more, so that each takes one page. */
const DOCUMENTS_PER_PAGE_COUNT = 5000

/** Container `coreObjects`, partition key `/tenantId`. */
export function cosmosCoreObjectReferences(coreObjects: Container): CoreObjectReferences {
  const find = <T>(tenantId: string, query: string, parameters: QueryParameters): Promise<T[]> => {
    const live = { query: `${query} AND c.deleted = false`, parameters: sqlParameters(parameters) }
    return queryAll<T>(coreObjects, tenantId, live, { maxItemCount: DOCUMENTS_PER_PAGE_COUNT })
  }
  const units = (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = `SELECT TOP @limitCount VALUE c.id FROM c WHERE c.objectType = 'orgUnit' AND ${where}`
    return find<string>(tenantId, query, parameters)
  }
  return {
    async identitiesOfAccount(tenantId, account) {
      const query =
        "SELECT VALUE c.id FROM c WHERE c.objectType = 'identity' AND c.attributes.directoryObjectId = @account"
      return (await find<string>(tenantId, query, { account: account.toLowerCase() })).sort()
    },
    async unitsLedBy(tenantId, identityId, limitCount) {
      // Two queries, because each uses its own index; one query with OR would use neither.
      const found = await Promise.all([
        units(tenantId, 'c.attributes.manager.objectId = @identityId', { limitCount, identityId }),
        units(tenantId, 'IS_DEFINED(c.attributes.deputies) AND ARRAY_CONTAINS(c.attributes.deputies, @reference)', {
          limitCount,
          reference: { objectId: identityId },
        }),
      ])
      return [...new Set(found.flat())].slice(0, limitCount)
    },
    async positionsLedBy(tenantId, identityId, limitCount) {
      const members = 'c.id, c.attributes.identity.objectId AS identityId, c.attributes.endDate'
      const where = "c.objectType = 'relationship' AND c.attributes.manager.objectId = @identityId"
      return find(tenantId, `SELECT TOP @limitCount ${members} FROM c WHERE ${where}`, { limitCount, identityId })
    },
    async unitsBelow(tenantId, orgUnitIds, limitCount) {
      if (orgUnitIds.length === 0) return []
      return units(tenantId, 'ARRAY_CONTAINS(@orgUnitIds, c.attributes.parent.objectId)', { limitCount, orgUnitIds })
    },
    async positionsOf(tenantId, end, ids, limitCount) {
      if (ids.length === 0) return []
      const ends = 'c.attributes.identity.objectId AS identityId, c.attributes.orgUnit.objectId AS orgUnitId'
      const isTheirs = `ARRAY_CONTAINS(@ids, c.attributes.${end}.objectId)`
      const query = `SELECT TOP @limitCount c.id, ${ends} FROM c WHERE c.objectType = 'relationship' AND ${isTheirs}`
      return find(tenantId, query, { limitCount, ids })
    },
    async existing(tenantId, ids) {
      if (ids.length === 0) return []
      return find(tenantId, 'SELECT c.id, c.objectType FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', { ids })
    },
  }
}
