import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cosmosJoinedMembers } from '../../shared/cosmos/requests/joined-member-store.ts'
import type { JoinedMembers } from '../../shared/domain/collections/membership-store.ts'
import { type AccountWorld, identity, openAccountWorld } from '../support/jobs/account-world.ts'
import { user, users } from '../support/jobs/link-directory.ts'

let world: AccountWorld
before(async () => {
  world = await openAccountWorld()
})
after(() => world.close())

/** A linked collection with the member Ann, and the ids of Ann, Bo and Cy, who have the first three accounts. */
async function linkedCollection() {
  const source = await world.newSource()
  const names = ['Ann', 'Bo', 'Cy']
  await world.write(source, ...names.map((name, index) => identity(name, { directoryObjectId: user(index) })))
  const [ann = '', bo = '', cy = ''] = await Promise.all(names.map((name) => world.coreIdOf(source, 'identity', name)))
  const collectionId = await world.joinable([ann])
  return { collectionId, groupId: await world.linkedGroup(collectionId), ann, bo, cy }
}

/** Calls a function once, right after the history of changes was read. */
function afterHistory(call: () => Promise<void>): JoinedMembers {
  const joined = cosmosJoinedMembers(world.container('requests'), world.clock.nowMs)
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
    const { requests } = world.coldProcess()
    await world.join(collectionId, [bo], requests)
    const joined = afterHistory(() => world.join(collectionId, [cy], requests))
    await world.drain(world.coldProcess(joined).sync)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 3)))
  })

  it('is written when the member who has just joined leaves', async () => {
    const { collectionId, groupId, bo } = await linkedCollection()
    await world.join(collectionId, [bo], world.coldProcess().requests)
    const joined = afterHistory(() => world.leave(collectionId, [bo]))
    await world.drain(world.coldProcess(joined).sync)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 1)))
  })
})
