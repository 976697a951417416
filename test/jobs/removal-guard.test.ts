import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { approveRemovals } from '../../shared/domain/group-links/approve-removals.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { DirectoryFault, type WriteOutcome } from '../../shared/domain/group-links/directory.ts'
import { changeLink } from '../../shared/domain/group-links/link-lease.ts'
import { deleteLink, requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import {
  type Linked,
  type LinkFixture,
  notifyOfMembershipChange,
  openFixture,
  setLinkSettings,
  syncedLink,
} from '../support/jobs/link-fixture.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const APPROVER = user(9)

describe('The removal guard', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ isGuarded: true })
  })
  after(() => fixture.close())
  beforeEach(async () => {
    fixture.sentMessages.length = 0
    await setLinkSettings(fixture.deps, { removalGuard: { enabled: true, percent: 20, minimum: 0 } })
  })

  const lastJob = async ({ collectionId }: Linked) => {
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.removed, job?.held]
  }
  const membersOf = async ({ groupId }: Linked) => (await fixture.membersOf(groupId)).size

  async function sync({ collectionId }: Linked): Promise<void> {
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
  }

  async function changed({ collectionId }: Linked, accounts: readonly string[]): Promise<void> {
    fixture.collections.change(collectionId, accounts)
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
  }

  async function approve({ linkId }: Linked): Promise<void> {
    const planId = (await fixture.link(linkId)).heldRemovals?.planId ?? ''
    await approveRemovals({ tenantId: TENANT, linkId, planId, approvedBy: APPROVER, notes: null }, fixture.deps)
    await fixture.drain()
  }

  const HELD = { reason: 'TooMany', count: 5, limit: 2, removedInWindow: 0, groupSize: 10 }

  async function assertHeld(linked: Linked, expected: object = HELD): Promise<void> {
    const { heldRemovals } = await fixture.link(linked.linkId)
    const { planId, createdAt, storedAtMs, reason, count, limit, removedInWindow, groupSize } = heldRemovals ?? {}
    assert.deepEqual({ reason, count, limit, removedInWindow, groupSize }, expected)
    assert.ok(planId !== undefined && createdAt !== undefined && storedAtMs !== undefined)
  }

  describe('keeps 10 members of whom a condition would remove 5', () => {
    it('from a job', async () => {
      const linked = await syncedLink(fixture, users(0, 10))
      fixture.collections.exchange(linked.collectionId, users(0, 5))
      await sync(linked)
      assert.deepEqual(await lastJob(linked), ['Succeeded', 0, 5])
      assert.equal(await membersOf(linked), 10)
      await assertHeld(linked)
    })

    it('from a job that runs in batches', async () => {
      const linked = await syncedLink(fixture, users(0, 10))
      fixture.collections.exchange(linked.collectionId, [...users(0, 5), ...users(20, 250)])
      await requestSync(TENANT, linked.collectionId, fixture.deps)
      await fixture.drain({ ...fixture.deps, batchMs: 0 })
      const [job] = await fixture.jobsOf(linked.collectionId)
      assert.ok((job?.batchCount ?? 0) > 1)
      assert.equal(await membersOf(linked), 260)
      assert.deepEqual(await lastJob(linked), ['Succeeded', 0, 5])
    })

    it('from an incremental sync, and shows them on the link', async () => {
      const linked = await syncedLink(fixture, users(0, 10))
      await changed(linked, [...users(0, 5), user(20)])
      assert.equal(await membersOf(linked), 11)
      await assertHeld(linked, { ...HELD, groupSize: 11 })
    })

    it('from retries of a job', async () => {
      const linked = await syncedLink(fixture, users(0, 10))
      fixture.collections.exchange(linked.collectionId, users(0, 5))
      fixture.server.setFaults([{ method: 'GET', path: 'members', status: 500, times: 5 }])
      await sync(linked)
      const [job] = await fixture.jobsOf(linked.collectionId)
      assert.deepEqual([job?.attempts, job?.held], [2, 5])
      assert.equal(await membersOf(linked), 10)
      await assertHeld(linked)
    })

    it('from the first job of a link', async () => {
      const linked = await syncedLink(fixture, users(0, 5), users(0, 10))
      assert.deepEqual(await lastJob(linked), ['Succeeded', 0, 5])
      assert.equal(await membersOf(linked), 10)
      await assertHeld(linked)
    })

    it('from the sweep', async () => {
      const linked = await syncedLink(fixture, users(0, 10))
      fixture.collections.exchange(linked.collectionId, users(0, 5))
      await sweepTenant(TENANT, fixture.deps)
      await fixture.drain()
      assert.equal(await membersOf(linked), 10)
      await assertHeld(linked)
    })
  })

  it('holds the removals of 1,000 changes of one member each at the limit', async () => {
    const linked = await syncedLink(fixture, users(0, 1_000))
    let leftCount = 1_000
    // Each change is one message. The first one beyond the limit leaves a job behind.
    for (; leftCount > 0; leftCount -= 1) {
      fixture.collections.change(linked.collectionId, users(0, leftCount - 1))
      if (leftCount % 40 === 0) await fixture.clock.sleep(60_000)
      await notifyOfMembershipChange(fixture, linked.collectionId)
      await fixture.drain()
      if ((await fixture.link(linked.linkId)).heldRemovals !== null) break
    }
    assert.equal(leftCount, 800)
    fixture.collections.change(linked.collectionId, [])
    await notifyOfMembershipChange(fixture, linked.collectionId)
    await fixture.drain()
    await sweepTenant(TENANT, fixture.deps)
    await fixture.drain()
    assert.equal(await membersOf(linked), 800)
    await assertHeld(linked, { ...HELD, count: 800, limit: 200, removedInWindow: 200, groupSize: 1_000 })
  })

  it('removes what is due and within the limit, also the last account', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    await changed(linked, users(0, 8))
    assert.equal(await membersOf(linked), 8)
    await changed(linked, users(0, 7))
    assert.equal(await membersOf(linked), 8)
    await assertHeld(linked, { ...HELD, count: 1, removedInWindow: 2 })
  })

  it('counts removals for 24 hours from when they were sent', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    await changed(linked, users(0, 8))
    await changed(linked, users(0, 7))
    await fixture.clock.sleep(DAY_MS - 60_000)
    await sync(linked)
    assert.equal(await membersOf(linked), 8)
    await fixture.clock.sleep(2 * 60_000)
    await sync(linked)
    assert.equal(await membersOf(linked), 7)
    assert.equal((await fixture.link(linked.linkId)).heldRemovals, null)
  })

  it('goes on counting when the link is deleted and another collection is linked to the group', async () => {
    let linked = await syncedLink(fixture, users(0, 100))
    await changed(linked, users(0, 80))
    assert.equal(await membersOf(linked), 80)
    for (const leftCount of [70, 50, 0]) {
      await deleteLink({ tenantId: TENANT, linkId: linked.linkId, ifMatch: undefined }, fixture.deps)
      const collectionId = fixture.collections.make(users(0, leftCount))
      const linkId = await createLink(TENANT, { collectionId, directoryGroupId: linked.groupId }, fixture.deps)
      linked = { ...linked, collectionId, linkId }
      await fixture.drain()
      assert.equal(await membersOf(linked), 80)
      const heldCount = 80 - leftCount
      const figures = { count: heldCount, limit: 20, removedInWindow: 20, groupSize: 100 }
      await assertHeld(linked, { reason: leftCount === 0 ? 'EmptyCollection' : 'TooMany', ...figures })
    }
  })

  it('lets additions go on', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    await changed(linked, users(3, 10))
    assert.equal(await membersOf(linked), 13)
    // Of the larger group, the three that were held may be removed.
    await changed(linked, users(3, 12))
    assert.deepEqual(await fixture.membersOf(linked.groupId), new Set(users(3, 12)))
  })

  it('removes exactly the approved accounts that are still due', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    await changed(linked, users(0, 5))
    fixture.collections.change(linked.collectionId, [...users(1, 4), user(9)])
    await approve(linked)
    assert.deepEqual(await fixture.membersOf(linked.groupId), new Set([...users(0, 5), user(9)]))
    const [job] = await fixture.jobsOf(linked.collectionId)
    assert.deepEqual([job?.type, job?.removed, job?.held, job?.approvedBy], ['ManualSync', 4, 1, APPROVER])
    await assertHeld(linked, { ...HELD, count: 1 })
  })

  it('removes the approved accounts after the worker crashed and the directory failed', async () => {
    const linked = await syncedLink(fixture, users(0, 50))
    await changed(linked, users(0, 5))
    fixture.server.setFaults([{ method: 'DELETE', status: 503, applyFirst: true, times: 60 }])
    await approve(linked)
    assert.equal(await membersOf(linked), 5)
    assert.deepEqual((await lastJob(linked)).slice(0, 2), ['Succeeded', 45])
  })

  it('counts a removal once that is retried, and gives one back that the directory refused', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    fixture.server.setFaults([{ method: 'DELETE', status: 403, times: 2 }])
    await changed(linked, users(0, 8))
    assert.equal(await membersOf(linked), 8)
    fixture.server.setFaults([{ method: 'DELETE', status: 503, applyFirst: true, times: 8 }])
    await changed(linked, users(0, 7))
    fixture.server.setFaults([])
    await assertHeld(linked, { ...HELD, count: 1, removedInWindow: 2 })
  })

  it('does not count an account that is no member any more', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    for (const gone of users(5, 5)) {
      await fixture.asTester({ method: 'DELETE', path: `/groups/${linked.groupId}/members/${gone}/$ref` })
    }
    await changed(linked, users(0, 9))
    await changed(linked, users(0, 8))
    await changed(linked, users(0, 7))
    assert.equal((await fixture.link(linked.linkId)).heldRemovals, null)
    assert.deepEqual((await fixture.link(linked.linkId)).removalWindow, { entries: [], open: null })
  })

  for (const [claim, stop] of [
    ['stopped because the link was disabled', disable],
    ['yielded to another change', yieldToChange],
    ['failed', fail],
  ] as const) {
    it(`does not count removals that a job never sent which has ${claim}`, async () => {
      await setLinkSettings(fixture.deps, { removalGuard: { percent: 60 } })
      const linked = await syncedLink(fixture, users(100, 200))
      fixture.collections.change(linked.collectionId, users(100, 100))
      const { jobId } = await requestSync(TENANT, linked.collectionId, fixture.deps)
      const { directory } = fixture.deps
      const removeMembers: typeof directory.removeMembers = async (...args) => {
        const outcome = await directory.removeMembers(...args)
        return { ...outcome, ...(await stop(linked)) }
      }
      await runSyncJob({ tenantId: TENANT, jobId }, { ...fixture.deps, directory: { ...directory, removeMembers } })
      const { entries, open } = (await fixture.link(linked.linkId)).removalWindow
      assert.deepEqual([entries.map(({ count }) => count), open], [[20], null])
      await setState(linked, 'Enabled')
      await changed(linked, users(100, 200))
      assert.equal(await membersOf(linked), 200)
      await changed(linked, users(100, 99))
      await assertHeld(linked, { reason: 'TooMany', count: 101, limit: 120, removedInWindow: 20, groupSize: 200 })
    })
  }

  const setState = ({ linkId }: Linked, state: 'Enabled' | 'Disabled') =>
    updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state }, fixture.deps)

  async function disable(linked: Linked): Promise<Partial<WriteOutcome>> {
    await setState(linked, 'Disabled')
    return {}
  }

  async function fail(): Promise<Partial<WriteOutcome>> {
    return { fault: new DirectoryFault('unavailable', 'No response.') }
  }

  async function yieldToChange({ linkId }: Linked): Promise<Partial<WriteOutcome>> {
    await fixture.clock.sleep(15_000)
    await changeLink(TENANT, linkId, (link) => ({ ...link, changesPending: true }), fixture.deps)
    return {}
  }

  it('counts removals that a crashed worker may have sent', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    fixture.collections.exchange(linked.collectionId, users(0, 8))
    await requestSync(TENANT, linked.collectionId, fixture.deps)
    const [job] = await fixture.jobsOf(linked.collectionId)
    const message = { tenantId: TENANT, jobId: job?.id ?? '' }
    // The worker stops for good right after the directory has removed the accounts.
    const { directory } = fixture.deps
    let hasRemoved = () => {}
    const removed = new Promise<void>((resolve) => {
      hasRemoved = resolve
    })
    const crashing = {
      ...directory,
      removeMembers: async (...args: Parameters<typeof directory.removeMembers>) => {
        await directory.removeMembers(...args)
        hasRemoved()
        return new Promise<never>(() => undefined)
      },
    }
    void runSyncJob(message, { ...fixture.deps, directory: crashing })
    await removed
    await fixture.clock.sleep(10 * 60_000)
    fixture.collections.exchange(linked.collectionId, users(0, 7))
    await fixture.drain()
    await runSyncJob(message, fixture.deps)
    await fixture.drain()
    assert.equal(await membersOf(linked), 8)
    await assertHeld(linked, { ...HELD, count: 1, removedInWindow: 2 })
  })

  it('holds everything for an empty collection, on every run until the link has added somebody', async () => {
    await setLinkSettings(fixture.deps, { removalGuard: { minimum: 100 } })
    const linked = await syncedLink(fixture, [], users(0, 10))
    const expected = { ...HELD, reason: 'EmptyCollection', count: 10, limit: 100 }
    await assertHeld(linked, expected)
    await sweepTenant(TENANT, fixture.deps)
    await fixture.drain()
    assert.equal(await membersOf(linked), 10)
    await assertHeld(linked, expected)
    await changed(linked, [user(20)])
    assert.deepEqual(await fixture.membersOf(linked.groupId), new Set([user(20)]))
  })

  it('is lifted for the next run when it is turned off', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    await changed(linked, users(0, 5))
    await setLinkSettings(fixture.deps, { removalGuard: { enabled: false } })
    await sync(linked)
    assert.equal(await membersOf(linked), 5)
    assert.equal((await fixture.link(linked.linkId)).heldRemovals, null)
  })

  it('derives the id of a plan from its accounts', async () => {
    const linked = await syncedLink(fixture, users(0, 10))
    const planOf = async () => (await fixture.link(linked.linkId)).heldRemovals
    await changed(linked, users(0, 5))
    const first = await planOf()
    await sync(linked)
    assert.deepEqual(await planOf(), first)
    await changed(linked, users(0, 4))
    const second = await planOf()
    assert.notEqual(second?.planId, first?.planId)
    await changed(linked, users(0, 5))
    await sync(linked)
    assert.equal((await planOf())?.planId, first?.planId)
  })
})
