import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { type AccountFixture, CALLER, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { setLinkSettings } from '../support/jobs/link-fixture.ts'

describe('The cause of held removals', () => {
  let fixture: AccountFixture
  before(async () => {
    fixture = await openAccountFixture({ isGuarded: true })
    await setLinkSettings(fixture.deps, { removalGuard: { percent: 1, minimum: 0 } })
  })
  after(() => fixture.close())

  /** Three people with accounts, by a common name. */
  async function people(name: string, firstAccount: number) {
    const source = await fixture.newSource()
    const accounts = users(firstAccount, 3)
    await fixture.write(
      source,
      ...accounts.map((directoryObjectId) => identity(directoryObjectId, { displayName: name, directoryObjectId })),
    )
    const ids = await Promise.all(accounts.map((account) => fixture.coreIdOf(source, 'identity', account)))
    return { source, accounts, ids }
  }

  const heldOf = async (collectionId: string) => {
    const [link] = await fixture.deps.links.ofCollection(TENANT, collectionId)
    const { count, cause, actorIds } = link?.value.heldRemovals ?? {}
    return { count, kind: cause?.kind, actorId: cause?.actorId, collectionId: cause?.collectionId, actorIds }
  }

  it('is the change of the definition, and names who made it', async () => {
    const { accounts } = await people('Ada', 0)
    const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Ada')
    const groupId = await fixture.linkedGroup(collectionId)
    const actor = { ...CALLER, kind: 'user', objectId: users(900, 1)[0] ?? '' } as const
    const conditions = [
      { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Nobody' },
    ]
    const body = { objectType: 'Identity', name: 'Ada', condition: { groupOperator: 'AND', conditions } } as const
    const { collections } = fixture.coldProcess()
    await updateCriteriaCollection({ id: collectionId, body, caller: actor, ifMatch: undefined }, collections)
    await fixture.followed()
    assert.equal((await fixture.membersOf(groupId)).size, accounts.length)
    const { objectId: actorId } = actor
    const expected = { count: 3, kind: 'DefinitionChanged', actorId, collectionId, actorIds: [actorId] }
    assert.deepEqual(await heldOf(collectionId), expected)
  })

  it('is the direct removal by a person, also when others have left since for other reasons', async () => {
    const { source, accounts, ids } = await people('Grace', 10)
    const collectionId = await fixture.joinable(ids)
    await fixture.linkedGroup(collectionId)
    await fixture.leave(collectionId, ids.slice(0, 1))
    await fixture.followed()
    const actorId = CALLER.objectId
    const expected = { count: 1, kind: 'Direct', actorId, collectionId, actorIds: [actorId] }
    assert.deepEqual(await heldOf(collectionId), expected)
    await fixture.write(source, { operation: 'delete', objectType: 'identity', externalId: accounts[1] ?? '' })
    await fixture.followed()
    assert.deepEqual(await heldOf(collectionId), { ...expected, count: 2, kind: 'ObjectDeleted', actorId: 'system' })
  })
})
