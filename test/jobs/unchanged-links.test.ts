import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import { DirectoryFault } from '../../shared/domain/group-links/directory.ts'
import { readLinkDto, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { toSyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import { syncStateOf } from '../../shared/domain/group-links/sync-state.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { offsetOf } from '../../shared/kernel/schedule.ts'
import { toTimestamp } from '../../shared/kernel/timestamp.ts'
import { SERVICE_PRINCIPAL, TENANT, user, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture, setLinkSettings, syncedLink } from '../support/jobs/link-fixture.ts'

const HOUR_MS = 3_600_000

describe('The hourly sweep of an unchanged link', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ sharesClock: true, isGuarded: true })
  })
  after(() => fixture.close())

  /** Sleeps until the regular comparison of the tenant's links is due in eighty hours. */
  async function sleepUntilNotDue(): Promise<void> {
    const hoursAfter = (Math.floor(fixture.clock.nowMs() / HOUR_MS) - offsetOf(TENANT)) % 160
    await fixture.clock.sleep(((240 - hoursAfter) % 160) * HOUR_MS)
  }

  beforeEach(async () => {
    await sleepUntilNotDue()
    fixture.server.setFaults([])
    fixture.sentMessages.length = 0
    await setLinkSettings(fixture.deps, { linkableGroups: 'Any' })
    for (const { value, version } of await fixture.deps.links.ofTenant(TENANT)) {
      await fixture.deps.links.remove(value, version)
    }
  })

  async function sweepHourly(count = 1, deps: SyncDependencies = fixture.deps): Promise<void> {
    for (let hour = 0; hour < count; hour += 1) {
      await fixture.clock.sleep(HOUR_MS)
      await sweepTenant(TENANT, deps)
      await fixture.drain(deps)
    }
  }

  /** A link that the last sweep found unchanged. */
  async function unchangedLink(accounts: readonly string[] = users(0, 3)) {
    const linked = await syncedLink(fixture, accounts)
    await sweepHourly(3)
    assert.equal(await isSwept(linked.linkId), true)
    return linked
  }

  const isSwept = async (linkId: string) => (await fixture.link(linkId)).isSweptUnchanged

  async function storedJobIds(): Promise<ReadonlySet<string>> {
    const query = 'SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.linkId)'
    const { resources } = await fixture
      .container('jobs')
      .items.query<string>(query, { partitionKey: TENANT })
      .fetchAll()
    return new Set(resources)
  }

  /** Whether each job of the collection is stored, newest first. */
  async function storage(collectionId: string): Promise<string[]> {
    const stored = await storedJobIds()
    return (await fixture.jobsOf(collectionId)).map(({ id }) => (stored.has(id) ? 'stored' : 'swept'))
  }

  async function changeByHand(
    groupId: string,
    { add, remove }: { add?: readonly string[]; remove?: string },
  ): Promise<void> {
    const { server, asTester } = fixture
    const bound = { 'members@odata.bind': add?.map((account) => `${server.url}/v1.0/directoryObjects/${account}`) }
    const replies = [
      ...(add === undefined ? [] : [await asTester({ method: 'PATCH', path: `/groups/${groupId}`, body: bound })]),
      ...(remove === undefined
        ? []
        : [await asTester({ method: 'DELETE', path: `/groups/${groupId}/members/${remove}/$ref` })]),
    ]
    for (const { status } of replies) assert.equal(status, 204)
  }

  it('stores no job, and serves one that looks like a stored one', async () => {
    const { collectionId, linkId } = await unchangedLink()
    await fixture.clock.sleep(HOUR_MS)
    fixture.server.clearRequests()
    const startMs = fixture.clock.nowMs()
    await sweepTenant(TENANT, fixture.deps)
    const paths = fixture.server.requests().map(({ path }) => path.split('?')[0])
    assert.deepEqual(paths, ['/v1.0/groups/delta'])
    assert.deepEqual(
      fixture.sentMessages.map(({ message }) => message.queue),
      ['evaluations'],
    )
    const jobs = await fixture.jobsOf(collectionId)
    assert.deepEqual(await storage(collectionId), ['swept', 'swept', 'stored', 'stored', 'stored'])
    const [swept, , stored] = jobs
    assert.ok(swept !== undefined && stored !== undefined)
    const times = ({ createdAt, startedAt, completedAt }: typeof swept) => ({ createdAt, startedAt, completedAt })
    assert.deepEqual({ ...toSyncJobDto(stored), id: swept.id, ...times(swept) }, toSyncJobDto(swept))
    assert.ok(swept.createdAt >= toTimestamp(startMs) && (swept.completedAt ?? '') >= swept.createdAt)
    assert.deepEqual(await fixture.job(swept.id), swept)
    const link = await readLinkDto(await fixture.link(linkId), fixture.deps)
    assert.deepEqual([link.lastSyncedAt, link.lastSyncOutcome], [swept.completedAt, 'Succeeded'])
  })

  it('is compared again within the hour of a change by hand, and in the hour after', async () => {
    const { collectionId, groupId } = await unchangedLink()
    await changeByHand(groupId, { add: [user(9)], remove: user(1) })
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
    await sweepHourly(4)
    const stored = (await storage(collectionId)).slice(0, 5)
    assert.deepEqual(stored, ['swept', 'swept', 'stored', 'stored', 'stored'])
  })

  it('finds a change by hand that the comparison of that hour does not see yet', async () => {
    const { groupId } = await unchangedLink()
    await changeByHand(groupId, { remove: user(1) })
    fixture.server.setFaults([{ path: '/members$', staleMs: 2 * HOUR_MS, times: 1 }])
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set([user(0), user(2)]))
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
  })

  it('finds a change from before the groups were tracked that no read has shown yet', async () => {
    const { groupId } = await syncedLink(fixture, users(0, 3))
    await changeByHand(groupId, { remove: user(1) })
    fixture.server.setFaults([{ path: '/members$', staleMs: 2 * HOUR_MS, times: 1 }])
    await sweepHourly(2)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
  })

  it('finds a change that the directory tells late', async () => {
    const { groupId } = await unchangedLink()
    await changeByHand(groupId, { remove: user(1) })
    fixture.server.setFaults([{ path: '/delta$', staleMs: 2 * HOUR_MS, times: 1 }])
    await sweepHourly(2)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
  })

  for (const [claim, fault] of [
    ['refuses to tell changes', { path: '/delta$', status: 403 }],
    ['has reset its positions', { path: '/delta$', delta: 'reset', times: 1 }],
    ['does not answer', { path: '/delta$', drop: true }],
    ['repeats changes', { path: '/delta$', delta: 'replay', times: 1 }],
    ['returns empty pages', { path: '/delta$', delta: 'emptyPage', times: 2 }],
  ] as const satisfies [string, FaultDefinition][]) {
    it(`repairs a change by hand in the same hour when the directory ${claim}`, async () => {
      const { groupId, linkId } = await unchangedLink()
      await changeByHand(groupId, { remove: user(1) })
      fixture.server.setFaults([fault])
      await sweepHourly()
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
      fixture.server.setFaults([])
      await sweepHourly(4)
      assert.equal(await isSwept(linkId), true)
    })
  }

  it('is not compared for what the service itself has written, of users', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    const writeChanges = async (accounts: readonly string[], withoutAccountCount = 0) => {
      fixture.collections.change(collectionId, accounts, withoutAccountCount)
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
      await fixture.clock.sleep(HOUR_MS)
      await sweepTenant(TENANT, fixture.deps)
    }
    await writeChanges(users(1, 4))
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 4)))
    assert.deepEqual([await isSwept(linkId), (await storage(collectionId))[0]], [true, 'swept'])
    await writeChanges(users(1, 5), 1)
    assert.deepEqual([await isSwept(linkId), (await storage(collectionId))[0]], [true, 'swept'])
    assert.equal((await fixture.jobsOf(collectionId))[0]?.skipped, 1)
    fixture.collections.change(collectionId, users(1, 5), 0)
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await fixture.drain()
    await sweepHourly(4)
    assert.equal(await isSwept(linkId), true)
    const nested = await fixture.newGroup()
    await writeChanges([...users(1, 5), nested])
    assert.deepEqual([await isSwept(linkId), (await storage(collectionId))[0]], [false, 'stored'])
    await fixture.drain()
  })

  it('is not written for each addition that the directory has told, but for several', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    const counts: number[] = []
    for (let count = 4; count <= 14; count += 1) {
      fixture.collections.change(collectionId, users(0, count))
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
      await sweepHourly()
      assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [true, new Set(users(0, count))])
      counts.push((await fixture.link(linkId)).unseenAdditions.length)
    }
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0])
    await sweepHourly(2)
    assert.deepEqual([await isSwept(linkId), (await fixture.link(linkId)).unseenAdditions], [true, []])
  })

  it('waits for an addition that the directory tells an hour later, besides one that it has told', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    const add = async (count: number) => {
      fixture.collections.change(collectionId, users(0, count))
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    }
    await add(4)
    await sweepHourly()
    await add(5)
    fixture.server.setFaults([{ path: '/delta$', staleMs: 2 * HOUR_MS, times: 1 }])
    await fixture.clock.sleep(HOUR_MS)
    await sweepTenant(TENANT, fixture.deps)
    assert.equal(await isSwept(linkId), false)
    await fixture.drain()
    await sweepHourly(3)
    assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [true, new Set(users(0, 5))])
  })

  it('does not wait for a read to show an account that was added and removed again', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    fixture.server.setFaults([{ path: '/delta$', status: 403 }])
    for (const accounts of [users(0, 4), users(0, 3)]) {
      fixture.collections.change(collectionId, accounts)
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    }
    assert.deepEqual((await fixture.link(linkId)).unseenAdditions, [])
    await sweepHourly()
    fixture.server.setFaults([])
    await sweepHourly(3)
    assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [true, new Set(users(0, 3))])
  })

  it('is not compared with the accounts of its collection for additions of the service alone', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    fixture.collections.change(collectionId, users(0, 4))
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await fixture.clock.sleep(HOUR_MS)
    const { collections } = fixture.deps
    const findAccounts = () => Promise.reject(new Error('The accounts are read'))
    await sweepTenant(TENANT, { ...fixture.deps, collections: { ...collections, findAccounts } })
    assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [true, new Set(users(0, 4))])
  })

  it('finds an account that was added by hand after the service had added and removed it', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    for (const accounts of [users(0, 4), users(0, 3)]) {
      fixture.collections.change(collectionId, accounts)
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    }
    await changeByHand(groupId, { add: [user(3)] })
    await sweepHourly(2)
    assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [false, new Set(users(0, 3))])
  })

  it('finds an account that was added by hand after somebody else had removed the addition of the service', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    fixture.collections.change(collectionId, users(0, 4))
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await sweepHourly(2)
    await changeByHand(groupId, { remove: user(3) })
    fixture.collections.change(collectionId, users(0, 3))
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await sweepHourly(2)
    await changeByHand(groupId, { add: [user(3)] })
    await sweepHourly(2)
    assert.deepEqual([await isSwept(linkId), await fixture.membersOf(groupId)], [false, new Set(users(0, 3))])
  })

  it('finds a change by hand among those of the service', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    fixture.collections.change(collectionId, users(0, 4))
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await changeByHand(groupId, { remove: user(0) })
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 4)))
    assert.equal(await isSwept(linkId), false)
  })

  it('is compared when the message of a changed collection was lost', async () => {
    const { collectionId, groupId } = await unchangedLink()
    fixture.collections.change(collectionId, users(0, 4))
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 4)))
  })

  it('tells the members without an account, and defers their removals as before', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 3))
    fixture.collections.change(collectionId, users(0, 3), 2)
    await sweepHourly(4)
    assert.deepEqual([(await storage(collectionId))[0], (await fixture.jobsOf(collectionId))[0]?.skipped], ['swept', 2])
    await changeByHand(groupId, { add: [user(9)] })
    await sweepHourly(4)
    assert.deepEqual([await isSwept(linkId), (await storage(collectionId))[0]], [false, 'stored'])
  })

  it('keeps its last sync when it is disabled or needs a comparison again', async () => {
    const { groupId, linkId } = await unchangedLink()
    const sweptAt = (await readLinkDto(await fixture.link(linkId), fixture.deps)).lastSyncedAt
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
    await sweepHourly()
    assert.equal((await readLinkDto(await fixture.link(linkId), fixture.deps)).lastSyncedAt, sweptAt)
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Enabled' }, fixture.deps)
    await sweepHourly(3)
    assert.equal(await isSwept(linkId), true)
    await changeByHand(groupId, { remove: user(1) })
    const before = (await readLinkDto(await fixture.link(linkId), fixture.deps)).lastSyncedAt
    await fixture.clock.sleep(HOUR_MS)
    await sweepTenant(TENANT, fixture.deps)
    assert.equal((await readLinkDto(await fixture.link(linkId), fixture.deps)).lastSyncedAt, before)
    await fixture.drain()
  })

  it('finds accounts that changed while the link was disabled', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    const set = (state: 'Enabled' | 'Disabled') =>
      updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state }, fixture.deps)
    await set('Disabled')
    fixture.collections.exchange(collectionId, users(1, 3))
    await sweepHourly()
    await set('Enabled')
    assert.equal(syncStateOf(await fixture.link(linkId)), 'Pending')
    await sweepHourly()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 3)))
    assert.equal(syncStateOf(await fixture.link(linkId)), 'InSync')
  })

  it('is not compared because a link is enabled that was not disabled', async () => {
    const { collectionId, linkId } = await unchangedLink()
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Enabled' }, fixture.deps)
    await sweepHourly()
    assert.deepEqual([await isSwept(linkId), (await storage(collectionId))[0]], [true, 'swept'])
  })

  it('is not taken for swept by a crash before the sweep is recorded: its last sync would name no job', async () => {
    const { linkId } = await syncedLink(fixture, users(0, 3))
    const crashed = new Error('The process has crashed.')
    const beginSweep: typeof fixture.deps.jobs.beginSweep = async (tenantId) => {
      const begun = await fixture.deps.jobs.beginSweep(tenantId)
      const record: typeof begun.record = async (sweep) => {
        if (sweep.links.some((swept) => swept.linkId === linkId)) throw crashed
        return begun.record(sweep)
      }
      return { ...begun, record }
    }
    const deps = { ...fixture.deps, jobs: { ...fixture.deps.jobs, beginSweep } }
    await assert.rejects(sweepHourly(4, deps), crashed)
    assert.equal(await isSwept(linkId), false)
    await sweepHourly()
    assert.equal(await isSwept(linkId), true)
  })

  it('is compared while the removal guard holds removals', async () => {
    const { linkId, groupId } = await unchangedLink()
    await changeByHand(groupId, { add: users(100, 20) })
    await sweepHourly(4)
    const { heldRemovals } = await fixture.link(linkId)
    assert.deepEqual([heldRemovals?.count, await isSwept(linkId)], [20, false])
  })

  it('fails when the group was deleted, or must be owned and is not', async () => {
    const first = await unchangedLink()
    await setLinkSettings(fixture.deps, { linkableGroups: 'Owned' })
    await sweepHourly()
    const [refused] = await fixture.jobsOf(first.collectionId)
    assert.deepEqual([refused?.status, refused?.error?.includes(SERVICE_PRINCIPAL)], ['Failed', true])
    await setLinkSettings(fixture.deps, { linkableGroups: 'Any' })
    await sweepHourly(2)
    assert.equal(await isSwept(first.linkId), true)
    await fixture.asTester({ method: 'DELETE', path: `/groups/${first.groupId}` })
    await sweepHourly()
    assert.equal((await fixture.jobsOf(first.collectionId))[0]?.status, 'Failed')
    assert.equal((await fixture.link(first.linkId)).lastSyncOutcome, 'Failed')
  })

  it('is compared by a job when the directory does not say who owns its group', async () => {
    const { collectionId } = await unchangedLink()
    await setLinkSettings(fixture.deps, { linkableGroups: 'Owned' })
    const ownedGroups = () => Promise.reject(new DirectoryFault('unavailable', 'The directory is away'))
    await sweepHourly(1, { ...fixture.deps, directory: { ...fixture.deps.directory, ownedGroups } })
    assert.equal((await storage(collectionId))[0], 'stored')
  })

  const sweepAfterAWeek = (deps: SyncDependencies = fixture.deps) =>
    sweepHourly(1, { ...deps, nowMs: () => fixture.clock.nowMs() + 7 * 24 * HOUR_MS })

  /** A service to which the directory tells no changes. */
  function withoutChanges(): SyncDependencies {
    const { directory } = fixture.deps
    const readMemberChanges: typeof directory.readMemberChanges = async (...from) => {
      const page = await directory.readMemberChanges(...from)
      return page && { ...page, changes: [] }
    }
    return { ...fixture.deps, directory: { ...directory, readMemberChanges } }
  }

  it('is compared in full when it is due, without a job when the group agrees', async () => {
    const { collectionId, groupId, linkId } = await unchangedLink()
    const { comparedAtMs } = await fixture.link(linkId)
    fixture.server.clearRequests()
    await sweepAfterAWeek()
    const requests = fixture.server.requests().filter(({ path }) => path.startsWith('/v1.0/'))
    const [, compared] = requests
    assert.deepEqual(
      [requests.map(({ path }) => path.split('?')[0]), compared?.batch?.map(({ path }) => path.split('?')[0])],
      [
        ['/v1.0/groups/delta', '/v1.0/$batch'],
        [`/v1.0/groups/${groupId}`, `/v1.0/groups/${groupId}/members`],
      ],
    )
    const link = await fixture.link(linkId)
    assert.equal((await storage(collectionId))[0], 'swept')
    assert.ok((link.comparedAtMs ?? 0) > (comparedAtMs ?? 0))
    assert.equal(
      (await readLinkDto(link, fixture.deps)).lastSyncedAt,
      (await fixture.jobsOf(collectionId))[0]?.completedAt,
    )
  })
  for (const [claim, change] of [
    ['a member was removed', { remove: user(1) }],
    ['a member was added', { add: [user(9)] }],
    ['as many members were added as removed', { add: [user(9)], remove: user(1) }],
  ] as const) {
    it(`is compared by a job when ${claim} and the directory has not told it`, async () => {
      const { collectionId, groupId } = await unchangedLink()
      await changeByHand(groupId, change)
      const stored = (await storedJobIds()).size
      await sweepHourly(1, withoutChanges())
      assert.equal((await storedJobIds()).size, stored)
      await sweepAfterAWeek(withoutChanges())
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
      assert.equal((await storage(collectionId))[0], 'stored')
    })
  }

  it('is compared by a job when accounts of its members changed without a new version of the membership', async () => {
    const { collectionId, groupId } = await unchangedLink()
    fixture.collections.exchange(collectionId, users(1, 3))
    await sweepAfterAWeek()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 3)))
  })

  it('is compared by a job when its group was renamed', async () => {
    const { groupId, linkId } = await unchangedLink()
    await fixture.asTester({ method: 'PATCH', path: `/groups/${groupId}`, body: { displayName: 'Renamed' } })
    await sweepAfterAWeek(withoutChanges())
    assert.equal((await fixture.link(linkId)).directoryGroupDisplayName, 'Renamed')
  })
})
