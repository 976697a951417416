import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { createConnector } from '../../shared/domain/connectors/manage-connectors.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { minuteOfTenant } from '../../shared/domain/group-links/tenant-store.ts'
import { sweepRestoredTenant } from '../../shared/domain/sync/restored-tenant.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { enqueueDailyWork, enqueueSweeps, sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { SMALL_TENANT, TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

describe('The sweep', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture()
  })
  after(() => fixture.close())
  beforeEach(async () => {
    fixture.server.setFaults([])
    fixture.sentMessages.length = 0
    for (const { value, version } of await fixture.deps.links.ofTenant(TENANT)) {
      await fixture.deps.links.remove(value, version)
    }
    for (const { value, version } of await fixture.deps.jobs.unfinished(TENANT)) {
      await fixture.deps.jobs.replace({ ...value, status: 'Failed' }, version)
    }
  })

  /** Enqueues the tenants' sweeps and delivers these messages only. */
  async function sweep(minute?: number): Promise<void> {
    await enqueueSweeps(minute === undefined ? undefined : [minute], fixture.deps)
    const swept = fixture.sentMessages.filter(({ message }) => message.queue === 'sweeps')
    for (const enqueue of swept) fixture.sentMessages.splice(fixture.sentMessages.indexOf(enqueue), 1)
    for (const { message } of swept) await sweepTenant(message.message.tenantId, fixture.deps)
  }

  const jobMessages = () => fixture.sentMessages.filter(({ message }) => message.queue === 'sync-jobs')

  it('queues one job for an enabled link without an unfinished one, and none for a disabled one', async () => {
    const enabled = await fixture.linked(users(0, 3))
    const disabled = await fixture.linked(users(0, 3))
    await fixture.drain()
    await updateLink(
      { tenantId: TENANT, linkId: disabled.linkId, ifMatch: undefined },
      { state: 'Disabled' },
      fixture.deps,
    )
    await sweep()
    await sweep()
    const types = async (collectionId: string) => (await fixture.jobsOf(collectionId)).map(({ type }) => type)
    assert.deepEqual(await types(enabled.collectionId), ['ScheduledSweep', 'LinkCreated'])
    assert.deepEqual(await types(disabled.collectionId), ['LinkCreated'])
    await fixture.drain()
    assert.equal((await fixture.jobsOf(enabled.collectionId))[0]?.status, 'Succeeded')
  })

  it('enqueues a queued job whose message was lost', async () => {
    const { collectionId } = await fixture.linked(users(0, 3))
    fixture.sentMessages.length = 0
    await sweep()
    await fixture.drain()
    const [job, ...others] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, others.length], ['LinkCreated', 'Succeeded', 0])
  })

  it('does not enqueue a job that waits for its retry', async () => {
    await fixture.linked(users(0, 3))
    fixture.server.setFaults([{ status: 503 }])
    await fixture.deliverNext()
    fixture.sentMessages.length = 0
    await sweep()
    assert.deepEqual(jobMessages(), [])
  })

  it('enqueues a running job once its lease has expired, not before', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 3))
    const [job] = await fixture.jobsOf(collectionId)
    const asked = Promise.withResolvers<void>()
    const readGroup = () => {
      asked.resolve()
      return new Promise<never>(() => undefined)
    }
    const dying = { ...fixture.deps, directory: { ...fixture.deps.directory, readGroup } }
    void runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, dying)
    await asked.promise
    fixture.sentMessages.length = 0
    await sweep()
    assert.deepEqual(jobMessages(), [])
    await fixture.clock.sleep(fixture.deps.leaseMs + fixture.deps.clockDifferenceMs)
    await sweep()
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
    const [ended] = await fixture.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts], ['Succeeded', 2])
  })

  it('queues the first job of a link after a crash between the two', async () => {
    const jobs = { ...fixture.deps.jobs, add: () => Promise.reject(new Error('The process ends here')) }
    const collectionId = fixture.collections.make(users(0, 3))
    const directoryGroupId = await fixture.newGroup()
    await assert.rejects(createLink(TENANT, { collectionId, directoryGroupId }, { ...fixture.deps, jobs }))
    await sweep()
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(directoryGroupId), new Set(users(0, 3)))
  })

  it('sweeps a tenant in its minute, and enqueues its evaluation', async () => {
    await fixture.linked(users(0, 3))
    await fixture.drain()
    const minute = minuteOfTenant(TENANT)
    await sweep((minute + 1) % 60)
    assert.equal(fixture.sentMessages.length, 0)
    await sweep(minute)
    assert.deepEqual(
      fixture.sentMessages.map(({ message }) => message.queue),
      ['evaluations', 'sync-jobs'],
    )
  })

  it('looks for ends a day after it last looked, however many sweeps there were since', async () => {
    const looks: (number | undefined)[] = []
    const isDue = (lookedAtMs: number | undefined) => looks.push(lookedAtMs) === 1
    const deps = { ...fixture.deps, deadlines: { isDue, enqueue: async () => undefined } }
    for (let count = 0; count < 3; count += 1) {
      await sweepTenant(TENANT, deps)
      await fixture.clock.sleep(3_600_000)
    }
    assert.deepEqual([looks.length, looks[2], typeof looks[2]], [3, looks[1], 'number'])
  })

  it('of a restored tenant compares each link anew, also after a job that runs meanwhile, and enqueues its audit', async () => {
    const { linkId } = await fixture.linked(users(0, 3))
    await fixture.drain()
    await sweepRestoredTenant(TENANT, { ...fixture.deps, derivedState: { forget: async () => undefined } })
    const { appliedMembershipVersion, accountsChangedAtMs } = await fixture.link(linkId)
    assert.deepEqual([appliedMembershipVersion, typeof accountsChangedAtMs], [null, 'number'])
    assert.ok(fixture.sentMessages.some(({ message }) => message.queue === 'audits'))
  })

  it('enqueues one message for each tenant', async () => {
    await fixture.deps.tenants.register(TENANT)
    await fixture.deps.tenants.register(SMALL_TENANT)
    await enqueueSweeps(undefined, fixture.deps)
    const enqueuedFor = fixture.sentMessages.map(({ message }) => [message.queue, message.message.tenantId])
    assert.deepEqual(enqueuedFor.sort(), [
      ['sweeps', TENANT],
      ['sweeps', SMALL_TENANT],
    ])
  })

  it('enqueues all other tenants when one cannot be enqueued, and fails', async () => {
    await fixture.deps.tenants.register(TENANT)
    await fixture.deps.tenants.register(SMALL_TENANT)
    const enqueue: typeof fixture.deps.messageQueue.enqueue = async (message, options) => {
      if (message.message.tenantId === TENANT) throw new Error('The queue is unavailable')
      await fixture.deps.messageQueue.enqueue(message, options)
    }
    await assert.rejects(enqueueSweeps(undefined, { ...fixture.deps, messageQueue: { enqueue } }), AggregateError)
    assert.deepEqual(
      fixture.sentMessages.map(({ message }) => message.message.tenantId),
      [SMALL_TENANT],
    )
  })

  it('enqueues the evaluation and the audit of each tenant once in the first minute of a day, and in no other minute', async () => {
    await fixture.deps.tenants.register(TENANT)
    await fixture.deps.tenants.register(SMALL_TENANT)
    const midnightMs = Date.parse('2031-01-01T00:00:00Z')
    for (const atMs of [midnightMs - 60_000, midnightMs + 60_000, midnightMs + 3_600_000]) {
      await enqueueDailyWork(atMs - 50_000, { ...fixture.deps, nowMs: () => atMs })
    }
    assert.equal(fixture.sentMessages.length, 0)
    for (const atMs of [midnightMs, midnightMs + 59_999])
      await enqueueDailyWork(atMs - 60_000, { ...fixture.deps, nowMs: () => atMs })
    const enqueuedFor = fixture.sentMessages.map(({ message }) => [message.queue, message.message.tenantId])
    assert.deepEqual(enqueuedFor.sort(), [
      ['audits', TENANT],
      ['audits', SMALL_TENANT],
      ['evaluations', TENANT],
      ['evaluations', SMALL_TENANT],
    ])
    const audits = fixture.sentMessages.filter(({ message }) => message.queue === 'audits')
    for (const { dueMs } of audits) assert.ok(dueMs - fixture.clock.nowMs() < 24 * 3_600_000)
  })

  it('enqueues the evaluation where the day begins by the time zone of the tenant, the audit by UTC', async () => {
    await fixture.deps.tenants.register(TENANT)
    await fixture.deps.tenants.register(SMALL_TENANT)
    const { value, version } = await fixture.deps.settings.find(TENANT)
    await fixture.deps.settings.replace(TENANT, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    const enqueuedAt = async (time: string) => {
      fixture.sentMessages.length = 0
      const atMs = Date.parse(time)
      await enqueueDailyWork(atMs - 60_000, { ...fixture.deps, nowMs: () => atMs })
      return fixture.sentMessages.map(({ message }) => `${message.queue} ${message.message.tenantId}`).sort()
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
    await fixture.deps.tenants.register(TENANT)
    const noon = { ...fixture.deps, nowMs: () => Date.parse('2031-01-01T12:10:00Z') }
    await enqueueDailyWork(undefined, noon)
    assert.deepEqual(
      fixture.sentMessages.map(({ message }) => message.queue),
      ['evaluations'],
    )
    const isDueDaily = async (_tenantId: string, todayMs: number) => todayMs > Date.parse('2031-01-01T00:00:00Z')
    await enqueueDailyWork(undefined, { ...noon, evaluations: { ...noon.evaluations, isDueDaily } })
    assert.equal(fixture.sentMessages.length, 1, 'it was evaluated on this day')
  })

  it('enqueues it at a first run in the last hour of a day of 25 hours', async () => {
    await fixture.deps.tenants.register(TENANT)
    const { value, version } = await fixture.deps.settings.find(TENANT)
    await fixture.deps.settings.replace(TENANT, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    await enqueueDailyWork(undefined, { ...fixture.deps, nowMs: () => Date.parse('2031-10-26T22:30:00Z') })
    const enqueuedFor = fixture.sentMessages.map(({ message }) => `${message.queue} ${message.message.tenantId}`)
    assert.ok(enqueuedFor.includes(`evaluations ${TENANT}`))
  })

  it('distributes tenants evenly over the hour', () => {
    const minutes = Array.from({ length: 6_000 }, (_, index) => minuteOfTenant(`tenant-${index}`))
    const counts = Map.groupBy(minutes, (minute) => minute)
    assert.equal(counts.size, 60)
    assert.ok([...counts.values()].every(({ length }) => length > 50 && length < 160))
  })
})

describe('The sweep and the audit of a tenant that has connectors and no collection', () => {
  const clientId = '22222222-0000-4000-8000-000000000001'
  const input = { name: 'HR', clientId, expectedIntervalHours: 1 }
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture()
  })
  after(() => fixture.close())

  async function enqueuedFor(tenantId: string): Promise<string[]> {
    fixture.sentMessages.length = 0
    await enqueueSweeps(undefined, fixture.deps)
    await enqueueDailyWork(undefined, { ...fixture.deps, nowMs: () => Date.parse('2031-01-01T00:00:30Z') })
    const messages = fixture.sentMessages.map(({ message }) => message)
    return messages.filter(({ message }) => message.tenantId === tenantId).map(({ queue }) => queue)
  }

  it('are enqueued as soon as it has one', async () => {
    const tenantId = '22222222-0000-4000-8000-000000000002'
    const caller = { kind: 'application', tenantId, objectId: clientId, clientId, roles: new Set<never>() } as const
    assert.deepEqual(await enqueuedFor(tenantId), [])
    await createConnector(input, caller, fixture.newService().connectors)
    assert.deepEqual(await enqueuedFor(tenantId), ['sweeps', 'evaluations', 'audits'])
  })

  it('are enqueued once it is evaluated, when a version before this one has stored its connectors', async () => {
    const tenantId = '22222222-0000-4000-8000-000000000003'
    const creation = { id: clientId, createdBy: clientId, createdAt: '2030-01-01T00:00:00Z' }
    const { connectors, messages } = fixture.newService()
    await connectors.connectors.add(tenantId, newConnector(input, creation))
    assert.deepEqual(await enqueuedFor(tenantId), [])
    await messages.evaluations.handle({ tenantId })
    assert.deepEqual(await enqueuedFor(tenantId), ['sweeps', 'audits'])
  })
})
