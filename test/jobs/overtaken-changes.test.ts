import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import type { JoinedMembers } from '../../shared/domain/collections/membership-store.ts'
import { type AccountWorld, identity, openAccountWorld } from './account-world.ts'
import { user, users } from './link-directory.ts'

let world: AccountWorld
before(async () => {
  world = await openAccountWorld()
})
after(() => world.close())

/** A choir of Ann that is linked to a group, and the ids of Ann, Bo and Cy, whose accounts are the first three. */
async function linkedChoir() {
  const source = await world.newSource()
  const names = ['Ann', 'Bo', 'Cy']
  await world.write(source, ...names.map((name, index) => identity(name, { directoryObjectId: user(index) })))
  const [ann = '', bo = '', cy = ''] = await Promise.all(names.map((name) => world.coreIdOf(source, 'identity', name)))
  const collectionId = await world.joinable([ann])
  return { collectionId, groupId: await world.linkedGroup(collectionId), ann, bo, cy }
}

/** Lets something happen once, right after the history of changes was read. */
function afterHistory(happen: () => Promise<void>): JoinedMembers {
  const joined = cosmosJoinedMembers(world.container('requests'))
  let hasHappened = false
  return {
    ...joined,
    async changesAfter(...asked) {
      const changes = await joined.changesAfter(...asked)
      if (!hasHappened) {
        hasHappened = true
        await happen()
      }
      return changes
    },
  }
}

describe('A change of members while an earlier one is written to the group', () => {
  it('is written as well when somebody joins', async () => {
    const { collectionId, groupId, bo, cy } = await linkedChoir()
    const { requests } = world.coldProcess()
    await world.join(collectionId, [bo], requests)
    const joined = afterHistory(() => world.join(collectionId, [cy], requests))
    await world.drain(world.coldProcess(joined).sync)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 3)))
  })

  it('is written as well when the one who has just joined leaves again', async () => {
    const { collectionId, groupId, bo } = await linkedChoir()
    await world.join(collectionId, [bo], world.coldProcess().requests)
    const joined = afterHistory(() => world.leave(collectionId, [bo]))
    await world.drain(world.coldProcess(joined).sync)
    assert.deepEqual(await world.membersOf(groupId), new Set(users(0, 1)))
  })
})
