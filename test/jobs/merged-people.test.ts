import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Overrides } from '../../functions/app/service.ts'
import { type AccountWorld, gone, identity, openAccountWorld, position } from './account-world.ts'
import { TENANT, users } from './link-directory.ts'

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
