import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { KnownTenant, TenantStore } from '../../domain/group-links/tenant-store.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { createUnlessExists } from '../documents.ts'
import { newRegistration, REGISTRATION_ID, readRegistration } from './sweep-log.ts'

const ListedTenant = Type.Object({
  tenantId: Type.String(),
  sweptAtMs: Type.Optional(Type.Number()),
  /** When the document was last written. */
  writtenAtS: Type.Number(),
})
const listedTenants = versionedDocumentParser('tenant registration', ListedTenant)

/** Container `tenants`: partition key `/tenantId`. A tenant's partition also holds other documents. */
export function cosmosTenantStore(tenants: Container): TenantStore {
  const known = new Set<string>()
  return {
    async register(tenantId) {
      if (known.has(tenantId)) return
      await createUnlessExists(tenants, newRegistration(tenantId))
      known.add(tenantId)
    },
    /** The only query across tenants. It has a filter and no order, because ordering across partitions costs more. */
    async *list(minute) {
      const ofMinute = minute === undefined ? '' : ' AND c.sweepMinute = @minute'
      const iterator = tenants.items.query<unknown>({
        query: `SELECT c.tenantId, c.sweptAtMs, c._ts AS writtenAtS FROM c WHERE c.id = @id${ofMinute}`,
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
    async lastSweepMs(tenantId) {
      return (await readRegistration(tenants, tenantId))?.value.sweptAtMs
    },
  }
}

function knownTenant(document: unknown): KnownTenant {
  const { tenantId, sweptAtMs, writtenAtS } = listedTenants.parse(document).value
  return { tenantId, sweptAtMs: sweptAtMs ?? writtenAtS * 1000 }
}
