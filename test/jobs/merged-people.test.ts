import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Overrides } from '../../functions/app/service.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

type Write = ReturnType<typeof identity>

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

let accountCount = 0
const newAccount = (): string => {
  accountCount += 1
  return users(accountCount - 1, 1)[0] as string
}

describe('The groups of a person whose two identities become one', () => {
  for (const isInterrupted of [false, true]) {
    it(`keep the account all the time${isInterrupted ? ', with a sync after every write' : ''}`, async () => {
      const [hr, directory] = [await fixture.newSource(), await fixture.newSource()]
      const account = newAccount()
      const name = `Ada ${account}`
      await fixture.write(hr, identity('ada', { displayName: name }))
      await fixture.write(directory, identity('ada', { directoryObjectId: account, email: name, nin: account }))
      const mergedAway = await fixture.coreIdOf(directory, 'identity', 'ada')
      await fixture.write(directory, position('job', 'ada', { title: name }))
      const collections = [
        await fixture.joinable([mergedAway]),
        await fixture.criteria('Identity', 'identityEmail', name),
        await fixture.criteria('Identity', 'identityId', mergedAway),
        await fixture.criteria('Relationship', 'relationshipIdentity', mergedAway),
        await fixture.criteria('Relationship', 'identityEmail', name),
      ]
      const groups = await Promise.all(collections.map((id) => fixture.linkedGroup(id)))
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [account])
      fixture.server.clearRequests()
      const merging = identity('ada', { displayName: name, nin: account })
      if (isInterrupted) await fixture.writeThrough(stoppingProcess(), hr, merging)
      else await fixture.write(hr, merging)
      await fixture.followed()
      const remaining = await fixture.coreIdOf(hr, 'identity', 'ada')
      assert.notEqual(remaining, mergedAway)
      assert.equal(await fixture.coreIdOf(directory, 'identity', 'ada'), remaining)
      assert.equal(fixture.removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [account])
      await fixture.write(hr, gone('identity', 'ada'))
      await fixture.write(directory, gone('identity', 'ada'))
      await fixture.followed()
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [])
    })
  }

  /** A process that pauses after each write of core objects, while another one evaluates and syncs. */
  function stoppingProcess() {
    const { connectors } = fixture.coldProcess(undefined, {} satisfies Overrides)
    const write: typeof connectors.coreObjects.write = async (tenantId, writes, days) => {
      const conflicts = await connectors.coreObjects.write(tenantId, writes, days)
      if (writes.length > 0) await fixture.followed()
      return conflicts
    }
    return { connectors: { ...connectors, coreObjects: { ...connectors.coreObjects, write } } }
  }

  it('lose an account that the person no longer has', async () => {
    const [hr, directory] = [await fixture.newSource(), await fixture.newSource()]
    const [kept, lost] = [newAccount(), newAccount()]
    await fixture.write(hr, identity('bo', { directoryObjectId: kept }))
    await fixture.write(directory, identity('bo', { directoryObjectId: lost, nin: lost }))
    const mergedAway = await fixture.coreIdOf(directory, 'identity', 'bo')
    const group = await fixture.linkedGroup(await fixture.joinable([mergedAway]))
    assert.deepEqual([...(await fixture.membersOf(group))], [lost])
    await fixture.write(hr, identity('bo', { directoryObjectId: kept, nin: lost }))
    await fixture.followed()
    assert.deepEqual([...(await fixture.membersOf(group))], [kept])
    assert.equal((await fixture.coldProcess().requests.requests.liveOf(TENANT, mergedAway)).length, 0)
  })
})

describe('The groups of a person who is deleted', () => {
  it('do not get the account of another one that was the same person before', async () => {
    const [hr, cards] = [await fixture.newSource(), await fixture.newSource()]
    const [account, other] = [newAccount(), newAccount()]
    await fixture.write(hr, identity('di', { directoryObjectId: account, nin: account }))
    await fixture.write(cards, identity('di', { nin: account }))
    const group = await fixture.linkedGroup(await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'di')]))
    const another = { directoryObjectId: other, nin: other }
    await fixture.write(cards, identity('di', another))
    await fixture.followed()
    assert.deepEqual([...(await fixture.membersOf(group))], [account])
    await fixture.write(hr, gone('identity', 'di'))
    await fixture.followed()
    await fixture.write(cards, identity('di', { ...another, displayName: 'Di' }))
    await fixture.followed()
    assert.deepEqual([...(await fixture.membersOf(group))], [])
  })
})

describe('The groups of a person whose HR system gives a new external id', () => {
  const cases = {
    'with the deletion first': (old: Write, renamed: Write) => [[gone('identity', old.externalId), renamed]],
    'with the deletion last': (old: Write, renamed: Write) => [[renamed, gone('identity', old.externalId)]],
    'in two batches': (old: Write, renamed: Write) => [[renamed], [gone('identity', old.externalId)]],
  }
  const all = Object.entries(cases).flatMap(([order, batches]) => [
    [order, batches, false] as const,
    [`${order}, in a tenant without another source`, batches, true] as const,
  ])
  for (const [order, batches, isOnly] of all) {
    it(`keep the account all the time, ${order}`, async () => {
      const write = isOnly ? fixture.writeAsOnly : fixture.write
      const hr = await fixture.newSource()
      const account = newAccount()
      const data = { displayName: `Cy ${account}`, directoryObjectId: account, nin: account }
      const old = identity('cy', data)
      await fixture.write(hr, old)
      const coreId = await fixture.coreIdOf(hr, 'identity', 'cy')
      const collections = [await fixture.joinable([coreId]), await fixture.criteria('Identity', 'identityId', coreId)]
      const groups = await Promise.all(collections.map((id) => fixture.linkedGroup(id)))
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [account])
      fixture.server.clearRequests()
      for (const batch of batches(old, identity('renamed cy', data))) {
        await write(hr, ...batch)
        await fixture.followed()
      }
      assert.equal(await fixture.coreIdOf(hr, 'identity', 'renamed cy'), coreId)
      assert.equal(fixture.removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [account])
    })
  }

  it('have the account again when the new id comes a batch after the deletion of the old one', async () => {
    const hr = await fixture.newSource()
    const account = newAccount()
    const data = { displayName: `Di ${account}`, directoryObjectId: account, nin: account }
    await fixture.write(hr, identity('di', data))
    const coreId = await fixture.coreIdOf(hr, 'identity', 'di')
    const group = await fixture.linkedGroup(await fixture.joinable([coreId]))
    await fixture.write(hr, gone('identity', 'di'))
    await fixture.followed()
    assert.deepEqual([...(await fixture.membersOf(group))], [])
    await fixture.write(hr, identity('renamed di', data))
    await fixture.followed()
    assert.equal(await fixture.coreIdOf(hr, 'identity', 'renamed di'), coreId)
    assert.deepEqual([...(await fixture.membersOf(group))], [account])
  })

  for (const hasDirectory of [false, true]) {
    it(`keep both people's memberships when the younger record goes${hasDirectory ? ', with another source' : ''}`, async () => {
      const [hr, directory] = [await fixture.newSource(), await fixture.newSource()]
      const account = newAccount()
      const data = { nin: account, ...(!hasDirectory && { directoryObjectId: account }) }
      await fixture.write(hr, identity('fay', data))
      if (hasDirectory) await fixture.write(directory, identity('fay', { nin: account, directoryObjectId: account }))
      const first = await fixture.coreIdOf(hr, 'identity', 'fay')
      await fixture.clock.sleep(1)
      await fixture.write(hr, identity('young fay', data))
      const second = await fixture.coreIdOf(hr, 'identity', 'young fay')
      assert.notEqual(second, first)
      const groups = await Promise.all(
        [first, second].map(async (id) => fixture.linkedGroup(await fixture.joinable([id]))),
      )
      fixture.server.clearRequests()
      await fixture.write(hr, gone('identity', 'young fay'))
      await fixture.followed()
      assert.equal(fixture.removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await fixture.membersOf(group))], [account])
      assert.equal((await fixture.coldProcess().requests.requests.liveOf(TENANT, second)).length, 0)
      assert.equal((await fixture.coldProcess().requests.requests.liveOf(TENANT, first)).length, 2)
    })
  }

  it('lose it when two others of the HR system have its key', async () => {
    const hr = await fixture.newSource()
    const account = newAccount()
    const data = { displayName: 'Ed', nin: account }
    await fixture.write(hr, identity('ed', { ...data, directoryObjectId: account }))
    const coreId = await fixture.coreIdOf(hr, 'identity', 'ed')
    const group = await fixture.linkedGroup(await fixture.joinable([coreId]))
    await fixture.write(hr, identity('one ed', data), identity('another ed', data))
    await fixture.write(hr, gone('identity', 'ed'))
    await fixture.followed()
    assert.deepEqual([...(await fixture.membersOf(group))], [])
    assert.notEqual(await fixture.coreIdOf(hr, 'identity', 'one ed'), coreId)
    assert.notEqual(await fixture.coreIdOf(hr, 'identity', 'another ed'), coreId)
  })
})
