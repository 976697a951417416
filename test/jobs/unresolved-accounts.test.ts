import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readLinkDto, requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('Source data that name something other than a user as an account', () => {
  const lastJob = async (collectionId: string) => {
    const [job] = await fixture.jobsOf(collectionId)
    return [job?.status, job?.added, job?.removed, job?.skipped, job?.unresolved]
  }

  /** The dependencies of a worker, and the accounts that it asks the directory to add. */
  const recordingAdditions = () => {
    const { directory } = fixture.deps
    const added: string[] = []
    const addMembers = (...args: Parameters<typeof directory.addMembers>) => {
      added.push(...args[2])
      return directory.addMembers(...args)
    }
    return { deps: { ...fixture.deps, directory: { ...directory, addMembers } }, added }
  }

  async function syncedAgain(collectionId: string) {
    await requestSync(TENANT, collectionId, fixture.deps)
    await fixture.drain()
    return lastJob(collectionId)
  }

  it('do not nest a group, not for a moment: the job succeeds and removes no user', async () => {
    const nested = await fixture.newGroup({}, users(50, 3))
    const { collectionId, groupId } = await fixture.linked([...users(0, 5), nested], users(60, 2))
    const { deps, added } = recordingAdditions()
    await fixture.drain(deps)
    assert.deepEqual(added, users(0, 5))
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 5), ...users(60, 2)]))
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [nested]])
  })

  for (const [claim, batchMs] of [
    ['in one batch', fixture.deps.batchMs],
    ['in many batches', 0],
  ] as const) {
    it(`keep no user out when they are more than a thousand: the job adds users ${claim}, removes none and fails`, async () => {
      const unknown = users(0, 1_100).map((id) => id.replace('-4000-', '-1000-'))
      const { collectionId, groupId } = await fixture.linked([...unknown, ...users(1_500, 300)], users(1_900, 3))
      await fixture.drain({ ...fixture.deps, batchMs })
      assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(1_500, 300), ...users(1_900, 3)]))
      assert.deepEqual(await lastJob(collectionId), ['Failed', 300, 0, 1_100, []])
      assert.match((await fixture.jobsOf(collectionId))[0]?.error ?? '', /-000000000004 and 1095 more\.$/)
    })
  }

  it('remove users again once they are corrected', async () => {
    const nested = await fixture.newGroup()
    const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), nested], users(60, 2))
    fixture.collections.exchange(collectionId, users(0, 5))
    assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 0, 2, 0, []])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
  })

  it('never take out a group that was nested before', async () => {
    const theirs = await fixture.newGroup()
    const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), theirs], [theirs])
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [theirs]])
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 5), theirs]))
  })

  it('do not nest a group by an incremental sync, not for a moment: a job reports it', async () => {
    const nested = await fixture.newGroup()
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
    fixture.collections.change(collectionId, [...users(0, 6), nested])
    await notifyOfMembershipChange(fixture, collectionId)
    const { deps, added } = recordingAdditions()
    await fixture.drain(deps)
    assert.deepEqual(added, users(5, 1))
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 1, 0, 1, [nested]])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 6)))
  })

  describe('do not take out a nested group by an incremental sync', () => {
    const withNested = async (accounts: readonly string[], nested: string) => {
      const linked = await syncedLink(fixture, accounts, [nested])
      return { ...linked, expected: new Set([...users(0, 5), nested]) }
    }

    it('when the member leaves', async () => {
      const nested = await fixture.newGroup({}, users(50, 3))
      const { collectionId, groupId, expected } = await withNested([...users(0, 5), nested], nested)
      fixture.collections.change(collectionId, users(0, 5))
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), expected)
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 0, 0, 0, []])
    })

    it('when the member comes and leaves before either is written', async () => {
      const nested = await fixture.newGroup({}, users(50, 3))
      const { collectionId, groupId, expected } = await withNested(users(0, 5), nested)
      fixture.collections.change(collectionId, [...users(0, 5), nested])
      fixture.collections.change(collectionId, users(0, 5))
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), expected)
    })

    it('while the directory cannot say what the account is', async () => {
      const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
      const member = { '@odata.id': `${fixture.server.url}/v1.0/directoryObjects/${user(70)}` }
      await fixture.asTester({ method: 'POST', path: `/groups/${groupId}/members/$ref`, body: member })
      fixture.server.setFaults([{ method: 'POST', path: 'getByIds', status: 403, times: 1 }])
      fixture.collections.change(collectionId, [...users(0, 5), user(70)])
      fixture.collections.change(collectionId, users(0, 5))
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.deliverNext()
      assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 5), user(70)]))
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    })
  })

  it('are not added while the directory cannot say whether they are users', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
    fixture.server.setFaults([{ method: 'POST', path: 'getByIds', status: 403, times: 2 }])
    fixture.collections.change(collectionId, users(100, 5))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.deliverNext()
    await fixture.deliverNext()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(100, 5)))
  })

  it('cost one call of the directory for a thousand new accounts, and none for known ones', async () => {
    const asked = () => fixture.server.requests().filter(({ path }) => path.includes('getByIds')).length
    fixture.server.clearRequests()
    const [first, second] = [await fixture.linked(users(200, 2_001)), await fixture.linked(users(200, 2_001))]
    await fixture.drain()
    for (const { groupId } of [first, second]) assert.equal((await fixture.membersOf(groupId)).size, 2_001)
    assert.equal(asked(), 3)
  })

  it('never add a group to itself, by a job or by an incremental sync', async () => {
    const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
    fixture.collections.change(collectionId, [...users(0, 6), groupId])
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    assert.deepEqual(await lastJob(collectionId), ['Succeeded', 1, 0, 1, [groupId]])
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 6)))
  })

  describe('of a service principal, which member lists leave out,', () => {
    const principal = 'cccccccc-0000-4000-8000-000000000002'
    const principalsIn = async (groupId: string) => {
      const path = `/groups/${groupId}/members/microsoft.graph.servicePrincipal?$select=id`
      const { body } = await fixture.asTester({ method: 'GET', path })
      return (body as { value: { id: string }[] }).value.map(({ id }) => id)
    }

    it('are not added, by the first job or a later one', async () => {
      const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), principal], users(60, 2))
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [principal]])
      assert.deepEqual([await principalsIn(groupId), (await fixture.membersOf(groupId)).size], [[], 7])
      fixture.server.clearRequests()
      assert.deepEqual(await syncedAgain(collectionId), ['Succeeded', 0, 0, 1, [principal]])
      assert.deepEqual(
        fixture.server.requests().map(({ method }) => method),
        ['GET', 'GET', 'POST'],
      )
    })

    it('are not added by an incremental sync', async () => {
      const { collectionId, groupId } = await syncedLink(fixture, users(0, 5))
      fixture.collections.change(collectionId, [...users(0, 5), principal])
      await notifyOfMembershipChange(fixture, collectionId)
      await fixture.drain()
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 0, 0, 1, [principal]])
      assert.deepEqual(await principalsIn(groupId), [])
    })

    it('stay in a group where somebody else has put them', async () => {
      const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), principal], [principal])
      assert.deepEqual(await lastJob(collectionId), ['Succeeded', 5, 0, 1, [principal]])
      assert.deepEqual(await principalsIn(groupId), [principal])
    })
  })

  it('defer the removals of incremental syncs while such an account is in the collection', async () => {
    const unknown = user(900_001)
    const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), unknown])
    fixture.collections.change(collectionId, [...users(0, 4), unknown])
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 5)))
    fixture.collections.change(collectionId, users(0, 4))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 4)))
  })

  it('keep nobody in the group once they have left, also while another member has no account', async () => {
    const unknown = user(900_001)
    const { collectionId, groupId, linkId } = await syncedLink(fixture, [...users(0, 5), unknown])
    fixture.collections.change(collectionId, users(0, 5), 1)
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    const { pausedBy } = await readLinkDto(await fixture.link(linkId), fixture.deps)
    assert.deepEqual(pausedBy, { reason: 'MembersWithoutAccount', count: 1, members: [] })
    fixture.collections.change(collectionId, users(0, 4))
    await notifyOfMembershipChange(fixture, collectionId)
    await fixture.drain()
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 4)))
    assert.equal((await readLinkDto(await fixture.link(linkId), fixture.deps)).syncState, 'InSync')
  })

  it('are counted in a preview when the last job has found them', async () => {
    const unknown = user(900_001)
    const { collectionId, groupId } = await syncedLink(fixture, [...users(0, 5), unknown])
    const preview = await previewLink(TENANT, { collectionId, groupId }, fixture.deps)
    assert.deepEqual(preview, {
      membersToAdd: [],
      membersToRemove: [],
      membersWithoutEntraAccount: 1,
      groupMemberCount: 5,
    })
  })

  it('are members like others in a preview once they are users of the group', async () => {
    const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 5))
    const found = await fixture.deps.links.find(TENANT, linkId)
    if (found === undefined) throw new Error('The link is gone')
    // The last job could not add the account. Another client has added it since.
    await fixture.deps.links.replace({ ...found.value, unresolved: [user(4)], skippedCount: 1 }, found.version)
    const preview = await previewLink(TENANT, { collectionId, groupId }, fixture.deps)
    assert.deepEqual(preview, {
      membersToAdd: [],
      membersToRemove: [],
      membersWithoutEntraAccount: 0,
      groupMemberCount: 5,
    })
  })

  it('are counted in a preview, and not added, once the group is nested', async () => {
    const nested = await fixture.newGroup()
    const collectionId = fixture.collections.make([...users(0, 2), nested])
    const groupId = await fixture.newGroup({}, [nested, ...users(1, 1)])
    const preview = await previewLink(TENANT, { collectionId, groupId }, fixture.deps)
    assert.deepEqual(preview, {
      membersToAdd: users(0, 1),
      membersToRemove: [],
      membersWithoutEntraAccount: 1,
      groupMemberCount: 1,
    })
  })
})
