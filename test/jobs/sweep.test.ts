import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setLinkState } from '../../shared/domain/links/change-link.ts'
import { createLink } from '../../shared/domain/links/create-link.ts'
import { runSyncJob } from '../../shared/domain/links/run-sync-job.ts'
import { ringForNewDay, ringForSweeps, sweepTenant } from '../../shared/domain/links/sweep.ts'
import { minuteOfTenant } from '../../shared/domain/links/sweep-minute.ts'
import { SMALL_TENANT, TENANT, users } from './link-directory.ts'
import { type LinkWorld, openWorld } from './link-world.ts'

describe('The sweep', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(async () => {
    world.server.setFaults([])
    world.rings.length = 0
    for (const { value, version } of await world.deps.links.ofTenant(TENANT)) {
      await world.deps.links.remove(TENANT, value.id, version)
    }
    for (const { value, version } of await world.deps.jobs.unfinished(TENANT)) {
      await world.deps.jobs.replace({ ...value, status: 'Failed' }, version)
    }
  })

  /** Rings for the tenants, and hands over those rings, no others. */
  async function sweep(minute?: number): Promise<void> {
    await ringForSweeps(minute === undefined ? undefined : [minute], world.deps)
    const swept = world.rings.filter(({ doorbell }) => doorbell.queue === 'sweeps')
    for (const ring of swept) world.rings.splice(world.rings.indexOf(ring), 1)
    for (const { doorbell } of swept) await sweepTenant(doorbell.message.tenantId, world.deps)
  }

  const jobBells = () => world.rings.filter(({ doorbell }) => doorbell.queue === 'sync-jobs')

  it('queues one job for an enabled link without an unfinished one, and none for a disabled one', async () => {
    const enabled = await world.linked(users(0, 3))
    const disabled = await world.linked(users(0, 3))
    await world.drain()
    await setLinkState({ tenantId: TENANT, linkId: disabled.linkId, ifMatch: undefined }, 'Disabled', world.deps)
    await sweep()
    await sweep()
    const types = async (collectionId: string) => (await world.jobsOf(collectionId)).map(({ type }) => type)
    assert.deepEqual(await types(enabled.collectionId), ['ScheduledSweep', 'LinkCreated'])
    assert.deepEqual(await types(disabled.collectionId), ['LinkCreated'])
    await world.drain()
    assert.equal((await world.jobsOf(enabled.collectionId))[0]?.status, 'Succeeded')
  })

  it('rings for a queued job whose message was lost', async () => {
    const { collectionId } = await world.linked(users(0, 3))
    world.rings.length = 0
    await sweep()
    await world.drain()
    const [job, ...others] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, others.length], ['LinkCreated', 'Succeeded', 0])
  })

  it('leaves a job alone that waits for its retry', async () => {
    await world.linked(users(0, 3))
    world.server.setFaults([{ status: 503 }])
    await world.deliverNext()
    world.rings.length = 0
    await sweep()
    assert.deepEqual(jobBells(), [])
  })

  it('rings for a running job once its lease has run out, not before', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 3))
    const [job] = await world.jobsOf(collectionId)
    const asked = Promise.withResolvers<void>()
    const readGroup = () => {
      asked.resolve()
      return new Promise<never>(() => undefined)
    }
    const dying = { ...world.deps, directory: { ...world.deps.directory, readGroup } }
    void runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, dying)
    await asked.promise
    world.rings.length = 0
    await sweep()
    assert.deepEqual(jobBells(), [])
    await world.clock.sleep(world.deps.leaseMs + 1)
    await sweep()
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 3)))
    const [ended] = await world.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts], ['Succeeded', 2])
  })

  it('queues what a crash between a link and its first job has left out', async () => {
    const jobs = { ...world.deps.jobs, add: () => Promise.reject(new Error('The process ends here')) }
    const collectionId = world.collections.make(users(0, 3))
    const directoryGroupId = await world.newGroup()
    await assert.rejects(createLink(TENANT, { collectionId, directoryGroupId }, { ...world.deps, jobs }))
    await sweep()
    await world.drain()
    assert.deepEqual(await world.membersOf(directoryGroupId), new Set(users(0, 3)))
  })

  it('comes to a tenant in its own minute, and rings for its evaluation', async () => {
    await world.linked(users(0, 3))
    await world.drain()
    const minute = minuteOfTenant(TENANT)
    await sweep((minute + 1) % 60)
    assert.equal(world.rings.length, 0)
    await sweep(minute)
    assert.deepEqual(
      world.rings.map(({ doorbell }) => doorbell.queue),
      ['evaluations', 'sync-jobs'],
    )
  })

  it('rings for each tenant apart, so that one tenant’s trouble is not another’s', async () => {
    await world.deps.tenants.remember(TENANT)
    await world.deps.tenants.remember(SMALL_TENANT)
    await ringForSweeps(undefined, world.deps)
    const rungFor = world.rings.map(({ doorbell }) => [doorbell.queue, doorbell.message.tenantId])
    assert.deepEqual(rungFor.sort(), [
      ['sweeps', TENANT],
      ['sweeps', SMALL_TENANT],
    ])
  })

  it('rings for all other tenants when one cannot be rung for, and fails', async () => {
    await world.deps.tenants.remember(TENANT)
    await world.deps.tenants.remember(SMALL_TENANT)
    const ring: typeof world.deps.doorbells.ring = async (doorbell, options) => {
      if (doorbell.message.tenantId === TENANT) throw new Error('The queue is away')
      await world.deps.doorbells.ring(doorbell, options)
    }
    await assert.rejects(ringForSweeps(undefined, { ...world.deps, doorbells: { ring } }), AggregateError)
    assert.deepEqual(
      world.rings.map(({ doorbell }) => doorbell.message.tenantId),
      [SMALL_TENANT],
    )
  })

  it('rings for the evaluation of each tenant once in the first minute of a day, and in no other', async () => {
    await world.deps.tenants.remember(TENANT)
    await world.deps.tenants.remember(SMALL_TENANT)
    const midnightMs = Date.parse('2031-01-01T00:00:00Z')
    for (const atMs of [midnightMs - 1, midnightMs + 60_000, midnightMs + 3_600_000]) {
      await ringForNewDay(undefined, { ...world.deps, nowMs: () => atMs })
    }
    assert.equal(world.rings.length, 0)
    for (const atMs of [midnightMs, midnightMs + 59_999])
      await ringForNewDay(undefined, { ...world.deps, nowMs: () => atMs })
    const rungFor = world.rings.map(({ doorbell }) => [doorbell.queue, doorbell.message.tenantId])
    assert.deepEqual(rungFor.sort(), [
      ['evaluations', TENANT],
      ['evaluations', SMALL_TENANT],
    ])
  })

  it('spreads tenants over the hour', () => {
    const minutes = Array.from({ length: 6_000 }, (_, index) => minuteOfTenant(`tenant-${index}`))
    const counts = Map.groupBy(minutes, (minute) => minute)
    assert.equal(counts.size, 60)
    assert.ok([...counts.values()].every(({ length }) => length > 50 && length < 160))
  })
})
