import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { removeMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import { type AccountFixture, CALLER, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
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

  describe('with members of another collection in its condition', () => {
    const [first = '', second = ''] = users(900, 2)
    const removeAs = (actorId: string, collectionId: string, identityIds: readonly string[]) =>
      removeMembersDirectly(
        TENANT,
        collectionId,
        { coreIdentityIds: [...identityIds] },
        { id: actorId, identityId: undefined },
        fixture.coldProcess().requests,
      )
    const referringTo = (collectionId: string, objectType: 'Identity' | 'Relationship' = 'Identity') =>
      fixture.criteria(objectType, 'memberOfCollection', collectionId)
    const byReference = (collectionId: string, count: number, actorIds: readonly string[]) => ({
      ...{ count, kind: 'ReferencedCollection', actorId: 'system', collectionId, actorIds },
    })

    it('names who changed the definition of the other collection', async () => {
      await people('Bea', 20)
      const otherId = await fixture.criteria('Identity', 'identityDisplayName', 'Bea')
      const collectionId = await referringTo(otherId)
      await fixture.linkedGroup(collectionId)
      const conditions = [
        { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Nobody' },
      ]
      const body = { objectType: 'Identity', name: 'Bea', condition: { groupOperator: 'AND', conditions } } as const
      const caller = { ...CALLER, kind: 'user', objectId: first } as const
      const { collections } = fixture.coldProcess()
      await updateCriteriaCollection({ id: otherId, body, caller, ifMatch: undefined }, collections)
      await fixture.followed()
      assert.deepEqual(await heldOf(collectionId), byReference(collectionId, 3, [first]))
    })

    it('names who removed members directly from a collection behind the other one', async () => {
      const { ids } = await people('Cleo', 30)
      const choirId = await fixture.joinable(ids)
      const collectionId = await referringTo(await referringTo(choirId))
      await fixture.linkedGroup(collectionId)
      await removeAs(first, choirId, ids.slice(0, 2))
      await removeAs(second, choirId, ids.slice(2))
      await fixture.followed()
      assert.deepEqual(await heldOf(collectionId), byReference(collectionId, 3, [second, first]))
    })

    it('names those who removed the holder of a position', async () => {
      const { source, accounts, ids } = await people('Dora', 40)
      await fixture.write(source, ...accounts.map((account) => position(account, account)))
      const choirId = await fixture.joinable(ids)
      const collectionId = await referringTo(choirId, 'Relationship')
      await fixture.linkedGroup(collectionId)
      await removeAs(first, choirId, ids)
      await fixture.followed()
      assert.deepEqual(await heldOf(collectionId), byReference(collectionId, 3, [first]))
    })

    it('does not name who removed somebody else, or long before', async () => {
      const { ids } = await people('Ea', 50)
      const choirId = await fixture.joinable(ids)
      const collectionId = await referringTo(choirId)
      await setLinkSettings(fixture.deps, { removalGuard: { enabled: false } })
      await fixture.linkedGroup(collectionId)
      await removeAs(first, choirId, ids.slice(0, 1))
      await removeAs(first, choirId, ids.slice(1, 2))
      await fixture.followed()
      await fixture.join(choirId, ids.slice(1, 2), fixture.coldProcess().requests)
      await fixture.followed()
      await setLinkSettings(fixture.deps, { removalGuard: { enabled: true } })
      await fixture.clock.sleep(61 * 60_000)
      await removeAs(second, choirId, ids.slice(1))
      await fixture.followed()
      assert.deepEqual(await heldOf(collectionId), byReference(collectionId, 2, [second]))
    })
  })

  it('names who removed members before many others left one by one', async () => {
    const accounts = users(100, 60)
    const source = await fixture.newSource()
    await fixture.write(
      source,
      ...accounts.map((directoryObjectId) => identity(directoryObjectId, { displayName: 'Fay', directoryObjectId })),
    )
    const ids = await Promise.all(accounts.map((account) => fixture.coreIdOf(source, 'identity', account)))
    const collectionId = await fixture.joinable(ids)
    await fixture.linkedGroup(collectionId)
    const actorId = users(900, 1)[0] ?? ''
    const { requests } = fixture.coldProcess()
    const actor = { id: actorId, identityId: undefined }
    await removeMembersDirectly(TENANT, collectionId, { coreIdentityIds: ids.slice(0, 5) }, actor, requests)
    for (const id of ids.slice(5, 57)) await fixture.leave(collectionId, [id])
    await fixture.followed()
    const expected = { count: 57, kind: 'Direct', actorId: CALLER.objectId, collectionId }
    assert.deepEqual(await heldOf(collectionId), { ...expected, actorIds: [CALLER.objectId, actorId] })
  })
})
