import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkWorld, notifyOfMembershipChange, openWorld, syncedLink } from '../support/jobs/link-world.ts'

describe('An incremental sync with concurrent workers', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(() => {
    world.sentMessages.length = 0
  })

  it('during the first sync of a link is skipped, and its changes are written right after that sync', async () => {
    const { collectionId, groupId } = await world.linked(users(0, 5))
    const directory = {
      ...world.deps.directory,
      listMembers: async (...args: Parameters<typeof world.directory.listMembers>) => {
        world.collections.change(collectionId, users(0, 6))
        await notifyOfMembershipChange(world, collectionId)
        await world.deliverNext()
        return world.directory.listMembers(...args)
      },
    }
    await world.deliverNext({ ...world.deps, directory })
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 6)))
    assert.equal((await world.jobsOf(collectionId)).length, 1)
  })

  for (const [claim, hasWritten] of [
    ['before its write', false],
    ['before it has recorded its write', true],
  ] as const) {
    it(`whose worker crashes ${claim} is repeated by another worker after the lease has expired`, async () => {
      const { collectionId, groupId, linkId } = await syncedLink(world, users(0, 5))
      world.collections.change(collectionId, users(1, 5))
      const death = Promise.withResolvers<void>()
      const addMembers = async (...args: Parameters<typeof world.directory.addMembers>) => {
        if (hasWritten) await world.directory.addMembers(...args)
        death.resolve()
        return new Promise<never>(() => undefined)
      }
      const dying = { ...world.deps, directory: { ...world.deps.directory, addMembers } }
      await Promise.race([syncIncrementally({ tenantId: TENANT, collectionId }, dying), death.promise])
      await notifyOfMembershipChange(world, collectionId)
      await world.drain()
      assert.deepEqual(await world.membersOf(groupId), new Set(users(1, 5)))
      const { lease, appliedMembershipVersion } = await world.link(linkId)
      assert.deepEqual([lease, appliedMembershipVersion], [null, 2])
      assert.equal((await world.jobsOf(collectionId)).length, 1)
    })
  }

  it('whose worker crashes between storing a job and enqueuing it enqueues it when its message is delivered again', async () => {
    const { collectionId, groupId } = await syncedLink(world, users(0, 5))
    world.collections.change(collectionId, users(1, 600))
    const death = Promise.withResolvers<void>()
    const enqueue = () => {
      death.resolve()
      return new Promise<never>(() => undefined)
    }
    const dying = { ...world.deps, messageQueue: { enqueue } }
    await Promise.race([syncIncrementally({ tenantId: TENANT, collectionId }, dying), death.promise])
    assert.deepEqual(
      (await world.jobsOf(collectionId)).map(({ status }) => status),
      ['Queued', 'Succeeded'],
    )
    await syncIncrementally({ tenantId: TENANT, collectionId }, world.deps)
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 600)
    assert.deepEqual(
      (await world.jobsOf(collectionId)).map(({ status }) => status),
      ['Succeeded', 'Succeeded'],
    )
  })

  it('stops when its lease has expired, and does not revert what other workers have written since', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(world, users(0, 50))
    world.collections.change(collectionId, users(0, 10))
    let isFirst = true
    const removeMembers = async (...args: Parameters<typeof world.directory.removeMembers>) => {
      const outcome = await world.directory.removeMembers(...args)
      if (!isFirst) return outcome
      isFirst = false
      await world.clock.sleep(world.deps.leaseMs + world.deps.clockDifferenceMs)
      world.collections.change(collectionId, users(0, 50))
      await syncIncrementally({ tenantId: TENANT, collectionId }, world.deps)
      await requestSync(TENANT, collectionId, world.deps)
      await world.drain()
      return outcome
    }
    const slow = { ...world.deps, directory: { ...world.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, slow)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 50)))
    assert.equal((await world.link(linkId)).appliedMembershipVersion, 3)
  })

  it('that cannot be recorded because of repeated conflicts is recorded by a retry', async () => {
    const { collectionId, linkId } = await syncedLink(world, users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    let hasLease = false
    const replace = async (...args: Parameters<typeof world.deps.links.replace>) => {
      if (hasLease) throw new Refusal('StaleVersion')
      hasLease = true
      return world.deps.links.replace(...args)
    }
    const crowded = { ...world.deps, links: { ...world.deps.links, replace } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, crowded)
    await world.drain()
    const { lease, appliedMembershipVersion } = await world.link(linkId)
    assert.deepEqual([lease, appliedMembershipVersion], [null, 2])
  })

  it('renews its lease while it writes', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(world, users(0, 100))
    world.collections.change(collectionId, users(0, 10))
    const removeMembers = async (...args: Parameters<typeof world.directory.removeMembers>) => {
      await world.clock.sleep(world.deps.leaseMs / 2)
      return world.directory.removeMembers(...args)
    }
    const slow = { ...world.deps, directory: { ...world.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, slow)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 10)))
    assert.deepEqual([(await world.link(linkId)).lease, world.sentMessages], [null, []])
  })

  it('stops at its next step when the link is disabled, and queues no job', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(world, users(0, 50))
    world.collections.change(collectionId, users(0, 10))
    const removeMembers = async (...args: Parameters<typeof world.directory.removeMembers>) => {
      await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, world.deps)
      return world.directory.removeMembers(...args)
    }
    const watched = { ...world.deps, directory: { ...world.deps.directory, removeMembers } }
    await syncIncrementally({ tenantId: TENANT, collectionId }, watched)
    assert.equal((await world.membersOf(groupId)).size, 30)
    assert.deepEqual([(await world.link(linkId)).lease, (await world.jobsOf(collectionId)).length], [null, 1])
  })

  it('waits while a job holds the lease, and is not lost', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(world, users(0, 5))
    await requestSync(TENANT, collectionId, world.deps)
    const [job] = await world.jobsOf(collectionId)
    let hasWaited = false
    const directory = {
      ...world.deps.directory,
      listMembers: async (...args: Parameters<typeof world.directory.listMembers>) => {
        world.collections.change(collectionId, users(0, 6))
        await notifyOfMembershipChange(world, collectionId)
        world.sentMessages.splice(
          0,
          world.sentMessages.length,
          ...world.sentMessages.filter(({ message }) => message.queue !== 'sync-jobs'),
        )
        await world.deliverNext()
        hasWaited = (await world.membersOf(groupId)).size === 5
        return world.directory.listMembers(...args)
      },
    }
    await runSyncJob({ tenantId: TENANT, jobId: job?.id ?? '' }, { ...world.deps, directory })
    assert.ok(hasWaited)
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 6)
    assert.equal((await world.link(linkId)).appliedMembershipVersion, 2)
  })
})
