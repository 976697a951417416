import type { Container } from '@azure/cosmos'
import type { KnownTenant, TenantStore } from '../domain/group-links/tenant-store.ts'
import { minuteOfTenant } from '../domain/sync/sweep-minute.ts'
import { statusOf } from './documents.ts'

/** The document that says that there is such a tenant, and when it is and was swept. */
const REGISTRATION_ID = 'registration'

type Registration = {
  readonly tenantId: string
  readonly sweptAtMs?: number
  /** Seconds: when the document was last written. */
  readonly _ts: number
}

/** Container `tenants`: partition key `/tenantId`. Other documents of a tenant may lie beside its registration. */
export function cosmosTenantStore(tenants: Container): TenantStore {
  const known = new Set<string>()
  const registration = (tenantId: string) => ({ id: REGISTRATION_ID, tenantId, sweepMinute: minuteOfTenant(tenantId) })
  return {
    async remember(tenantId) {
      if (known.has(tenantId)) return
      await tenants.items.create(registration(tenantId)).catch((error: unknown) => {
        if (statusOf(error) !== 409) throw error
      })
      known.add(tenantId)
    },
    /** The one query that leaves a tenant: a plain filter, since ordering across partitions is another matter. */
    async *list(minute) {
      const ofMinute = minute === undefined ? '' : ' AND c.sweepMinute = @minute'
      const iterator = tenants.items.query<Registration>({
        query: `SELECT c.tenantId, c.sweptAtMs, c._ts FROM c WHERE c.id = @id${ofMinute}`,
        parameters: [
          { name: '@id', value: REGISTRATION_ID },
          ...(minute === undefined ? [] : [{ name: '@minute', value: minute }]),
        ],
      })
      while (iterator.hasMoreResults()) {
        const { resources } = await iterator.fetchNext()
        if (resources !== undefined && resources.length > 0) yield resources.map(knownTenant)
      }
    },
    async swept(tenantId, sweptAtMs) {
      await tenants.items.upsert({ ...registration(tenantId), sweptAtMs })
    },
  }
}

function knownTenant({ tenantId, sweptAtMs, _ts }: Registration): KnownTenant {
  return { tenantId, sweptAtMs: sweptAtMs ?? _ts * 1000 }
}
