import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { localAccount } from '../support/contract/local-database.ts'

const DAY_MS = 86_400_000
const DAY_S = 86_400

const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
const { container } = await localAccount(() => clock.nowMs)
const write = (tenantId: string, id: string, more: object) =>
  container('coreObjects').items.upsert({
    id,
    tenantId,
    objectType: 'identity',
    externalId: id,
    attributes: { displayName: id },
    ...more,
  })

describe('An instance without activity for a tenant', () => {
  for (const idleMs of [DAY_MS / 24, DAY_MS - 1_000, 2 * DAY_MS, 30 * DAY_MS]) {
    it(`for ${idleMs / 3_600_000} hours does not keep a person who was deleted in the meantime`, async () => {
      const tenantId = randomUUID()
      const snapshots = new TenantSnapshots(
        cosmosCoreObjectChanges(container('coreObjects'), () => clock.nowMs),
        { maxBytes: 1_000_000 },
      )
      for (const id of ['stays', 'goes']) await write(tenantId, id, { deleted: false })
      assert.equal((await snapshots.fresh(tenantId)).rowCount, 2)
      clock.nowMs += 1_000
      // The shortest time for which deleted objects are kept.
      await write(tenantId, 'goes', { deleted: true, ttl: DAY_S })
      clock.nowMs += idleMs
      const rows = await snapshots.fresh(tenantId)
      assert.deepEqual(
        ['stays', 'goes'].map((id) => rows.displayNameOf('identity', id) !== undefined),
        [true, false],
      )
    })
  }

  it('evaluates the tenant in full, like an instance that has just started', async () => {
    const tenantId = randomUUID()
    const snapshots = new TenantSnapshots(
      cosmosCoreObjectChanges(container('coreObjects'), () => clock.nowMs),
      { maxBytes: 1_000_000 },
    )
    await write(tenantId, 'a', { deleted: false })
    await snapshots.fresh(tenantId)
    snapshots.takeChanges(tenantId)
    clock.nowMs += 2 * DAY_MS
    await snapshots.fresh(tenantId)
    assert.equal(snapshots.takeChanges(tenantId), 'everything')
  })
})
