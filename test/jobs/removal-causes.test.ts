import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { type AccountWorld, CALLER, identity, openAccountWorld } from '../support/jobs/account-world.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { setLinkSettings } from '../support/jobs/link-world.ts'

describe('The cause of held removals', () => {
  let world: AccountWorld
  before(async () => {
    world = await openAccountWorld({ isGuarded: true })
    await setLinkSettings(world.deps, { removalGuard: { percent: 1, minimum: 0 } })
  })
  after(() => world.close())

  /** Three people with accounts, by a common name. */
  async function people(name: string, firstAccount: number) {
    const source = await world.newSource()
    const accounts = users(firstAccount, 3)
    await world.write(
      source,
      ...accounts.map((directoryObjectId) => identity(directoryObjectId, { displayName: name, directoryObjectId })),
    )
    const ids = await Promise.all(accounts.map((account) => world.coreIdOf(source, 'identity', account)))
    return { source, accounts, ids }
  }

  const heldOf = async (collectionId: string) => {
    const [link] = await world.deps.links.ofCollection(TENANT, collectionId)
    const { count, cause, actorIds } = link?.value.heldRemovals ?? {}
    return { count, kind: cause?.kind, actorId: cause?.actorId, collectionId: cause?.collectionId, actorIds }
  }

  it('is the change of the definition, and names who made it', async () => {
    const { accounts } = await people('Ada', 0)
    const collectionId = await world.criteria('Identity', 'identityDisplayName', 'Ada')
    const groupId = await world.linkedGroup(collectionId)
    const actor = { ...CALLER, kind: 'user', objectId: users(900, 1)[0] ?? '' } as const
    const conditions = [
      { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Nobody' },
    ]
    const body = { objectType: 'Identity', name: 'Ada', condition: { groupOperator: 'AND', conditions } } as const
    const { collections } = world.coldProcess()
    await updateCriteriaCollection({ id: collectionId, body, caller: actor, ifMatch: undefined }, collections)
    await world.followed()
    assert.equal((await world.membersOf(groupId)).size, accounts.length)
    const { objectId: actorId } = actor
    const expected = { count: 3, kind: 'DefinitionChanged', actorId, collectionId, actorIds: [actorId] }
    assert.deepEqual(await heldOf(collectionId), expected)
  })

  it('is the direct removal by a person, also when others have left since for other reasons', async () => {
    const { source, accounts, ids } = await people('Grace', 10)
    const collectionId = await world.joinable(ids)
    await world.linkedGroup(collectionId)
    await world.leave(collectionId, ids.slice(0, 1))
    await world.followed()
    const actorId = CALLER.objectId
    const expected = { count: 1, kind: 'Direct', actorId, collectionId, actorIds: [actorId] }
    assert.deepEqual(await heldOf(collectionId), expected)
    await world.write(source, { operation: 'delete', objectType: 'identity', externalId: accounts[1] ?? '' })
    await world.followed()
    assert.deepEqual(await heldOf(collectionId), { ...expected, count: 2, kind: 'ObjectDeleted', actorId: 'system' })
  })
})
