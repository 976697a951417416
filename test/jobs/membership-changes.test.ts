import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { collectionLinks } from '../../shared/domain/group-links/linked-collections.ts'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import {
  type LinkWorld,
  notifyOfMembershipChange,
  openWorld,
  setLinkSettings,
  syncedLink,
} from '../support/jobs/link-world.ts'

describe('An incremental sync', () => {
  let world: LinkWorld
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())
  beforeEach(() => {
    world.server.setFaults([])
    world.sentMessages.length = 0
  })

  const isRead = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' || path.includes('getByIds') || path.endsWith('$batch')

  const synced = (accounts: readonly string[], members?: readonly string[]) => syncedLink(world, accounts, members)
  const enqueue = (collectionId: string) => notifyOfMembershipChange(world, collectionId)
  const calls = () =>
    world.server.requests().map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`)

  it('adds a new member with one write, after one request that reads its type and the group', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await world.drain()
    const [check, ...writes] = world.server.requests()
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
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 6)))
    assert.equal((await world.jobsOf(collectionId)).length, 1)
  })

  for (const linkableGroups of ['Any', 'Owned'] as const) {
    it(`writes no new member to a group whose membership has become hidden: ${linkableGroups}`, async () => {
      const { collectionId, groupId, linkId } = await synced(users(0, 5))
      const hidden = { method: 'PATCH', path: `/groups/${groupId}`, body: { visibility: 'HiddenMembership' } } as const
      assert.equal((await world.asTester(hidden)).status, 204)
      await setLinkSettings(world.deps, { linkableGroups })
      world.collections.change(collectionId, [...users(0, 5), user(linkableGroups === 'Any' ? 700 : 701)])
      await enqueue(collectionId)
      await world.drain()
      await setLinkSettings(world.deps, { linkableGroups: 'Any' })
      assert.ok(
        world.server
          .requests()
          .slice(1)
          .every(({ batch = [], ...request }) => [request, ...batch].every(isRead)),
      )
      assert.equal((await world.link(linkId)).lastSyncOutcome, 'Failed')
    })
  }

  it('removes a former member with one write and no read', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 4))
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(calls(), [`DELETE members/${user(4)}/$ref`])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 4)))
  })

  it('does not count removals that were not sent because the link was disabled in between', async () => {
    const { collectionId, groupId, linkId } = await synced(users(300, 30))
    const directory: typeof world.directory = {
      ...world.directory,
      async removeMembers(...removal) {
        await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, world.deps)
        return world.directory.removeMembers(...removal)
      },
    }
    world.collections.change(collectionId, users(300, 5))
    await enqueue(collectionId)
    await world.drain({ ...world.deps, directory })
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(300, 5), ...users(325, 5)]))
    const { entries, open } = (await world.link(linkId)).removalWindow
    assert.deepEqual([entries.map(({ count }) => count), open], [[20], null])
  })

  it('writes a change that was reverted before it ran, because another worker may have written part of it', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    world.collections.change(collectionId, users(0, 5))
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(calls(), [`DELETE members/${user(5)}/$ref`])
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('writes a change once, also after several notifications', async () => {
    const { collectionId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 8))
    for (const _ of [1, 2, 3]) await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(calls(), ['POST ', 'PATCH '])
  })

  it('writes to every enabled link of the collection, and skips a disabled one', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    const second = await world.newGroup()
    await createLink(TENANT, { collectionId, directoryGroupId: second }, world.deps)
    await world.drain()
    await updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state: 'Disabled' }, world.deps)
    world.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 5)
    assert.equal((await world.membersOf(second)).size, 6)
  })

  it('defers removals while a member has no account, and a job makes them when all members have one', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, [...users(1, 4), user(9)], 1)
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 5), user(9)]))
    world.collections.change(collectionId, [...users(1, 4), user(9), user(10)])
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(1, 4), user(9), user(10)]))
    assert.deepEqual(
      (await world.jobsOf(collectionId)).map(({ type }) => type),
      ['ScheduledSweep', 'LinkCreated'],
    )
  })

  it('leaves a changed account of an existing member to one job, which also removes the former account', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    world.collections.exchange(collectionId, [...users(0, 4), user(20)])
    await collectionLinks(world.deps.links, world.clock.nowMs).accountsChanged(
      TENANT,
      new Map([[collectionId, world.clock.nowMs()]]),
    )
    await enqueue(collectionId)
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 4), user(20)]))
    const [job, ...others] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.added, job?.removed, others.length], ['ScheduledSweep', 1, 1, 1])
    assert.equal((await world.link(linkId)).accountsChangedAtMs, null)
  })

  it('queues another comparison when an account changes during one', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    await requestSync(TENANT, collectionId, world.deps)
    const directory = {
      ...world.deps.directory,
      listMembers: async (...args: Parameters<typeof world.directory.listMembers>) => {
        world.collections.exchange(collectionId, [...users(0, 4), user(20)])
        await collectionLinks(world.deps.links, world.clock.nowMs).accountsChanged(
          TENANT,
          new Map([[collectionId, world.clock.nowMs()]]),
        )
        await enqueue(collectionId)
        return world.directory.listMembers(...args)
      },
    }
    await world.deliverNext({ ...world.deps, directory })
    assert.notEqual((await world.link(linkId)).accountsChangedAtMs, null)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set([...users(0, 4), user(20)]))
  })

  it('leaves changes that are older than the history to one job', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 7))
    world.collections.forgetHistory(collectionId)
    await enqueue(collectionId)
    await enqueue(collectionId)
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 7)
    const [job, ...others] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, others.length], ['ScheduledSweep', 'Succeeded', 1])
  })

  it('leaves a change that the directory does not accept to a job, which retries', async () => {
    const { collectionId, groupId, linkId } = await synced(users(0, 5))
    const { appliedMembershipVersion } = await world.link(linkId)
    world.server.setFaults([{ method: 'PATCH', path: groupId, status: 503, times: 6 }])
    world.collections.change(collectionId, users(0, 7))
    await enqueue(collectionId)
    await world.deliverNext()
    assert.equal((await world.link(linkId)).appliedMembershipVersion, appliedMembershipVersion)
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 7)
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })

  it('leaves such a change to another job when one is running, which may have read the group before', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    await requestSync(TENANT, collectionId, world.deps)
    const [queued] = await world.jobsOf(collectionId)
    const running = await world.deps.jobs.find(TENANT, queued?.id ?? '')
    assert.ok(running !== undefined)
    await world.deps.jobs.replace({ ...running.value, status: 'Running' }, running.version)
    world.sentMessages.length = 0
    world.server.setFaults([{ method: 'PATCH', path: groupId, status: 503, times: 6 }])
    world.collections.change(collectionId, users(0, 7))
    await enqueue(collectionId)
    await world.deliverNext()
    const statuses = (await world.jobsOf(collectionId)).map(({ type, status }) => `${type} ${status}`)
    assert.deepEqual(statuses, ['ScheduledSweep Queued', 'ManualSync Running', 'LinkCreated Succeeded'])
  })

  it('removes no member when the directory does not know an added account, and a job reports it', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, [...users(1, 4), user(900_001)])
    await enqueue(collectionId)
    await world.drain()
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
    assert.ok(calls().every((call) => !call.startsWith('DELETE')))
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.type, job?.status, job?.removed, job?.skipped], ['ScheduledSweep', 'Succeeded', 0, 1])
    assert.deepEqual(job?.unresolved, [user(900_001)])
  })

  it('is reverted by a later job although the directory does not show it yet', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await world.drain()
    world.collections.change(collectionId, users(0, 5))
    await requestSync(TENANT, collectionId, world.deps)
    const lagging = {
      ...world.deps.directory,
      listMembers: async () => ({ users: users(0, 5), others: [] }),
    }
    await world.drain({ ...world.deps, directory: lagging })
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 5)))
  })

  it('is not reverted by a job that reads an outdated membership', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    await enqueue(collectionId)
    await world.drain()
    await requestSync(TENANT, collectionId, world.deps)
    const stale = {
      ...world.deps.collections,
      findAccounts: async () => ({
        accounts: new Set(users(0, 5)),
        withoutAccountCount: 0,
        membershipVersion: 1,
        isCurrent: true,
      }),
    }
    await world.deliverNext({ ...world.deps, collections: stale })
    assert.equal((await world.membersOf(groupId)).size, 6)
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Queued')
    await world.drain()
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })

  it('does not decide on members of a former condition: the job waits for the evaluation', async () => {
    const { collectionId, groupId } = await synced(users(0, 5))
    world.collections.change(collectionId, users(0, 6))
    await requestSync(TENANT, collectionId, world.deps)
    const former = async () => ({
      ...(await world.deps.collections.accountsOf(TENANT, collectionId)),
      isCurrent: false,
    })
    await world.deliverNext({ ...world.deps, collections: { ...world.deps.collections, findAccounts: former } })
    assert.equal((await world.membersOf(groupId)).size, 5)
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Queued')
    await world.drain()
    assert.equal((await world.membersOf(groupId)).size, 6)
    assert.equal((await world.jobsOf(collectionId))[0]?.status, 'Succeeded')
  })
})
