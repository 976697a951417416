import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cosmosJoinedMembers } from '../../shared/cosmos/requests/joined-member-store.ts'
import type { JoinedMembers } from '../../shared/domain/collections/membership-store.ts'
import { type AccountFixture, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { user, users } from '../support/jobs/link-directory.ts'

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

/** A linked collection with the member Ann, and the ids of Ann, Bo and Cy, who have the first three accounts. */
async function linkedCollection() {
  const source = await fixture.newSource()
  const names = ['Ann', 'Bo', 'Cy']
  await fixture.write(source, ...names.map((name, index) => identity(name, { directoryObjectId: user(index) })))
  const [ann = '', bo = '', cy = ''] = await Promise.all(
    names.map((name) => fixture.coreIdOf(source, 'identity', name)),
  )
  const collectionId = await fixture.joinable([ann])
  return { collectionId, groupId: await fixture.linkedGroup(collectionId), ann, bo, cy }
}

/** Calls a function once, right after the history of changes was read. */
function afterHistory(call: () => Promise<void>): JoinedMembers {
  const joined = cosmosJoinedMembers(fixture.container('requests'), fixture.clock.nowMs)
  let wasCalled = false
  return {
    ...joined,
    async changesAfter(...args) {
      const changes = await joined.changesAfter(...args)
      if (!wasCalled) {
        wasCalled = true
        await call()
      }
      return changes
    },
  }
}

describe('A membership change during an incremental sync', () => {
  it('is written when another member joins', async () => {
    const { collectionId, groupId, bo, cy } = await linkedCollection()
    const { requests } = fixture.coldProcess()
    await fixture.join(collectionId, [bo], requests)
    const joined = afterHistory(() => fixture.join(collectionId, [cy], requests))
    await fixture.drain(fixture.coldProcess(joined).sync)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 3)))
  })

  it('is written when the member who has just joined leaves', async () => {
    const { collectionId, groupId, bo } = await linkedCollection()
    await fixture.join(collectionId, [bo], fixture.coldProcess().requests)
    const joined = afterHistory(() => fixture.leave(collectionId, [bo]))
    await fixture.drain(fixture.coldProcess(joined).sync)
    assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 1)))
  })
})
