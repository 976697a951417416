import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { JobChangeDto } from '../../shared/domain/group-links/job-changes.ts'
import { listJobChanges } from '../../shared/domain/group-links/list-job-changes.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { codes, type LinkApi, openLinkApi, UNKNOWN_ID } from '../support/api/link-api.ts'
import { type AccountFixture, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'

describe('What a sync job has written', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi()
  })
  after(() => api.close())
  beforeEach(() => {
    api.sentMessages.length = 0
  })

  const changesOf = async (jobId: string, pageSize = 7) => {
    const all: JobChangeDto[] = []
    let cursor = ''
    do {
      const path = `/sync-jobs/${jobId}/changes?pageSize=${pageSize}${cursor && `&nextCursor=${cursor}`}`
      const { status, body } = await api.as('reader')('GET', path)
      assert.equal(status, 200)
      const page = body.data as JobChangeDto[]
      assert.ok(page.length <= pageSize)
      all.push(...page)
      cursor = (body as { nextCursor?: string }).nextCursor ?? ''
    } while (cursor !== '')
    return all
  }
  const accountsIn = (changes: readonly JobChangeDto[], change: JobChangeDto['change']) =>
    changes.filter((one) => one.change === change).map(({ directoryObjectId }) => directoryObjectId)

  it('is listed in pages of any size, the additions first', async () => {
    const { collectionId } = await api.linked(users(0, 130), users(200, 45))
    await api.drain()
    const [job] = await api.jobsOf(collectionId)
    for (const pageSize of [1, 44, 100, 2_000]) {
      const changes = await changesOf(job?.id ?? '', pageSize)
      assert.deepEqual(accountsIn(changes, 'Added').sort(), users(0, 130), String(pageSize))
      assert.deepEqual(accountsIn(changes, 'Removed').sort(), users(200, 45), String(pageSize))
      assert.ok(changes.slice(0, 130).every(({ change }) => change === 'Added'))
    }
  })

  it('is empty for a job that wrote nothing, and for one of a sweep that is not stored', async () => {
    const { collectionId } = await api.linked(users(0, 3))
    await api.drain()
    await requestSync(TENANT, collectionId, api.deps)
    await api.drain()
    const [job] = await api.jobsOf(collectionId)
    assert.deepEqual([job?.type, await changesOf(job?.id ?? '')], ['ManualSync', []])
    assert.deepEqual(codes(await api.call('GET', `/sync-jobs/${UNKNOWN_ID}/changes`)), [404, 'SyncJobNotFound'])
    assert.deepEqual(codes(await api.as('nobody')('GET', `/sync-jobs/${job?.id}/changes`)), [403, 'RoleRequired'])
  })

  it('agrees with the counts of the job, each change once, when workers crash after any of its saves', async () => {
    for (let crashAt = 1; crashAt <= 12; crashAt += 1) {
      for (const isSaved of [true, false]) {
        const { collectionId, groupId } = await api.linked(users(0, 250), users(300, 50))
        await crashing(crashAt, isSaved)
        await api.drain()
        const [job] = await api.jobsOf(collectionId)
        const changes = await changesOf(job?.id ?? '', 90)
        const [added, removed] = [accountsIn(changes, 'Added'), accountsIn(changes, 'Removed')]
        assert.deepEqual([added.length, removed.length], [job?.added, job?.removed], `crash at ${crashAt}`)
        assert.deepEqual(added.sort(), users(0, 250))
        assert.deepEqual(removed.sort(), users(300, 50))
        assert.deepEqual(await api.membersOf(groupId), new Set(users(0, 250)))
      }
    }
  })

  /** Delivers messages to a worker that ends at this save of a job, before or after it is stored. */
  async function crashing(crashAt: number, isSaved: boolean): Promise<void> {
    const { jobs } = api.deps
    let saveCount = 0
    const replace: typeof jobs.replace = async (...saved) => {
      saveCount += 1
      if (saveCount < crashAt) return jobs.replace(...saved)
      if (saveCount === crashAt && isSaved) await jobs.replace(...saved)
      throw new Error('The worker has crashed')
    }
    const links = { ...api.deps.links, replace: api.deps.links.replace }
    const worker: SyncDependencies = { ...api.deps, links, jobs: { ...jobs, replace } }
    const message = api.sentMessages[0]
    await api.drain(worker).catch(() => undefined)
    // The queue delivers the message again.
    if (message !== undefined && saveCount >= crashAt) api.sentMessages.push({ ...message, id: randomUUID(), dueMs: 0 })
  }
})

describe('A sync job of people', () => {
  let fixture: AccountFixture
  before(async () => {
    fixture = await openAccountFixture()
  })
  after(() => fixture.close())

  it('names who was added, who requested it, and the change that it writes late', async () => {
    const source = await fixture.newSource()
    const email = `${randomUUID()}@example.org`
    await fixture.write(source, identity('ada', { email, displayName: 'Ada', directoryObjectId: user(0) }))
    const collectionId = await fixture.criteria('Identity', 'identityEmail', email)
    await fixture.linkedGroup(collectionId)
    const { sync } = fixture.coldProcess()
    const [first] = (await sync.jobs.page(TENANT, { collectionId }, undefined, 10)).items
    const { items } = await listJobChanges(TENANT, first?.id ?? '', { after: undefined, size: 10 }, sync)
    assert.deepEqual(
      items.map(({ at: _at, ...change }) => change),
      [
        {
          change: 'Added',
          directoryObjectId: user(0),
          identityId: await fixture.coreIdOf(source, 'identity', 'ada'),
          displayName: 'Ada',
        },
      ],
    )
    // An account that the directory does not know is left to a job.
    await fixture.write(source, identity('eve', { email, displayName: 'Eve', directoryObjectId: randomUUID() }))
    await fixture.followed()
    const [late] = (await sync.jobs.page(TENANT, { collectionId }, undefined, 10)).items
    const { kind, actorId, collectionId: of } = late?.cause ?? {}
    assert.deepEqual([late?.type, kind, actorId, of], ['ScheduledSweep', 'ObjectChanged', 'system', collectionId])
    assert.equal(first?.cause, null)
  })
})
