import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeLink } from '../../shared/domain/group-links/link-lease.ts'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { syncStateOf } from '../../shared/domain/group-links/sync-state.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('An incremental sync with concurrent workers', () => {
  it('during the first sync of a link is skipped, and its changes are written right after that sync', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 5))
    const directory = {
      ...fixture.deps.directory,
      listMembers: async (...args: Parameters<typeof fixture.directory.listMembers>) => {
        fixture.collections.change(collectionId, users(0, 6))
        await notifyOfMembershipChange(fixture, collectionId)
        await fixture.deliverNext()
        return fixture.directory.listMembers(...args)
      },
    }
    await fixture.deliverNext({ ...fixture.deps, directory })
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 6)))
    assert.equal((await fixture.jobsOf(collectionId)).length, 1)
  })

  for (const [claim, hasWritten] of [
    ['before its write', false],
    ['before it has recorded its write', true],
  ] as const) {
    it(`whose worker crashes ${claim} is repeated by another worker after the lease has expired`, async () => {
      const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 5))
      fixture.collections.change(collectionId, users(1, 5))
      const death = Promise.withResolvers<void>()
      const addMembers = async (...args: Parameters<typeof fixture.directory.addMembers>) => {
        if (hasWritten) await fixture.directory.addMembers(...args)
        death.resolve()
        return new Promise<never>(() => undefined)
      }
      const dying = { ...fixture.deps, directory: { ...fixture.deps.directory, addMembers } }
      await Promise.race([syncIncrementally({ tenantId: TENANT, collectionId }, dying), death.promise])
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 5)))
      const { lease, appliedMembershipVersion } = await fixture.link(linkId)
      assert.deepEqual([lease, appliedMembershipVersion], [null, 2])
      assert.equal((await fixture.jobsOf(collectionId)).length, 1)
    })
  }

  it('whose worker crashes between storing a job and enqueuing it enqueues it when its message is delivered again', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
    fixture.collections.change(collectionId, users(1, 600))
    const death = Promise.withResolvers<void>()
    const enqueue = () => {
      death.resolve()
      return new Promise<never>(() => undefined)
    }
    const dying = { ...fixture.deps, messageQueue: { enqueue } }
    await Promise.race([syncIncrementally({ tenantId: TENANT, collectionId }, dying), death.promise])
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ status }) => status),
      ['Queued', 'Succeeded'],
    )
    await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 600)
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ status }) => status),
      ['Succeeded', 'Succeeded'],
    )
  })

  it('stops when its lease has expired, and does not revert what other workers have written since', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 50))
    fixture.collections.change(collectionId, users(0, 10))
    let isFirst = true
    const removeMembers = async (...args: Parameters<typeof fixture.directory.removeMembers>) => {
      const outcome = await fixture.directory.removeMembers(...args)
      if (!isFirst) return outcome
      isFirst = false
      await fixture.clock.sleep(fixture.deps.leaseMs + fixture.deps.clockDifferenceMs)
      fixture.collections.change(collectionId, users(0, 50))
      await syncIncrementally({ tenantId: TENANT, collectionId }, fixture.deps)
      await requestSync(TENANT, collectionId, fixture.deps)
      await fixture.drain()
      return outcome
    }
    const slow = { ...fixture.deps, directory: { ...fixture.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, slow)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 50)))
    assert.equal((await fixture.link(linkId)).appliedMembershipVersion, 3)
  })

  it('that cannot be recorded because of repeated conflicts is recorded by a retry', async () => {
    const { collectionId, linkId } = await syncedLink(fixture, users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    let hasLease = false
    const replace = async (...args: Parameters<typeof fixture.deps.links.replace>) => {
      if (hasLease) throw new Refusal('StaleVersion')
      hasLease = true
      return fixture.deps.links.replace(...args)
    }
    const crowded = { ...fixture.deps, links: { ...fixture.deps.links, replace } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, crowded)
    await fixture.drain()
    const { lease, appliedMembershipVersion } = await fixture.link(linkId)
    assert.deepEqual([lease, appliedMembershipVersion], [null, 2])
  })

  it('renews its lease while it writes', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 100))
    fixture.collections.change(collectionId, users(0, 10))
    const removeMembers = async (...args: Parameters<typeof fixture.directory.removeMembers>) => {
      await fixture.clock.sleep(fixture.deps.leaseMs / 2)
      return fixture.directory.removeMembers(...args)
    }
    const slow = { ...fixture.deps, directory: { ...fixture.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, slow)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 10)))
    assert.deepEqual([(await fixture.link(linkId)).lease, fixture.sentMessages], [null, []])
  })

  it('stops at its next step when the link is disabled, and queues no job', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 50))
    fixture.collections.change(collectionId, users(0, 10))
    const removeMembers = async (...args: Parameters<typeof fixture.directory.removeMembers>) => {
      await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
      return fixture.directory.removeMembers(...args)
    }
    const watched = { ...fixture.deps, directory: { ...fixture.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, watched)
    assert.equal((await fixture.membersOf(groupId)).size, 30)
    assert.deepEqual([(await fixture.link(linkId)).lease, (await fixture.jobsOf(collectionId)).length], [null, 1])
  })

  it('waits while a job holds the lease, and is not lost', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 5))
    await requestSync(TENANT, collectionId, fixture.deps)
    const [job] = await fixture.jobsOf(collectionId)
    let hasWaited = false
    const directory = {
      ...fixture.deps.directory,
      listMembers: async (...args: Parameters<typeof fixture.directory.listMembers>) => {
        fixture.collections.change(collectionId, users(0, 6))
        await notifyOfMembershipChange(fixture, collectionId)
        fixture.sentMessages.splice(
          0,
          fixture.sentMessages.length,
          ...fixture.sentMessages.filter(({ message }) => message.queue !== 'sync-jobs'),
        )
        await fixture.deliverNext()
        hasWaited = (await fixture.membersOf(groupId)).size === 5
        return fixture.directory.listMembers(...args)
      },
    }
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, { ...fixture.deps, directory })
    assert.ok(hasWaited)
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 6)
    assert.equal((await fixture.link(linkId)).appliedMembershipVersion, 2)
  })

  describe('that has waited for a job', () => {
    const pending = async (linkId: string) => {
      const link = await fixture.link(linkId)
      return [link.changesPending, syncStateOf(link)]
    }

    /** Runs a job that has read the change whose message is delivered while the job adds members. */
    async function waitingForJob() {
      const linked = await syncedLink(fixture, users(0, 5))
      fixture.collections.change(linked.collectionId, users(0, 7))
      const { jobId } = await requestSync(TENANT, linked.collectionId, fixture.deps)
      fixture.sentMessages.length = 0
      const { directory } = fixture.deps
      const addMembers: typeof directory.addMembers = async (...args) => {
        await syncIncrementally({ tenantId: TENANT, collectionId: linked.collectionId }, fixture.deps)
        return directory.addMembers(...args)
      }
      await runSyncJob({ tenantId: TENANT, jobId }, { ...fixture.deps, directory: { ...directory, addMembers } })
      assert.deepEqual(await pending(linked.linkId), [true, 'Pending'])
      return linked
    }

    it('finds nothing to do when the job has written the change: nothing is pending any more', async () => {
      const { linkId } = await waitingForJob()
      await fixture.drain()
      assert.deepEqual(await pending(linkId), [false, 'InSync'])
    })

    it('looks again when another worker changes the link in the meantime', async () => {
      const { linkId } = await waitingForJob()
      const { links } = fixture.deps
      let readCount = 0
      const conflicting: typeof links = {
        ...links,
        async ofCollection(...args) {
          const found = await links.ofCollection(...args)
          readCount += 1
          if (readCount === 1) await changeLink(TENANT, linkId, (link) => ({ ...link, isBehind: false }), { links })
          return found
        },
      }
      await fixture.drain({ ...fixture.deps, links: conflicting })
      assert.deepEqual([readCount, await pending(linkId)], [2, [false, 'InSync']])
    })

    it('is not pending after the next job when its message was lost: a sweep queues one', async () => {
      const { linkId } = await waitingForJob()
      fixture.sentMessages.length = 0
      await sweepTenant(TENANT, fixture.deps)
      await fixture.drain()
      assert.deepEqual(await pending(linkId), [false, 'InSync'])
    })
  })
})
