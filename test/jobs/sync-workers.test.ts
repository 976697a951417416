import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { deleteLink, requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { syncStateOf } from '../../shared/domain/group-links/sync-state.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

describe('Workers of sync jobs', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ isDirect: true })
  })
  after(() => fixture.close())
  beforeEach(() => {
    fixture.sentMessages.length = 0
  })

  for (const [claim, lastCall] of [
    ['may crash before any call', 'unsent'],
    ['may crash before the response to any call', 'unanswered'],
  ] as const) {
    it(`${claim}: another worker ends the job, the group equals the collection and each write is counted once`, async () => {
      let crashCount = 0
      for (let callsLeft = 1; ; callsLeft += 1) {
        const { collectionId, groupId, linkId } = await fixture.linked(users(0, 130), users(125, 30))
        const message = fixture.sentMessages[0]
        const hasCrashed = await runUntilCrash({ callsLeft, lastCall }, collectionId)
        // The queue delivers the message of a crashed worker again.
        if (message !== undefined && fixture.sentMessages.length === 0) fixture.sentMessages.push(message)
        await fixture.drain()
        const [job] = await fixture.jobsOf(collectionId)
        assert.deepEqual(
          [job?.status, job?.added, job?.removed, job?.journal],
          ['Succeeded', 125, 25, { added: [], removed: [] }],
          `after ${callsLeft} calls: ${job?.error}`,
        )
        assert.ok((job?.attempts ?? 0) <= 2)
        assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 130)))
        const link = await fixture.link(linkId)
        assert.deepEqual([link.lease, link.lastSyncOutcome], [null, 'Succeeded'])
        if (!hasCrashed) break
        crashCount += 1
      }
      assert.ok(crashCount > 15, `it crashed only ${crashCount} times`)
    })
  }

  /** Runs the job with dependencies that never resolve from their last call on. */
  async function runUntilCrash(
    { callsLeft, lastCall }: { callsLeft: number; lastCall: 'unsent' | 'unanswered' },
    collectionId: string,
  ): Promise<boolean> {
    let left = callsLeft
    const death = Promise.withResolvers<void>()
    const never = new Promise<never>(() => undefined)
    async function mortally<T>(call: () => Promise<T>): Promise<T> {
      left -= 1
      if (left > 0 || (left === 0 && lastCall === 'unsent')) return call()
      if (left === 0) await call()
      left = -1
      death.resolve()
      return never
    }
    const mortal = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, name, receiver) {
          const member: unknown = Reflect.get(object, name, receiver)
          if (typeof member !== 'function') return member
          return (...args: unknown[]) => mortally(async () => member.apply(object, args))
        },
      })
    const deps: SyncDependencies = {
      ...fixture.deps,
      links: mortal(fixture.deps.links),
      jobs: mortal(fixture.deps.jobs),
      directory: fixture.directoryOver((send) => (tenantId, call) => mortally(() => send(tenantId, call))),
      collections: mortal(fixture.deps.collections),
      messageQueue: mortal(fixture.deps.messageQueue),
    }
    const [job] = await fixture.jobsOf(collectionId)
    fixture.sentMessages.length = 0
    await Promise.race([runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, deps), death.promise])
    return left < 0
  }

  it('may crash in every run: the job fails, and their writes are counted', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 450))
    const [job] = await fixture.jobsOf(collectionId)
    for (let run = 1; run <= 4; run += 1) {
      const death = Promise.withResolvers<void>()
      const addMembers = async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        await fixture.directory.addMembers(...args)
        death.resolve()
        return new Promise<never>(() => undefined)
      }
      const deps = { ...fixture.deps, directory: { ...fixture.deps.directory, addMembers } }
      await Promise.race([runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, deps), death.promise])
      await fixture.clock.sleep(fixture.deps.leaseMs + fixture.deps.clockDifferenceMs)
    }
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, fixture.deps)
    const [ended] = await fixture.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts, ended?.added], ['Failed', 4, 400])
    assert.equal((await fixture.membersOf(groupId)).size, 400)
  })

  it('continue after each batch, and write at least one step in a batch', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 250), users(300, 45))
    await fixture.drain({ ...fixture.deps, batchMs: 0 })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual(
      [job?.status, job?.attempts, job?.added, job?.removed, job?.batchCount],
      ['Succeeded', 1, 250, 45, 4],
    )
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 250)))
  })

  it('run a job once, also when several receive its message', async () => {
    const { collectionId } = await fixture.linked(users(0, 150))
    const [job] = await fixture.jobsOf(collectionId)
    const message = { tenantId: TENANT, jobId: job?.id ?? '' }
    await Promise.all([1, 2, 3, 4].map(() => runSyncJob(message, fixture.deps)))
    const writes = fixture.server.requests().filter(({ method }) => method !== 'GET')
    assert.equal(writes.length, 2)
    await fixture.drain()
    const [ended] = await fixture.jobsOf(collectionId)
    assert.deepEqual([ended?.status, ended?.attempts, ended?.added], ['Succeeded', 1, 150])
  })

  it('run the jobs of one link one after another, each as soon as the one before has ended', async () => {
    const { collectionId } = await fixture.linked(users(0, 10))
    await requestSync(TENANT, collectionId, fixture.deps)
    const [second, first] = await fixture.jobsOf(collectionId)
    fixture.sentMessages.length = 0
    await Promise.all(
      [first, second].map((job) => runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, fixture.deps)),
    )
    const statuses = (await fixture.jobsOf(collectionId)).map(({ status }) => status).sort()
    assert.deepEqual(statuses, ['Queued', 'Succeeded'])
    // Without the message by which the second one would try again later.
    const due = fixture.sentMessages.filter(({ dueMs }) => dueMs <= fixture.clock.nowMs())
    fixture.sentMessages.splice(0, fixture.sentMessages.length, ...due)
    await fixture.drain()
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ status, attempts }) => [status, attempts]),
      [
        ['Succeeded', 1],
        ['Succeeded', 1],
      ],
    )
  })

  it('stop at their next step when the link is disabled, and report what was written', async () => {
    const { collectionId, linkId } = await fixture.linked(users(0, 350))
    let stepCount = 0
    const directory = {
      ...fixture.deps.directory,
      addMembers: async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        const outcome = await fixture.directory.addMembers(...args)
        stepCount += 1
        if (stepCount === 2) {
          await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
        }
        return outcome
      },
    }
    await fixture.drain({ ...fixture.deps, directory })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual(
      [job?.status, job?.attempts, job?.added, job?.error],
      ['Failed', 1, 200, 'The group link is disabled.'],
    )
    assert.equal((await fixture.link(linkId)).lease, null)
    const enabled = await updateLink(
      { tenantId: TENANT, linkId, ifMatch: undefined },
      { state: 'Enabled' },
      fixture.deps,
    )
    assert.equal(syncStateOf(enabled), 'Pending')
  })

  it('stop at their next step when the link is deleted, and keep the group as it is', async () => {
    const { collectionId, linkId, groupId } = await fixture.linked(users(0, 350))
    const directory = {
      ...fixture.deps.directory,
      addMembers: async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        const outcome = await fixture.directory.addMembers(...args)
        await deleteLink({ tenantId: TENANT, linkId, ifMatch: undefined }, fixture.deps)
        return outcome
      },
    }
    await fixture.drain({ ...fixture.deps, directory })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.added, job?.error], ['Failed', 100, 'The group link was deleted.'])
    assert.equal((await fixture.membersOf(groupId)).size, 100)
  })

  it('write nothing once another worker has acquired the lease', async () => {
    const { collectionId, linkId } = await fixture.linked(users(0, 350))
    const directory = {
      ...fixture.deps.directory,
      addMembers: async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        const outcome = await fixture.directory.addMembers(...args)
        const found = await fixture.deps.links.find(TENANT, linkId)
        if (found !== undefined) {
          const lease = {
            owner: 'another',
            expiresAtMs: fixture.clock.nowMs() + 1_000,
            token: found.value.lastToken + 1,
          }
          await fixture.deps.links.replace({ ...found.value, lease, lastToken: lease.token }, found.version)
        }
        return outcome
      },
    }
    await fixture.deliverNext({ ...fixture.deps, directory })
    assert.equal(fixture.server.requests().filter(({ method }) => method === 'POST').length, 1)
    const [job] = await fixture.jobsOf(collectionId)
    assert.equal(job?.status, 'Running')
    assert.equal((await fixture.link(linkId)).lease?.owner, 'another')
  })

  it('keep no lease for a job that another worker has changed before they begin', async () => {
    const { collectionId, linkId } = await fixture.linked(users(0, 5))
    const [job] = await fixture.jobsOf(collectionId)
    const replace = () => Promise.reject(new Refusal('StaleVersion'))
    const deps = { ...fixture.deps, jobs: { ...fixture.deps.jobs, replace } }
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, deps)
    assert.equal((await fixture.link(linkId)).lease, null)
  })

  it('remove no member while a member of the collection has no account', async () => {
    const { collectionId, groupId, linkId } = await fixture.linked(users(0, 5), users(3, 5))
    fixture.collections.change(collectionId, users(0, 6), 2)
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.added, job?.removed, job?.skipped], ['Succeeded', 3, 0, 2])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 8)))
    assert.equal((await fixture.link(linkId)).removalsDeferred, true)
  })

  it('fail the job at once when the collection was deleted', async () => {
    const { collectionId } = await fixture.linked(users(0, 5))
    fixture.collections.remove(collectionId)
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.error], ['Failed', 1, 'The collection no longer exists.'])
  })
})
