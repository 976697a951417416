import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { TENANT, users } from './link-directory.ts'
import { type LinkWorld, notifyOfMembershipChange, openWorld, syncedLink } from './link-world.ts'

describe('Source data that name a group as an account', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(() => {
    world.sentMessages.length = 0
  })

  async function syncedAgain(collectionId: string) {
    await requestSync(TENANT, collectionId, world.deps)
    await world.drain()
    const [job] = await world.jobsOf(collectionId)
    return [job?.status, job?.added, job?.removed, job?.error]
  }

  it('nest that group; the next job detects it, fails with its id and removes no member', async () => {
    const nested = await world.newGroup({}, users(50, 3))
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), nested])
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 5), nested]))
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Succeeded')
    world.collections.exchange(collectionId, [...users(1, 5), nested])
    assert.deepEqual(await syncedAgain(collectionId), ['Failed', 1, 0, `The directory has no account ${nested}.`])
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 6), nested]))
    const writes = world.server.requests().filter(({ method, path }) => method !== 'GET' && path.includes(groupId))
    assert.equal(writes.length, 1)
  })

  it('remove it within minutes when they are corrected, and keep a group that was nested before', async () => {
    const [ours, theirs] = [await world.newGroup(), await world.newGroup()]
    const { collectionId, groupId } = await syncedLink(world, [...users(0, 5), ours], [theirs])
    world.collections.exchange(collectionId, users(0, 5))
    assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 0, 1, null])
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 5), theirs]))
  })

  it('never add a group to itself, by a job or by an incremental sync', async () => {
    const { collectionId, groupId } = await syncedLink(world, users(0, 5))
    world.collections.change(collectionId, [...users(0, 6), groupId])
    await notifyOfMembershipChange(world, collectionId)
    await world.drain()
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, job?.added], ['ScheduledSweep', 'Failed', 1])
    assert.equal(job?.error, `The directory has no account ${groupId}.`)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 6)))
  })

  it('are not part of a preview once the group is nested', async () => {
    const nested = await world.newGroup()
    const collectionId = world.collections.make([...users(0, 2), nested])
    const groupId = await world.newGroup({}, [nested, ...users(1, 1)])
    const { membersToAdd, membersToRemove } = await previewLink(TENANT, { collectionId, groupId }, world.deps)
    assert.deepEqual([membersToAdd, membersToRemove], [users(0, 1), []])
  })
})
