import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import { newJob, type SyncJob } from '../../shared/domain/group-links/sync-job.ts'
import { minuteOfTenant } from '../../shared/domain/group-links/tenant-store.ts'
import { FIRST_SET_ID } from '../../shared/domain/sync/tracked-groups.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

const [TENANT, OTHER_TENANT] = [randomUUID(), randomUUID()]
const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

describe('The stores of group links on Cosmos DB', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture()
  })
  after(() => fixture.close())

  const linkWith = (changes: Partial<GroupLink> = {}, createdMs = NOW_MS): GroupLink => ({
    ...newLink(
      {
        id: randomUUID(),
        tenantId: TENANT,
        collectionId: randomUUID(),
        directoryGroupId: randomUUID(),
        directoryGroupDisplayName: 'A group',
      },
      createdMs,
    ),
    ...changes,
  })

  it('return a link as it was stored, with a version', async () => {
    const { links } = fixture.deps
    const link = linkWith()
    const added = await links.add(link)
    assert.deepEqual(added.value, link)
    assert.deepEqual(await links.find(TENANT, link.id), added)
    assert.deepEqual((await links.ofGroup(TENANT, link.directoryGroupId))?.value, link)
    assert.equal(await links.find(OTHER_TENANT, link.id), undefined)
    assert.equal(await links.ofGroup(OTHER_TENANT, link.directoryGroupId), undefined)
  })

  it('accept one of two concurrent links of a group, and the same group in another tenant', async () => {
    const { links } = fixture.deps
    const directoryGroupId = randomUUID()
    const tries = [linkWith({ directoryGroupId }), linkWith({ directoryGroupId })].map((link) => links.add(link))
    const [won, lost] = (await Promise.allSettled(tries)).toSorted((one) => (one.status === 'fulfilled' ? -1 : 1))
    assert.equal(won?.status, 'fulfilled')
    assert.equal(lost?.status === 'rejected' && lost.reason.code, 'GroupAlreadyLinked')
    await links.add(linkWith({ directoryGroupId, tenantId: OTHER_TENANT }))
  })

  it('refuse to replace or remove a link that was changed or deleted', async () => {
    const { links } = fixture.deps
    const { value, version } = await links.add(linkWith())
    const next = await links.replace({ ...value, revision: 2 }, version)
    await assert.rejects(links.replace(value, version), { code: 'StaleVersion' })
    await assert.rejects(links.remove(value, version), { code: 'StaleVersion' })
    await links.remove(value, next.version)
    await assert.rejects(links.remove(value, next.version), { code: 'LinkNotFound' })
    await assert.rejects(links.replace(value, next.version), { code: 'LinkNotFound' })
  })

  it('leave the counted removals, recent writes and lease of a link to the next links of its group', async () => {
    const { links } = fixture.deps
    const left = {
      removalWindow: { entries: [{ atMs: NOW_MS, count: 3, groupSize: 20 }], open: { groupSize: 20, accounts: ['a'] } },
      recentWrites: [{ account: 'a', kind: 'removed' as const, atMs: NOW_MS }],
      lease: { owner: 'a worker', expiresAtMs: NOW_MS + 60_000, token: 7 },
      lastToken: 7,
    }
    const first = await links.add(linkWith())
    const { directoryGroupId } = first.value
    const { version } = await links.replace({ ...first.value, ...left }, first.version)
    await links.remove({ ...first.value, ...left }, version)
    for (const link of [linkWith({ directoryGroupId }), linkWith({ directoryGroupId })]) {
      const next = await links.add(link)
      assert.deepEqual(next.value, { ...link, ...left })
      assert.deepEqual(await links.find(TENANT, link.id), next)
      await links.remove(next.value, next.version)
    }
    const otherTenant = linkWith({ directoryGroupId, tenantId: OTHER_TENANT })
    assert.deepEqual((await links.add(otherTenant)).value, otherTenant)
  })

  it('lose no counted removals when links of a group are created and deleted concurrently', async () => {
    const { links } = fixture.deps
    const directoryGroupId = randomUUID()
    const turn = async (index: number): Promise<void> => {
      const added = await links.add(linkWith({ directoryGroupId })).catch(() => undefined)
      if (added === undefined) return turn(index)
      const entries = [...added.value.removalWindow.entries, { atMs: NOW_MS + index, count: 1, groupSize: 20 }]
      const link = { ...added.value, removalWindow: { entries, open: null } }
      await links.remove(link, (await links.replace(link, added.version)).version)
    }
    await Promise.all(Array.from({ length: 8 }, (_, index) => turn(index)))
    const { removalWindow } = (await links.add(linkWith({ directoryGroupId }))).value
    assert.equal(removalWindow.entries.length, 8)
  })

  it('list the links of a collection oldest first', async () => {
    const { links } = fixture.deps
    const collectionId = randomUUID()
    const [second, third, first] = [2, 3, 1].map((age) => linkWith({ collectionId }, NOW_MS + age))
    for (const link of [second, third, first]) if (link !== undefined) await links.add(link)
    const listed = await links.ofCollection(TENANT, collectionId)
    assert.deepEqual(
      listed.map(({ value }) => value.id),
      [first?.id, second?.id, third?.id],
    )
  })

  it('list jobs newest first up to a limit, and the unfinished ones oldest first', async () => {
    const { jobs } = fixture.deps
    const link = linkWith()
    const made = [0, 1, 2, 3].map(
      (age): SyncJob => newJob({ id: randomUUID(), type: 'ManualSync' }, link, NOW_MS + age),
    )
    for (const job of made) await jobs.add(job)
    for (const [job, status] of [
      [made[0], 'Succeeded'],
      [made[1], 'Running'],
    ] as const) {
      const found = await jobs.find(TENANT, job?.id ?? '')
      assert.deepEqual(found?.value, job)
      await jobs.replace({ ...(job as SyncJob), status }, found?.version ?? '')
    }
    assert.deepEqual(
      (await jobs.page(TENANT, { collectionId: link.collectionId }, undefined, 3)).items.map(({ id }) => id),
      made
        .slice(1)
        .reverse()
        .map(({ id }) => id),
    )
    assert.deepEqual(
      (await jobs.unfinishedOf(TENANT, link.id)).map(({ value }) => value.id),
      made.slice(1).map(({ id }) => id),
    )
    assert.equal((await jobs.unfinished(TENANT)).length, 3)
    const elsewhere = await jobs.page(OTHER_TENANT, { collectionId: link.collectionId }, undefined, 3)
    assert.deepEqual(elsewhere, { items: [] })
  })

  it('keep an existing job on a second add, and refuse a stale replace', async () => {
    const { jobs } = fixture.deps
    const job = newJob({ id: randomUUID(), type: 'ScheduledSweep' }, linkWith(), NOW_MS)
    await jobs.add(job)
    await jobs.add({ ...job, status: 'Failed' })
    const found = await jobs.find(TENANT, job.id)
    assert.equal(found?.value.status, 'Queued')
    await jobs.replace({ ...job, status: 'Running' }, found?.version ?? '')
    await assert.rejects(jobs.replace(job, found?.version ?? ''), { code: 'StaleVersion' })
  })

  it('reject stored documents that do not match their schema', async () => {
    const { links, jobs } = fixture.deps
    const link = linkWith()
    const job = newJob({ id: randomUUID(), type: 'ManualSync' }, link, NOW_MS)
    await fixture.container('links').items.create({ ...link, lease: 'free' })
    await fixture.container('jobs').items.create({ ...job, journal: undefined })
    await assert.rejects(
      links.find(TENANT, link.id),
      /^Error: Stored document .* is not a valid group link: \/lease must be/,
    )
    await assert.rejects(
      jobs.find(TENANT, job.id),
      /^Error: Stored document .* is not a valid sync job: .* property 'journal'/,
    )
  })

  it('list every tenant once, and by its minute', async () => {
    const { tenants } = fixture.deps
    for (const tenantId of ['one', 'two', 'one']) await tenants.register(tenantId)
    const listed = async (minute: number | undefined) => {
      const all: string[] = []
      for await (const page of tenants.list(minute)) all.push(...page.map(({ tenantId }) => tenantId))
      return all.sort()
    }
    assert.deepEqual(await listed(undefined), ['one', 'two'])
    assert.notEqual(minuteOfTenant('one'), minuteOfTenant('two'))
    assert.deepEqual(await listed(minuteOfTenant('two')), ['two'])
  })

  it('return when a tenant was last swept', async () => {
    const { jobs, tenants } = fixture.deps
    const tenantId = randomUUID()
    await tenants.register(tenantId)
    assert.equal(await tenants.lastSweepMs(tenantId), undefined)
    const begun = await jobs.beginSweep(tenantId)
    await begun.record({ tenantId, startMs: NOW_MS - 1_000, endMs: NOW_MS, links: [] })
    assert.equal(await tenants.lastSweepMs(tenantId), NOW_MS)
    assert.equal(await tenants.lastSweepMs(OTHER_TENANT), undefined)
  })

  it('return sets of tracked groups as they were saved, and refuse a stale save or removal', async () => {
    const { trackedGroups } = fixture.deps
    const groups = [
      { groupId: randomUUID(), changedAtMs: NOW_MS, seenAdditions: [] },
      { groupId: randomUUID(), changedAtMs: NOW_MS + 1, seenAdditions: [randomUUID(), randomUUID()] },
    ]
    const tracked = { id: randomUUID(), groups, continueAfter: null, isTracking: false, savedAtMs: NOW_MS }
    const tenantId = randomUUID()
    await trackedGroups.save(tenantId, tracked, undefined)
    await assert.rejects(trackedGroups.save(tenantId, tracked, undefined), { code: 'StaleVersion' })
    const [first] = await trackedGroups.ofTenant(tenantId, 51)
    assert.deepEqual(first?.value, tracked)
    const continued = { ...tracked, continueAfter: '/groups/delta?$deltatoken=x', isTracking: true }
    await trackedGroups.save(tenantId, continued, first?.version)
    await assert.rejects(trackedGroups.save(tenantId, tracked, first?.version), { code: 'StaleVersion' })
    await assert.rejects(trackedGroups.remove(tenantId, tracked.id, first?.version ?? ''), { code: 'StaleVersion' })
    const [second] = await trackedGroups.ofTenant(tenantId, 51)
    assert.deepEqual(second?.value, continued)
    assert.deepEqual(await trackedGroups.ofTenant(OTHER_TENANT, 51), [])
    assert.deepEqual(await trackedGroups.ofTenant(tenantId, 50), [])
    await trackedGroups.save(tenantId, { ...tracked, id: FIRST_SET_ID }, undefined)
    const onlyFirst = await trackedGroups.ofTenant(tenantId, 50)
    assert.deepEqual(onlyFirst, (await trackedGroups.ofTenant(tenantId, 51)).slice(1))
    await trackedGroups.remove(tenantId, FIRST_SET_ID, onlyFirst[0]?.version ?? '')
    await trackedGroups.remove(tenantId, tracked.id, second?.version ?? '')
    assert.deepEqual(await trackedGroups.ofTenant(tenantId, 51), [])
  })
})
