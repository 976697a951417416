import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Overrides } from '../../functions/app/service.ts'
import { type AccountWorld, gone, identity, openAccountWorld, position } from '../support/jobs/account-world.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

type Write = ReturnType<typeof identity>

let world: AccountWorld
before(async () => {
  world = await openAccountWorld()
})
after(() => world.close())

let accountCount = 0
const newAccount = (): string => {
  accountCount += 1
  return users(accountCount - 1, 1)[0] as string
}

/** The removals that were sent to the directory since the last call of `clearRequests`. */
const removalsSent = (): number =>
  world.server
    .requests()
    .flatMap((request) => [request, ...(request.batch ?? [])])
    .filter(({ method, path }) => method === 'DELETE' && path.includes('/members/')).length

describe('The groups of a person whose two identities become one', () => {
  for (const isInterrupted of [false, true]) {
    it(`keep the account all the time${isInterrupted ? ', with a sync after every write' : ''}`, async () => {
      const [hr, directory] = [await world.newSource(), await world.newSource()]
      const account = newAccount()
      const name = `Ada ${account}`
      await world.write(hr, identity('ada', { displayName: name }))
      await world.write(directory, identity('ada', { directoryObjectId: account, email: name, nin: account }))
      const mergedAway = await world.coreIdOf(directory, 'identity', 'ada')
      await world.write(directory, position('job', 'ada', { title: name }))
      const collections = [
        await world.joinable([mergedAway]),
        await world.criteria('Identity', 'identityEmail', name),
        await world.criteria('Identity', 'identityId', mergedAway),
        await world.criteria('Relationship', 'relationshipIdentity', mergedAway),
        await world.criteria('Relationship', 'identityEmail', name),
      ]
      const groups = await Promise.all(collections.map((id) => world.linkedGroup(id)))
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [account])
      world.server.clearRequests()
      const merging = identity('ada', { displayName: name, nin: account })
      if (isInterrupted) await world.writeThrough(stoppingProcess(), hr, merging)
      else await world.write(hr, merging)
      await world.followed()
      const remaining = await world.coreIdOf(hr, 'identity', 'ada')
      assert.notEqual(remaining, mergedAway)
      assert.equal(await world.coreIdOf(directory, 'identity', 'ada'), remaining)
      assert.equal(removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [account])
      await world.write(hr, gone('identity', 'ada'))
      await world.write(directory, gone('identity', 'ada'))
      await world.followed()
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [])
    })
  }

  /** A process that pauses after each write of core objects, while another one evaluates and syncs. */
  function stoppingProcess() {
    const { connectors } = world.coldProcess(undefined, {} satisfies Overrides)
    const write: typeof connectors.coreObjects.write = async (tenantId, writes, days) => {
      const conflicts = await connectors.coreObjects.write(tenantId, writes, days)
      if (writes.length > 0) await world.followed()
      return conflicts
    }
    return { connectors: { ...connectors, coreObjects: { ...connectors.coreObjects, write } } }
  }

  it('lose an account that the person no longer has', async () => {
    const [hr, directory] = [await world.newSource(), await world.newSource()]
    const [kept, lost] = [newAccount(), newAccount()]
    await world.write(hr, identity('bo', { directoryObjectId: kept }))
    await world.write(directory, identity('bo', { directoryObjectId: lost, nin: lost }))
    const mergedAway = await world.coreIdOf(directory, 'identity', 'bo')
    const group = await world.linkedGroup(await world.joinable([mergedAway]))
    assert.deepEqual([...(await world.membersOf(group))], [lost])
    await world.write(hr, identity('bo', { directoryObjectId: kept, nin: lost }))
    await world.followed()
    assert.deepEqual([...(await world.membersOf(group))], [kept])
    assert.equal((await world.coldProcess().requests.requests.liveOf(TENANT, mergedAway)).length, 0)
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
      const write = isOnly ? world.writeAsOnly : world.write
      const hr = await world.newSource()
      const account = newAccount()
      const data = { displayName: `Cy ${account}`, directoryObjectId: account, nin: account }
      const old = identity('cy', data)
      await world.write(hr, old)
      const coreId = await world.coreIdOf(hr, 'identity', 'cy')
      const collections = [await world.joinable([coreId]), await world.criteria('Identity', 'identityId', coreId)]
      const groups = await Promise.all(collections.map((id) => world.linkedGroup(id)))
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [account])
      world.server.clearRequests()
      for (const batch of batches(old, identity('renamed cy', data))) {
        await write(hr, ...batch)
        await world.followed()
      }
      assert.equal(await world.coreIdOf(hr, 'identity', 'renamed cy'), coreId)
      assert.equal(removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [account])
    })
  }

  it('have the account again when the new id comes a batch after the deletion of the old one', async () => {
    const hr = await world.newSource()
    const account = newAccount()
    const data = { displayName: `Di ${account}`, directoryObjectId: account, nin: account }
    await world.write(hr, identity('di', data))
    const coreId = await world.coreIdOf(hr, 'identity', 'di')
    const group = await world.linkedGroup(await world.joinable([coreId]))
    await world.write(hr, gone('identity', 'di'))
    await world.followed()
    assert.deepEqual([...(await world.membersOf(group))], [])
    await world.write(hr, identity('renamed di', data))
    await world.followed()
    assert.equal(await world.coreIdOf(hr, 'identity', 'renamed di'), coreId)
    assert.deepEqual([...(await world.membersOf(group))], [account])
  })

  for (const hasDirectory of [false, true]) {
    it(`keep both people's memberships when the younger record goes${hasDirectory ? ', with another source' : ''}`, async () => {
      const [hr, directory] = [await world.newSource(), await world.newSource()]
      const account = newAccount()
      const data = { nin: account, ...(!hasDirectory && { directoryObjectId: account }) }
      await world.write(hr, identity('fay', data))
      if (hasDirectory) await world.write(directory, identity('fay', { nin: account, directoryObjectId: account }))
      const first = await world.coreIdOf(hr, 'identity', 'fay')
      await world.clock.sleep(1)
      await world.write(hr, identity('young fay', data))
      const second = await world.coreIdOf(hr, 'identity', 'young fay')
      assert.notEqual(second, first)
      const groups = await Promise.all([first, second].map(async (id) => world.linkedGroup(await world.joinable([id]))))
      world.server.clearRequests()
      await world.write(hr, gone('identity', 'young fay'))
      await world.followed()
      assert.equal(removalsSent(), 0)
      for (const group of groups) assert.deepEqual([...(await world.membersOf(group))], [account])
      assert.equal((await world.coldProcess().requests.requests.liveOf(TENANT, second)).length, 0)
      assert.equal((await world.coldProcess().requests.requests.liveOf(TENANT, first)).length, 2)
    })
  }

  it('lose it when two others of the HR system have its key', async () => {
    const hr = await world.newSource()
    const account = newAccount()
    const data = { displayName: 'Ed', nin: account }
    await world.write(hr, identity('ed', { ...data, directoryObjectId: account }))
    const coreId = await world.coreIdOf(hr, 'identity', 'ed')
    const group = await world.linkedGroup(await world.joinable([coreId]))
    await world.write(hr, identity('one ed', data), identity('another ed', data))
    await world.write(hr, gone('identity', 'ed'))
    await world.followed()
    assert.deepEqual([...(await world.membersOf(group))], [])
    assert.notEqual(await world.coreIdOf(hr, 'identity', 'one ed'), coreId)
    assert.notEqual(await world.coreIdOf(hr, 'identity', 'another ed'), coreId)
  })
})
