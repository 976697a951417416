import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { minuteOfTenant } from '../../shared/domain/group-links/link-dependencies.ts'
import { updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { enqueueDailyWork, enqueueSweeps, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { SMALL_TENANT, TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkWorld, openWorld } from '../support/jobs/link-world.ts'

describe('The sweep', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(async () => {
    world.server.setFaults([])
    world.sentMessages.length = 0
    for (const { value, version } of await world.deps.links.ofTenant(TENANT)) {
      await world.deps.links.remove(value, version)
    }
    for (const { value, version } of await world.deps.jobs.unfinished(TENANT)) {
      await world.deps.jobs.replace({ ...value, status: 'Failed' }, version)
    }
  })

  /** Enqueues the tenants' sweeps and delivers these messages only. */
  async function sweep(minute?: number): Promise<void> {
    await enqueueSweeps(minute === undefined ? undefined : [minute], world.deps)
    const swept = world.sentMessages.filter(({ message }) => message.queue === 'sweeps')
    for (const enqueue of swept) world.sentMessages.splice(world.sentMessages.indexOf(enqueue), 1)
    for (const { message } of swept) await sweepTenant(message.message.tenantId, world.deps)
  }

  const jobMessages = () => world.sentMessages.filter(({ message }) => message.queue === 'sync-jobs')

  it('queues one job for an enabled link without an unfinished one, and none for a disabled one', async () => {
    const enabled = await world.linked(users(0, 3))
    const disabled = await world.linked(users(0, 3))
    await world.drain()
    await updateLink(
      { tenantId: TENANT, linkId: disabled.linkId, ifMatch: undefined },
      { state: 'Disabled' },
      world.deps,
    )
    await sweep()
    await sweep()
    const types = async (collectionId: string) => (await world.jobsOf(collectionId)).map(({ type }) => type)
    assert.deepEqual(await types(enabled.collectionId), ['ScheduledSweep', 'LinkCreated'])
    assert.deepEqual(await types(disabled.collectionId), ['LinkCreated'])
    await world.drain()
    assert.equal((await world.jobsOf(enabled.collectionId))[0]?.status, 'Succeeded')
  })

  it('enqueues a queued job whose message was lost', async () => {
    const { collectionId } = await world.linked(users(0, 3))
    world.sentMessages.length = 0
    await sweep()
    await world.drain()
    const [job, ...others] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, others.length], ['LinkCreated', 'Succeeded', 0])
  })

  it('does not enqueue a job that waits for its retry', async () => {
    await world.linked(users(0, 3))
    world.server.setFaults([{ status: 503 }])
    await world.deliverNext()
    world.sentMessages.length = 0
    await sweep()
    assert.deepEqual(jobMessages(), [])
  })

  it('enqueues a running job once its lease has expired, not before', async () => {
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
    world.sentMessages.length = 0
    await sweep()
    assert.deepEqual(jobMessages(), [])
    await world.clock.sleep(world.deps.leaseMs + world.deps.clockDifferenceMs)
    await sweep()
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 3)))
    const [ended] = await world.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts], ['Succeeded', 2])
  })

  it('queues the first job of a link after a crash between the two', async () => {
    const jobs = { ...world.deps.jobs, add: () => Promise.reject(new Error('The process ends here')) }
    const collectionId = world.collections.make(users(0, 3))
    const directoryGroupId = await world.newGroup()
    await assert.rejects(createLink(TENANT, { collectionId, directoryGroupId }, { ...world.deps, jobs }))
    await sweep()
    await world.drain()
    assert.deepEqual(await world.membersOf(directoryGroupId), new Set(users(0, 3)))
  })

  it('sweeps a tenant in its minute, and enqueues its evaluation', async () => {
    await world.linked(users(0, 3))
    await world.drain()
    const minute = minuteOfTenant(TENANT)
    await sweep((minute + 1) % 60)
    assert.equal(world.sentMessages.length, 0)
    await sweep(minute)
    assert.deepEqual(
      world.sentMessages.map(({ message }) => message.queue),
      ['evaluations', 'sync-jobs'],
    )
  })

  it('enqueues one message for each tenant', async () => {
    await world.deps.tenants.register(TENANT)
    await world.deps.tenants.register(SMALL_TENANT)
    await enqueueSweeps(undefined, world.deps)
    const enqueuedFor = world.sentMessages.map(({ message }) => [message.queue, message.message.tenantId])
    assert.deepEqual(enqueuedFor.sort(), [
      ['sweeps', TENANT],
      ['sweeps', SMALL_TENANT],
    ])
  })

  it('enqueues all other tenants when one cannot be enqueued, and fails', async () => {
    await world.deps.tenants.register(TENANT)
    await world.deps.tenants.register(SMALL_TENANT)
    const enqueue: typeof world.deps.messageQueue.enqueue = async (message, options) => {
      if (message.message.tenantId === TENANT) throw new Error('The queue is unavailable')
      await world.deps.messageQueue.enqueue(message, options)
    }
    await assert.rejects(enqueueSweeps(undefined, { ...world.deps, messageQueue: { enqueue } }), AggregateError)
    assert.deepEqual(
      world.sentMessages.map(({ message }) => message.message.tenantId),
      [SMALL_TENANT],
    )
  })

  it('enqueues the evaluation and the audit of each tenant once in the first minute of a day, and in no other minute', async () => {
    await world.deps.tenants.register(TENANT)
    await world.deps.tenants.register(SMALL_TENANT)
    const midnightMs = Date.parse('2031-01-01T00:00:00Z')
    for (const atMs of [midnightMs - 60_000, midnightMs + 60_000, midnightMs + 3_600_000]) {
      await enqueueDailyWork(atMs - 50_000, { ...world.deps, nowMs: () => atMs })
    }
    assert.equal(world.sentMessages.length, 0)
    for (const atMs of [midnightMs, midnightMs + 59_999])
      await enqueueDailyWork(atMs - 60_000, { ...world.deps, nowMs: () => atMs })
    const enqueuedFor = world.sentMessages.map(({ message }) => [message.queue, message.message.tenantId])
    assert.deepEqual(enqueuedFor.sort(), [
      ['audits', TENANT],
      ['audits', SMALL_TENANT],
      ['evaluations', TENANT],
      ['evaluations', SMALL_TENANT],
    ])
    const audits = world.sentMessages.filter(({ message }) => message.queue === 'audits')
    for (const { dueMs } of audits) assert.ok(dueMs - world.clock.nowMs() < 24 * 3_600_000)
  })

  it('enqueues the evaluation where the day begins by the time zone of the tenant, the audit by UTC', async () => {
    await world.deps.tenants.register(TENANT)
    await world.deps.tenants.register(SMALL_TENANT)
    const { value, version } = await world.deps.settings.find(TENANT)
    await world.deps.settings.replace(TENANT, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    const enqueuedAt = async (time: string) => {
      world.sentMessages.length = 0
      const atMs = Date.parse(time)
      await enqueueDailyWork(atMs - 60_000, { ...world.deps, nowMs: () => atMs })
      return world.sentMessages.map(({ message }) => `${message.queue} ${message.message.tenantId}`).sort()
    }
    const atMidnight = [`audits ${TENANT}`, `audits ${SMALL_TENANT}`, `evaluations ${SMALL_TENANT}`].sort()
    assert.deepEqual(await enqueuedAt('2031-03-29T22:00:30Z'), [])
    assert.deepEqual(await enqueuedAt('2031-03-29T23:00:30Z'), [`evaluations ${TENANT}`])
    assert.deepEqual(await enqueuedAt('2031-03-30T00:00:30Z'), atMidnight)
    // Clocks were put forward.
    assert.deepEqual(await enqueuedAt('2031-03-30T22:00:30Z'), [`evaluations ${TENANT}`])
    assert.deepEqual(await enqueuedAt('2031-03-30T23:00:30Z'), [])
  })

  it('enqueues the evaluation at the first run, which cannot know whether a day has begun before', async () => {
    await world.deps.tenants.register(TENANT)
    const noon = { ...world.deps, nowMs: () => Date.parse('2031-01-01T12:10:00Z') }
    await enqueueDailyWork(undefined, noon)
    assert.deepEqual(
      world.sentMessages.map(({ message }) => message.queue),
      ['evaluations'],
    )
    const isDueDaily = async (_tenantId: string, todayMs: number) => todayMs > Date.parse('2031-01-01T00:00:00Z')
    await enqueueDailyWork(undefined, { ...noon, evaluations: { ...noon.evaluations, isDueDaily } })
    assert.equal(world.sentMessages.length, 1, 'it was evaluated on this day')
  })

  it('distributes tenants evenly over the hour', () => {
    const minutes = Array.from({ length: 6_000 }, (_, index) => minuteOfTenant(`tenant-${index}`))
    const counts = Map.groupBy(minutes, (minute) => minute)
    assert.equal(counts.size, 60)
    assert.ok([...counts.values()].every(({ length }) => length > 50 && length < 160))
  })
})
