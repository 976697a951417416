import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'

const LAG_MS = 60_000
const STALE = [{ method: 'GET', path: '/members$', staleMs: LAG_MS }]

describe('While reads of the directory are a minute old', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ sharesClock: true })
  })
  after(() => fixture.close())
  beforeEach(() => {
    fixture.server.setFaults([])
    fixture.sentMessages.length = 0
  })

  /** A link whose first sync is visible to all reads. */
  async function visiblySynced(accounts: readonly string[], members: readonly string[] = []) {
    const linked = await fixture.linked(accounts, members)
    await fixture.drain()
    await fixture.clock.sleep(LAG_MS)
    return linked
  }

  async function change(collectionId: string, accounts: readonly string[]): Promise<void> {
    fixture.collections.change(collectionId, accounts)
    const message = { tenantId: TENANT, collectionId }
    await fixture.deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `${Math.random()}` })
    await fixture.drain()
  }

  async function syncStale(collectionId: string) {
    fixture.server.setFaults(STALE)
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    fixture.server.setFaults([])
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.attempts, job?.added, job?.removed]
  }

  it('the local directory returns such reads', async () => {
    const { groupId, collectionId } = await visiblySynced(users(0, 5))
    await change(collectionId, users(3, 5))
    fixture.server.setFaults(STALE)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    await fixture.clock.sleep(LAG_MS)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(3, 5)))
  })

  it('a job does not repeat the writes of an incremental sync', async () => {
    const { groupId, collectionId } = await visiblySynced(users(0, 5))
    await change(collectionId, users(3, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(3, 5)))
  })

  it('a job does not repeat the writes of the job before', async () => {
    const { groupId, collectionId } = await fixture.linked(users(0, 50), users(40, 30))
    await fixture.drain()
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 50)))
  })

  it('a job removes a member who has left since, although the group does not show the account', async () => {
    const { groupId, collectionId } = await visiblySynced(users(0, 5))
    await change(collectionId, users(0, 6))
    fixture.collections.change(collectionId, users(0, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 1])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('a job adds a member who has come back since, although the group still shows the account', async () => {
    const { groupId, collectionId } = await visiblySynced(users(0, 5))
    await change(collectionId, users(0, 4))
    fixture.collections.change(collectionId, users(0, 5))
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 1, 0])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('a job reverts a manual change once reads show it', async () => {
    const { groupId, collectionId } = await visiblySynced(users(0, 5))
    await fixture.asTester({ method: 'DELETE', path: `/groups/${groupId}/members/${user(1)}/$ref` })
    const added = { '@odata.id': `${fixture.server.url}/v1.0/directoryObjects/${user(9)}` }
    await fixture.asTester({ method: 'POST', path: `/groups/${groupId}/members/$ref`, body: added })
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 0, 0])
    await fixture.clock.sleep(LAG_MS)
    assert.deepEqual(await syncStale(collectionId), ['Succeeded', 1, 1, 1])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })
})
