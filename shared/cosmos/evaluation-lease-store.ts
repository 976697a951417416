import type { Container } from '@azure/cosmos'
import { EvaluationLease, type EvaluationLeaseStore } from '../domain/collections/evaluation-lease.ts'
import type { ContainerId } from './containers.ts'
import type { DatabaseSession } from './database-session.ts'
import { documentParser } from './document-parser.ts'
import { ifVersion, readDocument, refuse } from './documents.ts'

/** The id of the lease, beside the tenant's registration. */
const LEASE_ID = 'evaluation-lease'

const parse = documentParser<EvaluationLease>('evaluation lease', EvaluationLease)

type LeaseDocument = EvaluationLease & { readonly id: string; readonly tenantId: string }

/** The container whose state a lease names. */
const MEMBERS: ContainerId = 'members'

/** Container `tenants`. The session is that of all containers of this instance. */
export function cosmosEvaluationLeaseStore(
  tenants: Container,
  session: Pick<DatabaseSession, 'tokens' | 'advance'>,
): EvaluationLeaseStore {
  const stale = refuse({ 404: 'StaleVersion', 409: 'StaleVersion', 412: 'StaleVersion' })
  const save = async (tenantId: string, lease: EvaluationLease, version: string | undefined) => {
    const document: LeaseDocument = { ...lease, id: LEASE_ID, tenantId }
    const { etag } =
      version === undefined
        ? await tenants.items.create(document).catch(stale)
        : await tenants.item(LEASE_ID, tenantId).replace(document, ifVersion(version)).catch(stale)
    return etag
  }
  return {
    async find(tenantId) {
      const document = await readDocument<LeaseDocument>(tenants, LEASE_ID, tenantId)
      if (document === undefined) return undefined
      const lease = parse(document)
      if (lease.membersSeen !== undefined) session.advance({ [MEMBERS]: lease.membersSeen })
      return { value: lease, version: document._etag }
    },
    save,
    saveWithState(tenantId, lease, version) {
      const membersSeen = session.tokens()[MEMBERS]
      return save(tenantId, membersSeen === undefined ? lease : { ...lease, membersSeen }, version)
    },
  }
}
