import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { SyncDependencies } from '../../shared/domain/group-links/link-dependencies.ts'
import type { SyncStep } from '../../shared/domain/sync/plan-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sharedWriteBudget, type WriteBudget, type WritePurpose } from '../../shared/domain/sync/write-budget.ts'
import { writeStep } from '../../shared/domain/sync/write-step.ts'
import { TENANT, users } from './link-directory.ts'
import { type LinkWorld, openWorld, ringForChanges } from './link-world.ts'

describe('The write budget', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(async () => {
    world.rings.length = 0
    // The windows of 150 and 300 seconds have turned, for the application as well.
    await world.clock.sleep(600_000)
  })

  const instance = (writesPerTenant: number, writesInAll: number): WriteBudget =>
    sharedWriteBudget({ windows: world.windows, writesPerTenant, writesInAll, nowMs: world.clock.nowMs })

  async function grantedCount(budget: WriteBudget, tenantId: string, purpose: WritePurpose, wanted: number) {
    let count = 0
    for (let asked = 0; asked < wanted; asked += 1) if ((await budget.ask(tenantId, 1, purpose)) === 0) count += 1
    return count
  }

  it('of a tenant is shared by all instances, a fifth of it kept for single changes', async () => {
    const tenant = randomUUID()
    const instances = [instance(100, 10_000), instance(100, 10_000), instance(100, 10_000)]
    const bulk = await Promise.all(instances.map((budget) => grantedCount(budget, tenant, 'bulk', 60)))
    const bulkCount = bulk.reduce((sum, count) => sum + count, 0)
    assert.ok(bulkCount <= 80 && bulkCount > 60, `${bulkCount} writes of jobs`)
    const [first = instance(100, 10_000)] = instances
    assert.ok((await first.ask(tenant, 1, 'bulk')) > 0)
    const changeCount = await grantedCount(first, tenant, 'change', 60)
    assert.ok(changeCount >= 20 && bulkCount + changeCount <= 100, `${changeCount} writes of changes`)
  })

  it('that one tenant has used up is no other one’s', async () => {
    const [big, small] = [randomUUID(), randomUUID()]
    const budget = instance(100, 1_000)
    assert.ok((await grantedCount(budget, big, 'bulk', 200)) <= 80)
    assert.equal(await grantedCount(budget, small, 'bulk', 50), 50)
  })

  it('of the application bounds all tenants together', async () => {
    const budget = instance(100, 200)
    const tenants = Array.from({ length: 6 }, () => randomUUID())
    let count = 0
    for (const tenant of tenants) count += await grantedCount(budget, tenant, 'bulk', 50)
    assert.equal(count, 160)
  })

  it('is whole again in the next window, whose beginning it names', async () => {
    const tenant = randomUUID()
    const budget = instance(10, 1_000)
    await grantedCount(budget, tenant, 'bulk', 10)
    const waitMs = await budget.ask(tenant, 1, 'bulk')
    assert.ok(waitMs > 0 && waitMs <= 150_000)
    await world.clock.sleep(waitMs)
    assert.equal(await budget.ask(tenant, 1, 'bulk'), 0)
  })

  it('lets through what is more than all of it, in a window of its own', async () => {
    const budget = instance(10, 20)
    assert.equal(await budget.ask(randomUUID(), 50, 'bulk'), 0)
  })

  it('counts the writes that retries and accounts added one by one cost beyond what was asked for', async () => {
    const { groupId } = await world.linked(users(0, 40), users(0, 1))
    const budget = instance(100, 1_000)
    const step: SyncStep = { kind: 'add', accounts: users(0, 40) }
    assert.equal(await budget.ask(TENANT, 2, 'bulk'), 0)
    const untilMs = Number.POSITIVE_INFINITY
    const write = { tenantId: TENANT, groupId, step, purpose: 'bulk', untilMs } as const
    const outcome = await writeStep(write, { ...world.deps, budget })
    // Two PATCHes, of which the one with a member in it is followed by twenty calls.
    assert.deepEqual([outcome.written.length, outcome.unchanged.length, outcome.sentCount], [39, 1, 22])
    assert.equal(await grantedCount(budget, TENANT, 'bulk', 100), 80 - 22)
  })

  it('makes a job wait for the next window, which is no failed run', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 700))
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    const startMs = world.clock.nowMs()
    await world.drain(deps)
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added], ['Succeeded', 1, 700])
    assert.equal((await world.membersOf(groupId)).size, 700)
    // 35 writes in steps of five, of which a window takes three: a fifth of its twenty is kept back.
    assert.ok(world.clock.nowMs() - startMs > 150_000)
  })

  it('lets a single removal through while jobs have used up their part', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 10))
    await world.drain()
    await world.clock.sleep(600_000)
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    assert.equal(await deps.budget.ask(TENANT, 16, 'bulk'), 0)
    assert.ok((await deps.budget.ask(TENANT, 1, 'bulk')) > 0)
    world.rings.length = 0
    world.collections.change(collectionId, users(1, 9))
    const message = { tenantId: TENANT, collectionId }
    await world.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: 'one left' })
    await world.deliverNext(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(1, 9)))
  })

  it('makes a change wait for the next window once all of it is used up, and does not lose it', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 10))
    await world.drain()
    await world.clock.sleep(600_000)
    const deps: SyncDependencies = { ...world.deps, budget: instance(20, 10_000) }
    await grantedCount(deps.budget, TENANT, 'change', 20)
    world.collections.change(collectionId, users(1, 9))
    await ringForChanges(world, collectionId)
    await world.deliverNext(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 10)))
    await world.drain(deps)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(1, 9)))
    assert.equal((await world.jobsOf(collectionId)).length, 1)
  })

  it('makes a job that is at it for long let a waiting change go first', async () => {
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
        if (sizes.push(1) === 1) await world.deps.links.replace({ ...value, changesWait: true }, version)
        return outcome
      },
    }
    const [job] = await world.jobsOf(collectionId)
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, { ...world.deps, directory })
    assert.equal(sizes.length, 2)
    const link = await world.link(linkId)
    assert.deepEqual([link.lease, link.changesWait], [null, false])
    world.rings.splice(0, 1)
    await world.drain()
    const [ended] = await world.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts, ended?.added], ['Succeeded', 1, 590])
    assert.equal((await world.membersOf(groupId)).size, 600)
  })
})
