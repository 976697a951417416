import type { Container } from '@azure/cosmos'
import { EvaluationLease, type EvaluationLeaseStore } from '../domain/collections/evaluation-lease.ts'
import { documentParser } from './document-parser.ts'
import { ifVersion, readDocument, refuse } from './documents.ts'

/** The id of the lease, beside the tenant's registration. */
const LEASE_ID = 'evaluation-lease'

const parse = documentParser<EvaluationLease>('evaluation lease', EvaluationLease)

type LeaseDocument = EvaluationLease & { readonly id: string; readonly tenantId: string }

/** Container `tenants`. */
export function cosmosEvaluationLeaseStore(tenants: Container): EvaluationLeaseStore {
  const stale = refuse({ 404: 'StaleVersion', 409: 'StaleVersion', 412: 'StaleVersion' })
  return {
    async find(tenantId) {
      const document = await readDocument<LeaseDocument>(tenants, LEASE_ID, tenantId)
      return document && { value: parse(document), version: document._etag }
    },
    async save(tenantId, lease, version) {
      const document: LeaseDocument = { ...lease, id: LEASE_ID, tenantId }
      const { etag } =
        version === undefined
          ? await tenants.items.create(document).catch(stale)
          : await tenants.item(LEASE_ID, tenantId).replace(document, ifVersion(version)).catch(stale)
      return etag
    },
  }
}
