import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { SERVICE, TENANT, user } from '../support/jobs/link-directory.ts'

describe('An account that belongs to a group all the time', () => {
  let fixture: AccountFixture
  before(async () => {
    fixture = await openAccountFixture({ databaseSharesClock: true })
  })
  after(() => fixture.close())

  const removalsOf = (account: string) =>
    fixture.server
      .membershipChanges(0)
      .filter(({ kind, clientId, memberId }) => kind === 'removed' && clientId === SERVICE && memberId === account)

  it('stays when the position ends that was recorded with a direct membership, in the instance that has seen it', async () => {
    const [account, source] = [user(1), await fixture.newSource()]
    await fixture.write(source, identity('Ann', { directoryObjectId: account }), position('Nurse', 'Ann'))
    const choir = await fixture.joinable([await fixture.coreIdOf(source, 'identity', 'Ann')])
    const groupId = await fixture.linkedGroup(await fixture.criteria('Identity', 'memberOfCollection', choir))
    const { evaluator, links } = fixture.newService()
    await evaluator.evaluate(TENANT)
    await fixture.write(source, gone('relationship', 'Nurse'))
    for (const pause of [0, 3_600_000]) {
      await fixture.clock.sleep(pause)
      await evaluator.evaluate(TENANT)
      await fixture.drain(links)
    }
    assert.deepEqual(await fixture.membersOf(groupId), new Set([account]))
    assert.deepEqual(removalsOf(account), [])
  })

  it('takes the place of the former one when it changes while an earlier job waits', async () => {
    const [former, account, source] = [user(2), user(3), await fixture.newSource()]
    await fixture.write(source, identity('Bo', { displayName: 'Bo', directoryObjectId: former }))
    const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Bo')
    const groupId = await fixture.linkedGroup(collectionId)
    const [evaluating, working] = [fixture.newService(), fixture.newService()]
    await working.evaluator.evaluate(TENANT)
    await requestSync(TENANT, collectionId, working.links)
    await fixture.write(source, identity('Bo', { displayName: 'Bo', directoryObjectId: account }))
    await evaluating.evaluator.evaluate(TENANT)
    await fixture.drain(working.links)
    assert.deepEqual(await fixture.membersOf(groupId), new Set([account]))
    assert.deepEqual(removalsOf(account), [])
  })
})
