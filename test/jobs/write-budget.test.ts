import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { LeaseLost } from '../../shared/domain/group-links/link-lease.ts'
import type { SyncStep } from '../../shared/domain/sync/plan-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import {
  instanceWriteBudget,
  reserveForJob,
  type WriteBudget,
  type WritePurpose,
  writeStep,
} from '../../shared/domain/sync/write-budget.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, notifyOfMembershipChange, openFixture } from '../support/jobs/link-fixture.ts'

describe('The write budget', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture()
  })
  after(() => fixture.close())
  beforeEach(async () => {
    fixture.sentMessages.length = 0
    // All buckets are full again.
    await fixture.clock.sleep(600_000)
  })

  /** By default, no time passes. */
  const instance = (writesPerTenant: number, writesTotal: number, elapsedMs = () => 0): WriteBudget =>
    instanceWriteBudget({ writesPerTenant, writesTotal, elapsedMs })
  const instanceOfFixture = () => instance(40, 40_000, () => Math.floor(fixture.clock.nowMs() / 1000) * 1000)

  function grantedCount(budget: WriteBudget, tenantId: string, purpose: WritePurpose, wanted: number): number {
    let count = 0
    for (let asked = 0; asked < wanted; asked += 1) if (budget.reserve(tenantId, 1, purpose) === 0) count += 1
    return count
  }

  it('of a tenant is half of its limit, with a fifth reserved for incremental syncs', () => {
    const [tenant, budget] = [randomUUID(), instance(200, 10_000)]
    assert.equal(grantedCount(budget, tenant, 'bulk', 100), 80)
    assert.equal(grantedCount(budget, tenant, 'change', 100), 20)
  })

  it('of one tenant does not affect another tenant when it is used up', () => {
    const [big, small] = [randomUUID(), randomUUID()]
    const budget = instance(200, 10_000)
    assert.equal(grantedCount(budget, big, 'bulk', 200), 80)
    assert.equal(grantedCount(budget, small, 'bulk', 50), 50)
  })

  it('limits all tenants together, and leaves a tenant its share when it refuses for all', () => {
    const budget = instance(200, 400)
    const [tenant, ...others] = Array.from({ length: 6 }, () => randomUUID())
    const granted = others.map((other) => grantedCount(budget, other, 'bulk', 30))
    assert.deepEqual(granted, [30, 30, 20, 0, 0])
    assert.ok(budget.reserve(tenant ?? '', 100, 'change') > 0)
    assert.equal(grantedCount(budget, tenant ?? '', 'change', 100), 20)
  })

  it('fills up evenly, and is enough after the wait that it returns', () => {
    let elapsedMs = 0
    const [tenant, budget] = [randomUUID(), instance(20, 10_000, () => elapsedMs)]
    assert.equal(grantedCount(budget, tenant, 'change', 20), 10)
    assert.equal(budget.reserve(tenant, 1, 'change'), 15_000)
    elapsedMs = 14_999
    assert.equal(budget.reserve(tenant, 1, 'change'), 1)
    elapsedMs = 15_000
    assert.equal(budget.reserve(tenant, 1, 'change'), 0)
    assert.ok(budget.reserve(tenant, 1, 'change') > 0)
  })

  it('does not depend on the clocks of other instances', () => {
    const tenant = randomUUID()
    for (const aheadMs of [0, 30_000, 3_600_000]) {
      const budget = instanceWriteBudget({ writesPerTenant: 200, writesTotal: 10_000, elapsedMs: () => aheadMs })
      assert.equal(grantedCount(budget, tenant, 'change', 1000), 100)
    }
  })

  it('grants a request of more writes than the whole bucket when nothing is used, and nothing further until then', () => {
    const [tenant, budget] = [randomUUID(), instance(20, 400)]
    assert.equal(budget.reserve(tenant, 50, 'bulk'), 0)
    assert.ok(budget.reserve(tenant, 1, 'change') > 600_000)
  })

  it('counts writes of retries and of accounts added one by one beyond the reservation', async () => {
    const { groupId } = await fixture.linked(users(0, 40), users(0, 1))
    const budget = instance(200, 10_000)
    const step: SyncStep = { kind: 'add', accounts: users(0, 40), writeCount: 2 }
    assert.equal(budget.reserve(TENANT, 2, 'bulk'), 0)
    const deadlineMs = Number.POSITIVE_INFINITY
    const write = { tenantId: TENANT, groupId, step, deadlineMs, unresolved: [] } as const
    const outcome = await writeStep(write, { ...fixture.deps, budget })
    // Two PATCHes. The one that contains a member is followed by twenty calls.
    assert.deepEqual([outcome.written.length, outcome.unchanged.length, outcome.sentCount], [39, 1, 22])
    assert.equal(grantedCount(budget, TENANT, 'bulk', 100), 80 - 22)
  })

  it('is not reserved by a job that lost its lease while it waited', async () => {
    const waitsMs = [5_000, 0]
    const budget: WriteBudget = { reserve: () => waitsMs.shift() ?? 0, recordOverspend: () => undefined }
    const sleptMs: number[] = []
    const sleep = async (delayMs: number) => void sleptMs.push(delayMs)
    const lost = async () => {
      throw new LeaseLost('Another worker holds the lease.')
    }
    await assert.rejects(reserveForJob(TENANT, 1, { budget, sleep }, lost), LeaseLost)
    assert.deepEqual([sleptMs, waitsMs], [[5_000], [0]])
  })

  it('makes a job wait without failing its run', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 700))
    const deps: SyncDependencies = { ...fixture.deps, budget: instanceOfFixture() }
    const startMs = fixture.clock.nowMs()
    await fixture.drain(deps)
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added], ['Succeeded', 1, 700])
    assert.equal((await fixture.membersOf(groupId)).size, 700)
    // 35 writes: sixteen at once, because a fifth of twenty is reserved, and the others as the bucket fills up.
    assert.ok(fixture.clock.nowMs() - startMs > 100_000)
  })

  it('grants an incremental sync while jobs have used up their share', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 10))
    await fixture.drain()
    await fixture.clock.sleep(600_000)
    const deps: SyncDependencies = { ...fixture.deps, budget: instanceOfFixture() }
    assert.equal(deps.budget.reserve(TENANT, 16, 'bulk'), 0)
    assert.ok(deps.budget.reserve(TENANT, 1, 'bulk') > 0)
    fixture.sentMessages.length = 0
    fixture.collections.change(collectionId, users(1, 9))
    const message = { tenantId: TENANT, collectionId }
    await fixture.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: 'one left' })
    await fixture.deliverNext(deps)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 9)))
  })

  it('makes an incremental sync wait when it is used up, without losing changes', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 10))
    await fixture.drain()
    await fixture.clock.sleep(600_000)
    const deps: SyncDependencies = { ...fixture.deps, budget: instanceOfFixture() }
    grantedCount(deps.budget, TENANT, 'change', 20)
    fixture.collections.change(collectionId, users(1, 9))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.deliverNext(deps)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 10)))
    await fixture.drain(deps)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 9)))
    assert.equal((await fixture.jobsOf(collectionId)).length, 1)
  })

  it('does not delay a pending incremental sync behind a long-running job, which yields', async () => {
    const { collectionId, groupId, linkId } = await fixture.linked(users(0, 10))
    await fixture.drain()
    fixture.collections.change(collectionId, users(0, 600))
    fixture.collections.forgetHistory(collectionId)
    const message = { tenantId: TENANT, collectionId }
    await fixture.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: 'hundreds joined' })
    await fixture.deliverNext()
    const sizes: number[] = []
    const directory = {
      ...fixture.deps.directory,
      addMembers: async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        const outcome = await fixture.directory.addMembers(...args)
        await fixture.clock.sleep(9_000)
        const { value, version } = (await fixture.deps.links.find(TENANT, linkId)) ?? assert.fail()
        if (sizes.push(1) === 1) await fixture.deps.links.replace({ ...value, changesPending: true }, version)
        return outcome
      },
    }
    const [job] = await fixture.jobsOf(collectionId)
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, { ...fixture.deps, directory })
    assert.equal(sizes.length, 2)
    const link = await fixture.link(linkId)
    assert.deepEqual([link.lease, link.changesPending], [null, false])
    fixture.sentMessages.splice(0, 1)
    await fixture.drain()
    const [ended] = await fixture.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts, ended?.added], ['Succeeded', 1, 590])
    assert.equal((await fixture.membersOf(groupId)).size, 600)
  })
})
