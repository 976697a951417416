import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { SERVICE_PRINCIPAL, TENANT, user, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('A sync job', () => {
  it('makes the group equal to the collection in the fewest calls, and reports its counts', async () => {
    const { collectionId, groupId, linkId } = await fixture.linked(users(0, 150), users(140, 45))
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 150)))
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual(
      { ...job, id: '', createdAt: '', startedAt: '', completedAt: '', dueAtMs: 0 },
      {
        id: '',
        tenantId: TENANT,
        linkId,
        collectionId,
        directoryGroupId: groupId,
        type: 'LinkCreated',
        status: 'Succeeded',
        attempts: 1,
        added: 140,
        removed: 35,
        skipped: 0,
        held: 0,
        createdAt: '',
        startedAt: '',
        completedAt: '',
        error: null,
        requestedBy: null,
        approvedPlanId: null,
        approvedBy: null,
        cause: null,
        changeRecordCount: 4,
        userCountAtStart: 45,
        dueAtMs: 0,
        isYielded: false,
        batchCount: 0,
        unresolved: [],
        journal: { added: [], removed: [] },
      },
    )
    const link = await fixture.link(linkId)
    assert.equal(link.lastSyncOutcome, 'Succeeded')
    assert.equal(link.lastSyncedAt, job?.completedAt)
    assert.equal(link.directoryGroupDisplayName, 'A group')
    assert.equal(link.lease, null)
    assert.deepEqual(
      fixture.server
        .requests()
        .slice(0, 7)
        .map(({ method, path, batch }) => [method, path.split('/').at(-1), batch?.length]),
      [
        ['GET', groupId, undefined],
        ['GET', 'members', undefined],
        // Tells which of the accounts are users, before any is added.
        ['POST', 'getByIds', undefined],
        ['POST', '$batch', 5],
        ['POST', '$batch', 2],
        ['POST', '$batch', 20],
        ['POST', '$batch', 15],
      ],
    )
  })

  it('adds n accounts in n/20 PATCHes and n/100 calls after n/1,000 that find the users; without a difference, reads the group and n/999 pages', async () => {
    const { collectionId } = await fixture.linked(users(0, 2_345))
    await fixture.drain()
    const calls = fixture.server.requests()
    const patches = calls.flatMap((call) => call.batch ?? [call]).filter(({ method }) => method === 'PATCH')
    assert.equal(patches.length, 118)
    assert.ok(calls.length <= 24 + 3 + 2, `${calls.length} calls`)
    fixture.server.clearRequests()
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.deepEqual(
      fixture.server.requests().map(({ method, path }) => [method, path.split('/').length]),
      [
        ['GET', 4],
        ['GET', 5],
        ['GET', 5],
        ['GET', 5],
      ],
    )
  })

  it('writes nothing without a difference', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 30), users(0, 30))
    await fixture.drain()
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 30)))
    assert.ok(fixture.server.requests().every(({ method }) => method === 'GET'))
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ status }) => status),
      ['Succeeded', 'Succeeded'],
    )
  })

  it('does not change or count nested groups, devices and service principals', async () => {
    const nested = await fixture.newGroup()
    const device = 'dddddddd-0000-4000-8000-00000000000d'
    const { collectionId, groupId } = await fixture.linked(users(0, 3), [...users(2, 3), nested, SERVICE_PRINCIPAL])
    // The local directory has no devices, so one is added to the page.
    const directory = fixture.directoryOver((send) => async (tenantId, call) => {
      const reply = await send(tenantId, call)
      if (!call.path.includes('/members?')) return reply
      const page = reply.body as { value: object[] }
      const member = { '@odata.type': '#microsoft.graph.device', id: device }
      return { ...reply, body: { ...page, value: [...page.value, member] } }
    })
    fixture.server.clearRequests()
    await fixture.drain({ ...fixture.deps, directory })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.added, job?.removed, job?.skipped], ['Succeeded', 2, 2, 0])
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 3), nested]))
    const written = fixture.server.requests().flatMap((request) => request.batch ?? [request])
    const removals = written.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('/').at(-2))
    assert.deepEqual(removals.sort(), users(3, 2))
  })

  it("updates the group's display name on the link", async () => {
    const { collectionId, groupId, linkId } = await fixture.linked(users(0, 3))
    await fixture.drain()
    assert.equal((await fixture.link(linkId)).directoryGroupDisplayName, 'A group')
    await fixture.asTester({ method: 'PATCH', path: `/groups/${groupId}`, body: { displayName: 'Renamed' } })
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.equal((await fixture.link(linkId)).directoryGroupDisplayName, 'Renamed')
  })

  it('adds an account again that was removed from the group by hand a moment ago', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 3))
    await fixture.drain()
    await fixture.asTester({ method: 'DELETE', path: `/groups/${groupId}/members/${user(1)}/$ref` })
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ added }) => added),
      [1, 3],
    )
  })
})
