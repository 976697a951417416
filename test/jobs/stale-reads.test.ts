import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/request-sync.ts'
import { TENANT, user, users } from './link-directory.ts'
import { type LinkWorld, openWorld } from './link-world.ts'

const LAG_MS = 60_000
const STALE = [{ method: 'GET', path: '/members$', staleMs: LAG_MS }]

describe('While the directory shows groups as they were a minute ago', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld({ sharesClock: true })
  })
  after(() => world.close())
  beforeEach(() => {
    world.server.setFaults([])
    world.rings.length = 0
  })

  /** A link whose first sync everyone has heard of. */
  async function settled(accounts: readonly string[], members: readonly string[] = []) {
    const linked = await world.linked(accounts, members)
    await world.drain()
    await world.clock.sleep(LAG_MS)
    return linked
  }

  async function change(collectionId: string, accounts: readonly string[]): Promise<void> {
    world.collections.change(collectionId, accounts)
    const message = { tenantId: TENANT, collectionId }
    await world.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `${Math.random()}` })
    await world.drain()
  }

  async function syncStale(collectionId: string) {
    world.server.setFaults(STALE)
    await requestSync(TENANT, collectionId, world.deps)
    await world.drain()
    world.server.setFaults([])
    const [job] = await world.jobsOf(collectionId)
    return [job?.status, job?.attempts, job?.added, job?.removed]
  }

  it('the local directory shows just that', async () => {
    const { groupId, collectionId } = await settled(users(0, 5))
    await change(collectionId, users(3, 5))
    world.server.setFaults(STALE)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
    await world.clock.sleep(LAG_MS)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(3, 5)))
  })

  it('a job adds and removes nobody again whom a change has just added and removed', async () => {
    const { groupId, collectionId } = await settled(users(0, 5))
    await change(collectionId, users(3, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(3, 5)))
  })

  it('a job adds and removes nobody again whom the job before has', async () => {
    const { groupId, collectionId } = await world.linked(users(0, 50), users(40, 30))
    await world.drain()
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 50)))
  })

  it('a job takes out again who has left since, although the group does not show them', async () => {
    const { groupId, collectionId } = await settled(users(0, 5))
    await change(collectionId, users(0, 6))
    world.collections.change(collectionId, users(0, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 1])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('a job puts in again who has come back since, although the group still shows them', async () => {
    const { groupId, collectionId } = await settled(users(0, 5))
    await change(collectionId, users(0, 4))
    world.collections.change(collectionId, users(0, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 1, 0])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('what was changed by hand is put right once it shows', async () => {
    const { groupId, collectionId } = await settled(users(0, 5))
    await world.asTester({ method: 'DELETE', path: `/groups/${groupId}/members/${user(1)}/$ref` })
    const added = { '@odata.id': `${world.server.url}/v1.0/directoryObjects/${user(9)}` }
    await world.asTester({ method: 'POST', path: `/groups/${groupId}/members/$ref`, body: added })
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    await world.clock.sleep(LAG_MS)
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 1, 1])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })
})
