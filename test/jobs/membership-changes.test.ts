import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { collectionLinks } from '../../shared/domain/group-links/linked-collections.ts'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import {
  linkFixtureOfTests,
  notifyOfMembershipChange,
  setLinkSettings,
  syncedLink,
} from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('An incremental sync', () => {
  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' || path.includes('getByIds') || path.endsWith('$batch')

  const synced = (accounts: readonly string[], members?: readonly string[]) => syncedLink(fixture, accounts, members)
  const enqueue = (collectionId: string) => notifyOfMembershipChange(fixture, collectionId)
  const calls = () =>
    fixture.server.requests().map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`)

  it('adds a new member with one write, after one request that reads its type and the group', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await fixture.drain()
    const [check, ...writes] = fixture.server.requests()
    assert.deepEqual(
      check?.batch?.map(({ method, path }) => [method, path.replace(groupId, '')]),
      [
        ['GET', '/v1.0/groups/'],
        ['POST', '/v1.0/directoryObjects/getByIds'],
      ],
    )
    assert.deepEqual(
      writes.map(({ method }) => method),
      ['PATCH'],
    )
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 6)))
    assert.equal((await fixture.jobsOf(collectionId)).length, 1)
  })

  for (const linkableGroups of ['Any', 'Owned'] as const) {
    it(`writes no new member to a group whose membership has become hidden: ${linkableGroups}`, async () => {
      const { collectionId, groupId, linkId } = await synced(users(0, 5))
      const hidden = { method: 'PATCH', path: `/groups/${groupId}`, body: { visibility: 'HiddenMembership' } } as const
      assert.equal((await fixture.asTester(hidden)).status, 204)
      await setLinkSettings(fixture.deps, { linkableGroups })
      fixture.collections.change(collectionId, [...users(0, 5), user(linkableGroups === 'Any' ? 700 : 701)])
      await enqueue(collectionId)
      await fixture.drain()
      await setLinkSettings(fixture.deps, { linkableGroups: 'Any' })
      assert.ok(
        fixture.server
          .requests()
          .slice(1)
          .every(({ batch = [], ...request }) => [request, ...batch].every(isRead)),
      )
      assert.equal((await fixture.link(linkId)).lastSyncOutcome, 'Failed')
    })
  }

  it('removes a former member with one write and no read', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 4))
    await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(calls(), [`DELETE members/${user(4)}/$ref`])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 4)))
  })

  it('does not count removals that were not sent because the link was disabled in between', async () => {
    const { collectionId, groupId, linkId } = await synced(users(300, 30))
    const directory: typeof fixture.directory = {
      ...fixture.directory,
      async removeMembers(...removal) {
        await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
        return fixture.directory.removeMembers(...removal)
      },
    }
    fixture.collections.change(collectionId, users(300, 5))
    await enqueue(collectionId)
    await fixture.drain({ ...fixture.deps, directory })
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(300, 5), ...users(325, 5)]))
    const { entries, open } = (await fixture.link(linkId)).removalWindow
    assert.deepEqual([entries.map(({ count }) => count), open], [[20], null])
  })

  it('writes a change that was reverted before it ran, because another worker may have written part of it', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    fixture.collections.change(collectionId, users(0, 5))
    await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(calls(), [`DELETE members/${user(5)}/$ref`])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('writes a change once, also after several notifications', async () => {
    const { collectionId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 8))
    for (const _ of [1, 2, 3]) await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(calls(), ['POST ', 'PATCH '])
  })

  it('writes to every enabled link of the collection, and skips a disabled one', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    const second = await fixture.newGroup()
    await createLink(TENANT, { collectionId, directoryGroupId: second }, fixture.deps)
    await fixture.drain()
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, fixture.deps)
    fixture.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 5)
    assert.equal((await fixture.membersOf(second)).size, 6)
  })

  it('defers removals while a member has no account, and a job makes them when all members have one', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, [...users(1, 4), user(9)], 1)
    await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 5), user(9)]))
    for (const [others, withoutAccountCount] of [
      [users(9, 2), 1],
      [users(9, 3), 0],
    ] as const) {
      fixture.collections.change(collectionId, [...users(1, 4), ...others], withoutAccountCount)
      await enqueue(collectionId)
      await fixture.drain()
    }
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(1, 4), ...users(9, 3)]))
    assert.deepEqual(
      (await fixture.jobsOf(collectionId)).map(({ type }) => type),
      ['ScheduledSweep', 'LinkCreated'],
    )
  })

  it('leaves a changed account of an existing member to one job, which also removes the former account', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    fixture.collections.exchange(collectionId, [...users(0, 4), user(20)])
    await collectionLinks(fixture.deps.links, fixture.clock.nowMs).accountsChanged(
      TENANT,
      new Map([[collectionId, fixture.clock.nowMs()]]),
    )
    await enqueue(collectionId)
    await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 4), user(20)]))
    const [job, ...others] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.added, job?.removed, others.length], ['ScheduledSweep', 1, 1, 1])
    assert.equal((await fixture.link(linkId)).accountsChangedAtMs, null)
  })

  it('queues another comparison when an account changes during one', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    await requestSync(TENANT, collectionId, fixture.deps)
    const directory = {
      ...fixture.deps.directory,
      listMembers: async (...args: Parameters<typeof fixture.directory.listMembers>) => {
        fixture.collections.exchange(collectionId, [...users(0, 4), user(20)])
        await collectionLinks(fixture.deps.links, fixture.clock.nowMs).accountsChanged(
          TENANT,
          new Map([[collectionId, fixture.clock.nowMs()]]),
        )
        await enqueue(collectionId)
        return fixture.directory.listMembers(...args)
      },
    }
    await fixture.deliverNext({ ...fixture.deps, directory })
    assert.notEqual((await fixture.link(linkId)).accountsChangedAtMs, null)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 4), user(20)]))
  })

  it('leaves changes that are older than the history to one job', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 7))
    fixture.collections.forgetHistory(collectionId)
    await enqueue(collectionId)
    await enqueue(collectionId)
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 7)
    const [job, ...others] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, others.length], ['ScheduledSweep', 'Succeeded', 1])
  })

  it('leaves a change that the directory does not accept to a job, which retries', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    const { appliedMembershipVersion } = await fixture.link(linkId)
    fixture.server.setFaults(['PATCH', 'POST'].map((method) => ({ method, path: groupId, status: 503, times: 8 })))
    fixture.collections.change(collectionId, users(0, 7))
    await enqueue(collectionId)
    await fixture.deliverNext()
    assert.equal((await fixture.link(linkId)).appliedMembershipVersion, appliedMembershipVersion)
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 7)
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })

  it('leaves such a change to another job when one is running, which may have read the group before', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    await requestSync(TENANT, collectionId, fixture.deps)
    const [queued] = await fixture.jobsOf(collectionId)
    const running = await fixture.deps.jobs.find(TENANT, queued?.id ?? '')
    assert.ok(running !== undefined)
    await fixture.deps.jobs.replace({ ...running.value, status: 'Running' }, running.version)
    fixture.sentMessages.length = 0
    fixture.server.setFaults(['PATCH', 'POST'].map((method) => ({ method, path: groupId, status: 503, times: 8 })))
    fixture.collections.change(collectionId, users(0, 7))
    await enqueue(collectionId)
    await fixture.deliverNext()
    const statuses = (await fixture.jobsOf(collectionId)).map(({ type, status }) => `${type} ${status}`)
    assert.deepEqual(statuses, ['ScheduledSweep Queued', 'ManualSync Running', 'LinkCreated Succeeded'])
  })

  it('removes no member when the directory does not know an added account, and a job reports it', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, [...users(1, 4), user(900_001)])
    await enqueue(collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    assert.ok(calls().every((call) => !call.startsWith('DELETE')))
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, job?.removed, job?.skipped], ['ScheduledSweep', 'Succeeded', 0, 1])
    assert.deepEqual(job?.unresolved, [user(900_001)])
  })

  it('is reverted by a later job although the directory does not show it yet', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await fixture.drain()
    fixture.collections.change(collectionId, users(0, 5))
    await requestSync(TENANT, collectionId, fixture.deps)
    const lagging = {
      ...fixture.deps.directory,
      listMembers: async () => ({ users: users(0, 5), others: [] }),
    }
    await fixture.drain({ ...fixture.deps, directory: lagging })
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('is not reverted by a job that reads an outdated membership', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await fixture.drain()
    await requestSync(TENANT, collectionId, fixture.deps)
    const stale = {
      ...fixture.deps.collections,
      findAccounts: async () => ({
        accounts: new Set(users(0, 5)),
        withoutAccountCount: 0,
        membershipVersion: 1,
        isCurrent: true,
      }),
    }
    await fixture.deliverNext({ ...fixture.deps, collections: stale })
    assert.equal((await fixture.membersOf(groupId)).size, 6)
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Queued')
    await fixture.drain()
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })

  it('does not decide on members of a former condition: the job waits for the evaluation', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    fixture.collections.change(collectionId, users(0, 6))
    await requestSync(TENANT, collectionId, fixture.deps)
    const former = async () => ({
      ...(await fixture.deps.collections.accountsOf(TENANT, collectionId)),
      isCurrent: false,
    })
    await fixture.deliverNext({ ...fixture.deps, collections: { ...fixture.deps.collections, findAccounts: former } })
    assert.equal((await fixture.membersOf(groupId)).size, 5)
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Queued')
    await fixture.drain()
    assert.equal((await fixture.membersOf(groupId)).size, 6)
    assert.equal((await fixture.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })
})
