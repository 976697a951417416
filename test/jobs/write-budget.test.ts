import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { LeaseLost } from '../../shared/domain/group-links/lease.ts'
import type { SyncStep } from '../../shared/domain/sync/plan-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import {
  reserveForJob,
  sharedWriteBudget,
  type WriteBudget,
  type WritePurpose,
  writeStep,
} from '../../shared/domain/sync/write-budget.ts'
import { TENANT, users } from './link-directory.ts'
import { type LinkWorld, notifyOfMembershipChange, openWorld } from './link-world.ts'

describe('The write budget', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(async () => {
    world.sentMessages.length = 0
    // New windows have begun, the application's included.
    await world.clock.sleep(600_000)
  })

  const instance = (writesPerTenant: number, writesInAll: number): WriteBudget =>
    sharedWriteBudget({ windows: world.windows, writesPerTenant, writesInAll, nowMs: world.clock.nowMs })

  async function grantedCount(budget: WriteBudget, tenantId: string, purpose: WritePurpose, wanted: number) {
    let count = 0
    for (let asked = 0; asked < wanted; asked += 1) if ((await budget.reserve(tenantId, 1, purpose)) === 0) count += 1
    return count
  }

  it('of a tenant is shared by all instances, with a fifth reserved for incremental syncs', async () => {
    const tenant = randomUUID()
    const instances = [instance(100, 10_000), instance(100, 10_000), instance(100, 10_000)]
    const bulk = await Promise.all(instances.map((budget) => grantedCount(budget, tenant, 'bulk', 60)))
    const bulkCount = bulk.reduce((sum, count) => sum + count, 0)
    assert.ok(bulkCount <= 80 && bulkCount > 60, `${bulkCount} writes of jobs`)
    const [first = instance(100, 10_000)] = instances
    assert.ok((await first.reserve(tenant, 1, 'bulk')) > 0)
    const changeCount = await grantedCount(first, tenant, 'change', 60)
    assert.ok(changeCount >= 20 && bulkCount + changeCount <= 100, `${changeCount} writes of changes`)
  })

  it('of one tenant does not affect another tenant when it is used up', async () => {
    const [big, small] = [randomUUID(), randomUUID()]
    const budget = instance(100, 1_000)
    assert.ok((await grantedCount(budget, big, 'bulk', 200)) <= 80)
    assert.equal(await grantedCount(budget, small, 'bulk', 50), 50)
  })

  it('of the application limits all tenants together', async () => {
    const budget = instance(100, 200)
    const tenants = Array.from({ length: 6 }, () => randomUUID())
    let count = 0
    for (const tenant of tenants) count += await grantedCount(budget, tenant, 'bulk', 50)
    assert.equal(count, 160)
  })

  it('of the application that refuses a request leaves the tenant its share', async () => {
    const [tenant, other] = [randomUUID(), randomUUID()]
    const budget = instance(100, 100)
    assert.equal(await budget.reserve(other, 98, 'change'), 0)
    assert.ok((await budget.reserve(tenant, 100, 'change')) > 0)
    assert.equal(await budget.reserve(tenant, 2, 'change'), 0)
  })

  it('is available again in the next window, after the wait that it returns', async () => {
    const tenant = randomUUID()
    const budget = instance(10, 1_000)
    await grantedCount(budget, tenant, 'bulk', 10)
    const waitMs = await budget.reserve(tenant, 1, 'bulk')
    assert.ok(waitMs > 0 && waitMs <= 150_000)
    await world.clock.sleep(waitMs)
    assert.equal(await budget.reserve(tenant, 1, 'bulk'), 0)
  })

  it('grants each instance a few writes in a window without a stored reservation, and no more', async () => {
    const tenant = randomUUID()
    const stored = () => Promise.all([tenant, 'application'].map((scope) => world.windows.find(scope)))
    const before = await stored()
    const [one, other] = [instance(2_400, 56_000), instance(2_400, 56_000)]
    assert.deepEqual(
      [await grantedCount(one, tenant, 'change', 4), await grantedCount(other, tenant, 'bulk', 4)],
      [4, 4],
    )
    assert.deepEqual(await stored(), before)
    assert.equal(await one.reserve(tenant, 1, 'change'), 0)
    assert.equal((await world.windows.find(tenant))?.value.usedCount, 120)
    // The instance exceeds the budget by these four writes at most.
    assert.equal(await grantedCount(one, tenant, 'change', 3_000), 2_400 - 1)
    await world.clock.sleep(300_000)
    assert.equal(await grantedCount(one, tenant, 'change', 3_000), 2_400 + 4)
  })

  it('grants a request that exceeds it in an unused window', async () => {
    const budget = instance(10, 20)
    assert.equal(await budget.reserve(randomUUID(), 50, 'bulk'), 0)
  })

  it('counts writes of retries and of accounts added one by one beyond the reservation', async () => {
    const { groupId } = await world.linked(users(0, 40), users(0, 1))
    const budget = instance(100, 1_000)
    const step: SyncStep = { kind: 'add', accounts: users(0, 40), writeCount: 2 }
    assert.equal(await budget.reserve(TENANT, 2, 'bulk'), 0)
    const deadlineMs = Number.POSITIVE_INFINITY
    const write = { tenantId: TENANT, groupId, step, purpose: 'bulk', deadlineMs } as const
    const outcome = await writeStep(write, { ...world.deps, budget })
    // Two PATCHes. The one that contains a member is followed by twenty calls.
    assert.deepEqual([outcome.written.length, outcome.unchanged.length, outcome.sentCount], [39, 1, 22])
    assert.equal(await grantedCount(budget, TENANT, 'bulk', 100), 80 - 22)
  })

  it('is not reserved by a job that lost its lease while it waited', async () => {
    const waitsMs = [5_000, 0]
    const budget: WriteBudget = { reserve: async () => waitsMs.shift() ?? 0, recordOverspend: () => undefined }
    const sleptMs: number[] = []
    const sleep = async (delayMs: number) => void sleptMs.push(delayMs)
    const lost = async () => {
      throw new LeaseLost('Another worker holds the lease.')
    }
    await assert.rejects(reserveForJob(TENANT, 1, { budget, sleep }, lost), LeaseLost)
    assert.deepEqual([sleptMs, waitsMs], [[5_000], [0]])
  })

  it('makes a job wait for the next window without failing its run', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 700))
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    const startMs = world.clock.nowMs()
    await world.drain(deps)
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added], ['Succeeded', 1, 700])
    assert.equal((await world.membersOf(groupId)).size, 700)
    // 35 writes in steps of five. A window grants three steps, because a fifth of its twenty writes is reserved.
    assert.ok(world.clock.nowMs() - startMs > 150_000)
  })

  it('grants an incremental sync while jobs have used up their share', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 10))
    await world.drain()
    await world.clock.sleep(600_000)
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    assert.equal(await deps.budget.reserve(TENANT, 16, 'bulk'), 0)
    assert.ok((await deps.budget.reserve(TENANT, 1, 'bulk')) > 0)
    world.sentMessages.length = 0
    world.collections.change(collectionId, users(1, 9))
    const message = { tenantId: TENANT, collectionId }
    await world.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: 'one left' })
    await world.deliverNext(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(1, 9)))
  })

  it('makes an incremental sync wait for the next window when it is used up, without losing changes', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 10))
    await world.drain()
    await world.clock.sleep(600_000)
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    await grantedCount(deps.budget, TENANT, 'change', 20)
    world.collections.change(collectionId, users(1, 9))
    await notifyOfMembershipChange(world, collectionId)
    await world.deliverNext(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 10)))
    await world.drain(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(1, 9)))
    assert.equal((await world.jobsOf(collectionId)).length, 1)
  })

  it('does not delay a pending incremental sync behind a long-running job, which yields', async () => {
    const { collectionId, groupId, linkId } = await world.linked(users(0, 10))
    await world.drain()
    world.collections.change(collectionId, users(0, 600))
    world.collections.forgetHistory(collectionId)
    const message = { tenantId: TENANT, collectionId }
    await world.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: 'hundreds joined' })
    await world.deliverNext()
    const sizes: number[] = []
    const directory = {
      ...world.deps.directory,
      addMembers: async (...asked: Parameters<typeof world.directory.addMembers>) => {
        const outcome = await world.directory.addMembers(...asked)
        await world.clock.sleep(9_000)
        const { value, version } = (await world.deps.links.find(TENANT, linkId)) ?? assert.fail()
        if (sizes.push(1) === 1) await world.deps.links.replace({ ...value, changesPending: true }, version)
        return outcome
      },
    }
    const [job] = await world.jobsOf(collectionId)
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, { ...world.deps, directory })
    assert.equal(sizes.length, 2)
    const link = await world.link(linkId)
    assert.deepEqual([link.lease, link.changesPending], [null, false])
    world.sentMessages.splice(0, 1)
    await world.drain()
    const [ended] = await world.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts, ended?.added], ['Succeeded', 1, 590])
    assert.equal((await world.membersOf(groupId)).size, 600)
  })
})
