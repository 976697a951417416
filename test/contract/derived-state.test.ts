import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { SAVED_ROWS_ID, savedRowsPartition } from '../../shared/cosmos/members/saved-rows-store.ts'
import { cosmosCoreObjectAudits } from '../../shared/cosmos/tenants/core-object-audit-store.ts'
import { cosmosDerivedState } from '../../shared/cosmos/tenants/derived-state.ts'
import { cosmosEvaluationLeaseStore } from '../../shared/cosmos/tenants/evaluation-lease-store.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenants/tenant-store.ts'
import { localAccount } from '../support/contract/local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

it('After a restore, the next audit of a tenant covers all core objects, whatever audits covered before', async () => {
  const { container } = await localAccount(() => NOW_MS)
  const [tenantId, otherId] = [randomUUID(), randomUUID()]
  const audits = cosmosCoreObjectAudits(container)
  const audited = { auditedAtMs: NOW_MS, completeAtMs: NOW_MS }
  for (const id of [tenantId, otherId]) {
    await cosmosTenantStore(container('tenants')).register(id)
    await audits.save(id, audited)
  }
  await cosmosDerivedState(container).forget(tenantId, NOW_MS)
  assert.deepEqual([await audits.find(tenantId), await audits.find(otherId)], [undefined, audited])
})

it('After a restore, the next evaluation writes all members again, also those of evaluations after its last one', async () => {
  const { container } = await localAccount(() => NOW_MS)
  const tenantId = randomUUID()
  const leases = cosmosEvaluationLeaseStore(container('tenants'))
  await leases.save(tenantId, { holderId: '', untilMs: 0, epoch: 3 }, undefined)
  await cosmosDerivedState(container).forget(tenantId, NOW_MS)
  const { epoch, unfencedEpoch } = (await leases.find(tenantId))?.value ?? {}
  assert.deepEqual([epoch, unfencedEpoch], [NOW_MS, NOW_MS])
})

it('After a restore, no rows are read that were saved before', async () => {
  const { container } = await localAccount(() => NOW_MS)
  const tenantId = randomUUID()
  const [members, membersOf] = [container('members'), savedRowsPartition(tenantId)]
  await members.items.create({ id: SAVED_ROWS_ID, membersOf })
  await cosmosDerivedState(container).forget(tenantId, NOW_MS)
  assert.equal((await members.item(SAVED_ROWS_ID, membersOf).read()).statusCode, 404)
})
