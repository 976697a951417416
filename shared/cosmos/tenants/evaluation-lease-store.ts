import type { Container } from '@azure/cosmos'
import { EvaluationLease, type EvaluationLeaseStore } from '../../domain/evaluation/evaluation-lease.ts'
import { documentParser } from '../document-parser.ts'
import { saveCurrent } from '../documents.ts'

/** The id of the lease, beside the tenant's registration. */
const LEASE_ID = 'evaluation-lease'

const parse = documentParser('evaluation lease', EvaluationLease)

type LeaseDocument = EvaluationLease & { readonly id: string; readonly tenantId: string }

/** Container `tenants`, partition key `/tenantId`. */
export function cosmosEvaluationLeaseStore(tenants: Container): EvaluationLeaseStore {
  return {
    async find(tenantId) {
      const { resource, headers } = await tenants.item(LEASE_ID, tenantId).read<LeaseDocument>()
      if (resource === undefined) return undefined
      // Both times are those of the database: the clocks of instances do not matter.
      const ageS = Date.parse(String(headers.date)) / 1000 - resource._ts
      if (Number.isNaN(ageS)) throw new Error('The database returned no Date header')
      return { value: parse(resource), version: resource._etag, ageS }
    },
    save(tenantId, lease, version) {
      const document = { ...lease, ...FORMER_MEMBERS, droppedEpoch: lease.epoch, id: LEASE_ID, tenantId }
      return saveCurrent(tenants, tenantId, document, version)
    },
  }
}

/** Members that version 0.1 requires of a lease. It takes all collections for written by others. */
const FORMER_MEMBERS = { entries: [] } as const
