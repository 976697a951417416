import type { Container } from '@azure/cosmos'
import type { DerivedState } from '../../domain/sync/restored-tenant.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import type { ContainerId } from '../containers.ts'
import { deleteUnlessGone, queryAll } from '../documents.ts'
import { SAVED_ROWS_ID, savedRowsPartition } from '../members/saved-rows-store.ts'
import { AUDIT_ID } from './core-object-audit-store.ts'
import { cosmosEvaluationLeaseStore } from './evaluation-lease-store.ts'
import { jobsOfSweeps, newRegistration, readRegistration } from './sweep-log.ts'

/**
 * Deletes what the service has noted of a tenant, so that it is computed anew after a restore of the database: see
 * `sweepAfterRestore`. Containers `tenants` and `members`.
 */
export function cosmosDerivedState(container: (id: ContainerId) => Container): DerivedState {
  const [tenants, members] = [container('tenants'), container('members')]
  const leases = cosmosEvaluationLeaseStore(tenants)
  /** The heads of members can be of later epochs than the lease. The next evaluation writes all of them again. */
  const forgetEvaluation = (tenantId: string, nowMs: number): Promise<string> =>
    retryOnConflict(async () => {
      const found = await leases.find(tenantId)
      const epoch = Math.max(found?.value.epoch ?? 0, nowMs)
      const released = { holderId: '', untilMs: 0, epoch, unfencedEpoch: epoch }
      return leases.save(tenantId, released, found?.version)
    })
  return {
    async forget(tenantId, nowMs) {
      await forgetEvaluation(tenantId, nowMs)
      const tracked = 'SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.isTracking)'
      const ids = [AUDIT_ID, ...(await queryAll<string>(tenants, tenantId, { query: tracked }))]
      for (const id of ids) await deleteUnlessGone(tenants, id, tenantId)
      await deleteUnlessGone(members, SAVED_ROWS_ID, savedRowsPartition(tenantId))
      const found = await readRegistration(tenants, tenantId)
      await tenants.items.upsert({ ...newRegistration(tenantId), ...(found && jobsOfSweeps(found.value)) })
    },
  }
}
