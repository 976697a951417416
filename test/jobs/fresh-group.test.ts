import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { type LinkWorld, openWorld } from '../support/jobs/link-world.ts'

const GROUP_IS_MISSING = { method: 'GET', path: '/groups/[^/]+$', status: 404 }

describe('A sync job for a group that the directory does not return', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(() => world.server.setFaults([]))

  it('succeeds if the directory returns the group shortly after it was linked', async () => {
    const { groupId, collectionId } = await world.linked(users(0, 5))
    world.server.setFaults([{ ...GROUP_IS_MISSING, times: 3 }])
    await world.drain()
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Succeeded', 1])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('fails permanently if the directory does not return the group for half a minute after it was linked', async () => {
    const { collectionId } = await world.linked(users(0, 5))
    world.server.setFaults([GROUP_IS_MISSING])
    await world.drain()
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Failed', 1])
  })

  it('fails permanently at once if the group was linked long ago', async () => {
    const { collectionId } = await world.linked(users(0, 5))
    await world.drain()
    await world.clock.sleep(600_000)
    world.server.setFaults([GROUP_IS_MISSING])
    await requestSync(TENANT, collectionId, world.deps)
    const startMs = world.clock.nowMs()
    await world.drain()
    assert.ok(world.clock.nowMs() - startMs < 1_000)
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts], ['Failed', 1])
  })
})
