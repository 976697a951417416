import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { type LinkWorld, notifyOfMembershipChange, openWorld, syncedLink } from '../support/jobs/link-world.ts'

describe('Source data that name something other than a user as an account', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(() => {
    world.sentMessages.length = 0
  })

  const lastJob = async (collectionId: string) => {
    const [job] = await world.jobsOf(collectionId)
    return [job?.status, job?.added, job?.removed, job?.skipped, job?.unresolved]
  }

  /** The dependencies of a worker, and the accounts that it asks the directory to add. */
  const recordingAdditions = () => {
    const { directory } = world.deps
    const added: string[] = []
    const addMembers = (...args: Parameters<typeof directory.addMembers>) => {
      added.push(...args[2])
      return directory.addMembers(...args)
    }
    return { deps: { ...world.deps, directory: { ...directory, addMembers } }, added }
  }

  async function syncedAgain(collectionId: string) {
    await requestSync(TENANT, collectionId, world.deps)
    await world.drain()
    return lastJob(collectionId)
  }

  it('do not nest a group, not for a moment: the job succeeds and removes no user', async () => {
    const nested = await world.newGroup({}, users(50, 3))
    const { collectionId, groupId } = await world.linked([...users(0, 5), nested], users(60, 2))
    const { deps, added } = recordingAdditions()
    await world.drain(deps)
    assert.deepEqual(added, users(0, 5))
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 5), ...users(60, 2)]))
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [nested]])
  })

  it('remove users again once they are corrected', async () => {
    const nested = await world.newGroup()
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), nested], users(60, 2))
    world.collections.exchange(collectionId, users(0, 5))
    assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 0, 2, 0, []])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('never take out a group that was nested before', async () => {
    const theirs = await world.newGroup()
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), theirs], [theirs])
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [theirs]])
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 5), theirs]))
  })

  it('do not nest a group by an incremental sync, not for a moment: a job reports it', async () => {
    const nested = await world.newGroup()
    const { collectionId, groupId } = await syncedLink(world, users(0, 5))
    world.collections.change(collectionId, [...users(0, 6), nested])
    await notifyOfMembershipChange(world, collectionId)
    const { deps, added } = recordingAdditions()
    await world.drain(deps)
    assert.deepEqual(added, users(5, 1))
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 1, 0, 1, [nested]])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 6)))
  })

  it('are not added while the directory cannot say whether they are users', async () => {
    const { collectionId, groupId } = await syncedLink(world, users(0, 5))
    world.server.setFaults([{ method: 'POST', path: 'getByIds', status: 403, times: 2 }])
    world.collections.change(collectionId, users(100, 5))
    await notifyOfMembershipChange(world, collectionId)
    await world.deliverNext()
    await world.deliverNext()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(100, 5)))
  })

  it('cost one call of the directory for a thousand new accounts, and none for known ones', async () => {
    const asked = () => world.server.requests().filter(({ path }) => path.includes('getByIds')).length
    world.server.clearRequests()
    const [first, second] = [await world.linked(users(200, 2_001)), await world.linked(users(200, 2_001))]
    await world.drain()
    for (const { groupId } of [first, second]) assert.equal((await world.membersOf(groupId)).size, 2_001)
    assert.equal(asked(), 3)
  })

  it('never add a group to itself, by a job or by an incremental sync', async () => {
    const { collectionId, groupId } = await syncedLink(world, users(0, 5))
    world.collections.change(collectionId, [...users(0, 6), groupId])
    await notifyOfMembershipChange(world, collectionId)
    await world.drain()
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 1, 0, 1, [groupId]])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 6)))
  })

  describe('of a service principal, which member lists leave out,', () => {
    const principal = 'cccccccc-0000-4000-8000-000000000002'
    const principalsIn = async (groupId: string) => {
      const path = `/groups/${groupId}/members/microsoft.graph.servicePrincipal?$select=id`
      const { body } = await world.asTester({ method: 'GET', path })
      return (body as { value: { id: string }[] }).value.map(({ id }) => id)
    }

    it('are not added, by the first job or a later one', async () => {
      const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), principal], users(60, 2))
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [principal]])
      assert.deepEqual([await principalsIn(groupId), (await world.membersOf(groupId)).size], [[], 7])
      world.server.clearRequests()
      assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 0, 0, 1, [principal]])
      assert.deepEqual(
        world.server.requests().map(({ method }) => method),
        ['GET', 'GET', 'POST'],
      )
    })

    it('are not added by an incremental sync', async () => {
      const { collectionId, groupId } = await syncedLink(world, users(0, 5))
      world.collections.change(collectionId, [...users(0, 5), principal])
      await notifyOfMembershipChange(world, collectionId)
      await world.drain()
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 0, 0, 1, [principal]])
      assert.deepEqual(await principalsIn(groupId), [])
    })

    it('stay in a group where somebody else has put them', async () => {
      const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), principal], [principal])
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [principal]])
      assert.deepEqual(await principalsIn(groupId), [principal])
    })
  })

  it('defer the removals of incremental syncs while such an account is in the collection', async () => {
    const unknown = user(900_001)
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), unknown])
    world.collections.change(collectionId, [...users(0, 4), unknown])
    await notifyOfMembershipChange(world, collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
    world.collections.change(collectionId, users(0, 4))
    await notifyOfMembershipChange(world, collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 4)))
  })

  it('are counted in a preview when the last job has found them', async () => {
    const unknown = user(900_001)
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), unknown])
    const preview = await previewLink(TENANT, { collectionId, groupId }, world.deps)
    assert.deepEqual(preview, {
      membersToAdd: [],
      membersToRemove: [],
      membersWithoutEntraAccount: 1,
      groupMemberCount: 5,
    })
  })

  it('are counted in a preview, and not added, once the group is nested', async () => {
    const nested = await world.newGroup()
    const collectionId = world.collections.make([...users(0, 2), nested])
    const groupId = await world.newGroup({}, [nested, ...users(1, 1)])
    const preview = await previewLink(TENANT, { collectionId, groupId }, world.deps)
    assert.deepEqual(preview, {
      membersToAdd: users(0, 1),
      membersToRemove: [],
      membersWithoutEntraAccount: 1,
      groupMemberCount: 1,
    })
  })
})
