import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('A group that refuses the removal of some members', () => {
  const CAUSE = { method: 'DELETE', status: 403, message: 'This member cannot be removed.' }
  const keep = (accounts: readonly string[], fault: FaultDefinition = CAUSE) =>
    fixture.server.setFaults(accounts.map((account) => ({ ...fault, path: account })))
  /** Each is one batch. */
  const stepCount = () => fixture.server.requests().filter(({ path }) => path.includes('batch')).length

  async function lastJob(collectionId: string) {
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.attempts, job?.removed, job?.error]
  }

  const REFUSED = 'The directory returned HTTP 403: This member cannot be removed.'
  const NO_REPLY = 'The directory returned HTTP 503. Retries have failed.'
  for (const [claim, kept, fault, error] of [
    ['a whole step is refused', users(0, 20), CAUSE, REFUSED],
    ['one is refused in each step', [user(0), user(20), user(40)], CAUSE, REFUSED],
    ['the removal of one always fails', [user(0)], { method: 'DELETE', status: 503 }, NO_REPLY],
  ] as const) {
    it(`loses all others by the first job, which fails and names the cause, when ${claim}`, async () => {
      const { collectionId, groupId } = await syncedLink(fixture, users(0, 100))
      keep(kept, fault)
      fixture.collections.change(collectionId, users(60, 40))
      await requestSync(TENANT, collectionId, fixture.deps)
      await fixture.deliverNext()
      assert.deepEqual(await fixture.membersOf(groupId), new Set([...kept, ...users(60, 40)]))
      await fixture.drain()
      assert.deepEqual(await lastJob(collectionId), ['Failed', 4, 60 - kept.length, error])
    })
  }

  it('loses all others by the single change, and a job reports the cause', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 100))
    keep([user(0), user(20)])
    fixture.collections.change(collectionId, users(60, 40))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.deliverNext()
    assert.deepEqual(await fixture.membersOf(groupId), new Set([user(0), user(20), ...users(60, 40)]))
    await fixture.drain()
    assert.deepEqual(await lastJob(collectionId), ['Failed', 4, 0, REFUSED])
  })

  it('gets one step of removals by the single change of which it refuses a whole step', async () => {
    const { collectionId } = await syncedLink(fixture, users(0, 100))
    keep(users(0, 20))
    fixture.collections.change(collectionId, users(60, 40))
    await notifyOfMembershipChange(fixture, collectionId)
    fixture.server.clearRequests()
    await fixture.deliverNext()
    assert.equal(stepCount(), 1)
  })

  it('has jobs that end and remove all others, also when each batch writes one step', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 150))
    keep(users(0, 5))
    fixture.collections.change(collectionId, users(110, 40))
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain({ ...fixture.deps, batchMs: 0 })
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 5), ...users(110, 40)]))
    assert.deepEqual(await lastJob(collectionId), ['Failed', 4, 105, REFUSED])
  })

  it('has jobs that end when each batch tries only accounts that it refuses', async () => {
    const { collectionId } = await syncedLink(fixture, users(0, 100))
    keep(users(0, 40))
    fixture.collections.change(collectionId, users(60, 40))
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain({ ...fixture.deps, batchMs: 0 })
    assert.deepEqual(await lastJob(collectionId), ['Failed', 4, 0, REFUSED])
  })

  it('gets one step of removals in each run while the permission is missing', async () => {
    const { collectionId } = await syncedLink(fixture, users(0, 100))
    fixture.server.setFaults([{ method: 'DELETE', path: 'members', status: 403 }])
    fixture.collections.change(collectionId, users(60, 40))
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.equal(stepCount(), 4)
  })

  it('gets one step of removals in the run that finds it cannot be written any more', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 100))
    keep(users(0, 60))
    fixture.collections.change(collectionId, users(60, 40))
    await requestSync(TENANT, collectionId, fixture.deps)
    const { directory } = fixture.deps
    const removeMembers: typeof directory.removeMembers = async (...args) => {
      const body = { groupTypes: ['DynamicMembership'], membershipRule: 'user.city -eq "Oslo"' }
      await fixture.asTester({ method: 'PATCH', path: `/groups/${groupId}`, body })
      return directory.removeMembers(...args)
    }
    await fixture.drain({ ...fixture.deps, directory: { ...directory, removeMembers } })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, stepCount()], ['Failed', 1, 1])
  })
})
