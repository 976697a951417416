import type { Container } from '@azure/cosmos'
import { minuteOfTenant } from '../domain/links/sweep-minute.ts'
import type { TenantStore } from '../domain/links/tenant-store.ts'
import { statusOf } from './documents.ts'

/** The document that says no more than that there is such a tenant, and when it is swept. */
const REGISTRATION_ID = 'registration'

/** Container `tenants`: partition key `/tenantId`. Other documents of a tenant may lie beside its registration. */
export function cosmosTenantStore(tenants: Container): TenantStore {
  const known = new Set<string>()
  return {
    async remember(tenantId) {
      if (known.has(tenantId)) return
      await tenants.items
        .create({ id: REGISTRATION_ID, tenantId, sweepMinute: minuteOfTenant(tenantId) })
        .catch((error: unknown) => {
          if (statusOf(error) !== 409) throw error
        })
      known.add(tenantId)
    },
    /** The one query that leaves a tenant: a plain filter, since ordering across partitions is another matter. */
    async *list(minute) {
      const ofMinute = minute === undefined ? '' : ' AND c.sweepMinute = @minute'
      const iterator = tenants.items.query<string>({
        query: `SELECT VALUE c.tenantId FROM c WHERE c.id = @id${ofMinute}`,
        parameters: [
          { name: '@id', value: REGISTRATION_ID },
          ...(minute === undefined ? [] : [{ name: '@minute', value: minute }]),
        ],
      })
      while (iterator.hasMoreResults()) {
        const { resources } = await iterator.fetchNext()
        if (resources !== undefined && resources.length > 0) yield resources
      }
    },
  }
}
