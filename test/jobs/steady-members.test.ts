import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { type AccountWorld, gone, identity, openAccountWorld, position } from '../support/jobs/account-world.ts'
import { SERVICE, TENANT, user } from '../support/jobs/link-directory.ts'

describe('An account that belongs to a group all the time', () => {
  let world: AccountWorld
  before(async () => {
    world = await openAccountWorld({ databaseSharesClock: true })
  })
  after(() => world.close())

  const removalsOf = (account: string) =>
    world.server
      .membershipChanges(0)
      .filter(({ kind, clientId, memberId }) => kind === 'removed' && clientId === SERVICE && memberId === account)

  it('stays when the position ends that was recorded with a direct membership, in the instance that has seen it', async () => {
    const [account, source] = [user(1), await world.newSource()]
    await world.write(source, identity('Ann', { directoryObjectId: account }), position('Nurse', 'Ann'))
    const choir = await world.joinable([await world.coreIdOf(source, 'identity', 'Ann')])
    const groupId = await world.linkedGroup(await world.criteria('Identity', 'memberOfCollection', choir))
    const { evaluator, links } = world.newService()
    await evaluator.evaluate(TENANT)
    await world.write(source, gone('relationship', 'Nurse'))
    for (const pause of [0, 3_600_000]) {
      await world.clock.sleep(pause)
      await evaluator.evaluate(TENANT)
      await world.drain(links)
    }
    assert.deepEqual(await world.membersOf(groupId), new Set([account]))
    assert.deepEqual(removalsOf(account), [])
  })

  it('takes the place of the former one when it changes while an earlier job waits', async () => {
    const [former, account, source] = [user(2), user(3), await world.newSource()]
    await world.write(source, identity('Bo', { displayName: 'Bo', directoryObjectId: former }))
    const collectionId = await world.criteria('Identity', 'identityDisplayName', 'Bo')
    const groupId = await world.linkedGroup(collectionId)
    const [evaluating, working] = [world.newService(), world.newService()]
    await working.evaluator.evaluate(TENANT)
    await requestSync(TENANT, collectionId, working.links)
    await world.write(source, identity('Bo', { displayName: 'Bo', directoryObjectId: account }))
    await evaluating.evaluator.evaluate(TENANT)
    await world.drain(working.links)
    assert.deepEqual(await world.membersOf(groupId), new Set([account]))
    assert.deepEqual(removalsOf(account), [])
  })
})
