import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import { readLinkDto, requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { NO_GUESTS } from '../support/jobs/guests.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()
const GUEST = user(0)

describe('A group that refuses one account as a member', () => {
  const refuse = (fault: FaultDefinition = NO_GUESTS) => fixture.server.setFaults([{ ...fault, body: GUEST }])
  const OTHER_CAUSE = { path: '^/v1.0/groups/', status: 403, message: 'The object cannot be a member.' }

  async function changeTo(collectionId: string, accounts: readonly string[]): Promise<void> {
    fixture.collections.change(collectionId, accounts)
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
  }

  async function syncedAgain(collectionId: string) {
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    return lastJob(collectionId)
  }

  const lastJob = async (collectionId: string) => {
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.attempts, job?.added, job?.removed, job?.skipped, job?.unresolved]
  }

  const stateOf = async (linkId: string) => {
    const link = await fixture.link(linkId)
    const { syncState, pausedBy } = await readLinkDto(link, fixture.deps)
    const account = pausedBy?.members[0]?.directoryObjectId
    return [syncState, pausedBy?.reason, account, link.lastSyncOutcome, link.lastSyncError]
  }
  const PAUSED_BY_GUEST = ['RemovalsPaused', 'AccountsUnknown', GUEST, 'Succeeded', null]

  for (const [claim, fault] of [
    ['a guest', NO_GUESTS],
    ['an account for another cause', OTHER_CAUSE],
  ] as const) {
    it(`gets all others by the first job, and the link names ${claim} also after later jobs`, async () => {
      const { collectionId, groupId, linkId } = await fixture.linked(users(0, 250))
      refuse(fault)
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 249)))
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 1, 249, 0, 1, [GUEST]])
      assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 1, 0, 0, 1, [GUEST]])
      assert.deepEqual(await stateOf(linkId), PAUSED_BY_GUEST)
    })
  }

  it('gets the single changes of others within seconds, and the link names the guest', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(1, 30))
    refuse()
    await changeTo(collectionId, users(0, 31))
    assert.deepEqual(await stateOf(linkId), PAUSED_BY_GUEST)
    const jobCount = (await fixture.jobsOf(collectionId)).length
    fixture.server.clearRequests()
    await changeTo(collectionId, users(0, 32))
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 31)))
    // The change names the guest no more, so it needs neither a job nor another attempt.
    assert.equal((await fixture.jobsOf(collectionId)).length, jobCount)
    assert.equal(fixture.server.requests().filter(({ method }) => method === 'PATCH').length, 1)
    await changeTo(collectionId, [GUEST, ...users(2, 30)])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 31)))
    assert.deepEqual(await stateOf(linkId), PAUSED_BY_GUEST)
  })

  it('gets and loses others by the change that brings the guest', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(1, 5))
    refuse()
    await changeTo(collectionId, [GUEST, ...users(2, 5)])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 6)))
    assert.deepEqual(await stateOf(linkId), PAUSED_BY_GUEST)
  })

  it('loses who has left as soon as the guest leaves too', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(1, 5))
    refuse()
    await changeTo(collectionId, users(0, 6))
    await changeTo(collectionId, [GUEST, ...users(2, 4)])
    await changeTo(collectionId, users(3, 3))
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(3, 3)))
    assert.deepEqual(await stateOf(linkId), ['InSync', undefined, undefined, 'Succeeded', null])
  })

  it('is tried again with each hourly job, once in each, and gets the guest when its policy has changed', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(1, 5))
    refuse()
    await changeTo(collectionId, users(0, 6))
    fixture.server.clearRequests()
    for (let hour = 0; hour < 3; hour += 1) {
      await fixture.clock.sleep(3_600_000)
      await sweepTenant(TENANT, fixture.deps)
      await fixture.drain()
    }
    const attempts = fixture.server
      .requests()
      .filter(({ method, path }) => method === 'PATCH' && path.includes(groupId))
    assert.equal(attempts.length, 3)
    fixture.server.setFaults([])
    await fixture.clock.sleep(3_600_000)
    await sweepTenant(TENANT, fixture.deps)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 6)))
    assert.equal((await stateOf(linkId))[0], 'InSync')
  })
})

describe('A group that refuses more than a thousand accounts', () => {
  /** A worker to whose additions the directory answers that the group takes no guests: the first 1,200 users. */
  function refusingGuests() {
    const guests = new Set(users(0, 1_200))
    const { directory } = fixture.deps
    const addMembers: typeof directory.addMembers = async (...[tenantId, groupId, accounts, deadlineMs]) => {
      const others = accounts.filter((account) => !guests.has(account))
      const outcome = await directory.addMembers(tenantId, groupId, others, deadlineMs)
      return { ...outcome, missing: accounts.filter((account) => guests.has(account)) }
    }
    return { ...fixture.deps, directory: { ...directory, addMembers } }
  }

  const job = async (collectionId: string) => {
    const [{ status, attempts, added, removed, skipped } = assert.fail()] = await fixture.jobsOf(collectionId)
    return { status, attempts, added, removed, skipped }
  }

  it('gets the others, and loses nobody', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 1_250), users(1_300, 3))
    await fixture.drain(refusingGuests())
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(1_200, 50), ...users(1_300, 3)]))
    const expected = { status: 'Failed', attempts: 4, added: 50, removed: 0, skipped: 1_200 }
    assert.deepEqual(await job(collectionId), expected)
  })

  it('has jobs that end, also when each batch tries only accounts that it refuses', async () => {
    const { collectionId } = await fixture.linked(users(0, 1_250))
    await fixture.drain({ ...refusingGuests(), batchMs: 0 })
    const { status, attempts } = await job(collectionId)
    assert.deepEqual({ status, attempts }, { status: 'Failed', attempts: 4 })
  })
})

describe('A group that refuses each addition', () => {
  const NO_PERMISSION = { path: '^/v1.0/groups/.', method: 'PATCH', status: 403 }

  for (const [claim, added] of [
    ['one account', 1],
    ['several accounts', 3],
  ] as const) {
    it(`names a missing permission as the cause, and no account, when ${claim} would be added`, async () => {
      const { collectionId, groupId, linkId } = await syncedLink(fixture, users(1, 5))
      fixture.server.setFaults([NO_PERMISSION, { ...NO_PERMISSION, method: 'POST', path: 'members' }])
      fixture.collections.change(collectionId, users(2, 4 + added))
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      const link = await fixture.link(linkId)
      const { syncState, pausedBy } = await readLinkDto(link, fixture.deps)
      assert.deepEqual([syncState, pausedBy, link.unresolved], ['Failed', null, []])
      assert.match(link.lastSyncError ?? '', /HTTP 403: Insufficient privileges to complete the operation/)
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, 5)))
    })
  }

  it('names it also once the link has a refused guest', async () => {
    const { collectionId, linkId } = await syncedLink(fixture, users(1, 5))
    fixture.server.setFaults([{ ...NO_GUESTS, body: GUEST }])
    fixture.collections.change(collectionId, users(0, 6))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    fixture.server.setFaults([NO_PERMISSION])
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.match((await fixture.link(linkId)).lastSyncError ?? '', /Insufficient privileges/)
  })
})

describe('A group to which the addition of one account always fails', () => {
  const failFor = (account: string, status = 503) =>
    fixture.server.setFaults([{ path: '^/v1.0/groups/', body: account, status }])
  const WRITES = '^/v1.0/groups/[^/]+($|/members/)'

  async function lastJob(collectionId: string) {
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.attempts, job?.added, job?.removed, job?.error]
  }

  for (const [claim, count] of [
    ['of many', 250],
    ['of two', 2],
  ] as const) {
    it(`gets all others ${claim} by the first job, keeps who has left, and has the cause on the job`, async () => {
      const { collectionId, groupId } = await fixture.linked(users(0, count), users(500, 10))
      failFor(user(0))
      await fixture.deliverNext()
      assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(1, count - 1), ...users(500, 10)]))
      await fixture.drain()
      const error = 'The directory returned HTTP 503. Retries have failed.'
      assert.deepEqual(await lastJob(collectionId), ['Failed', 4, count - 1, 0, error])
    })
  }

  it('gets who is added later, by the job that follows the single change', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(1, 5))
    failFor(user(0), 500)
    for (const count of [6, 7]) {
      fixture.collections.change(collectionId, users(0, count))
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(1, count - 1)))
    }
  })

  it('gets single additions of one PATCH only while all writes fail', async () => {
    const { collectionId } = await fixture.linked(users(0, 250))
    fixture.server.setFaults(['PATCH', 'POST'].map((method) => ({ path: WRITES, method, status: 503 })))
    await fixture.deliverNext()
    const batches = fixture.server.requests().filter(({ path }) => path.includes('batch'))
    // Four attempts of the five PATCHes, and of the accounts of one.
    assert.equal(batches.length, 8)
    assert.deepEqual((await lastJob(collectionId)).slice(0, 3), ['Queued', 1, 0])
  })
})
