import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { approveRemovals } from '../../shared/domain/group-links/approve-removals.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
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

  /** Saves a collection of those with one of these names. */
  async function redefine(actorId: string, collectionId: string, ...names: readonly string[]): Promise<void> {
    const leaf = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'In', value: names }
    const condition = { groupOperator: 'AND', conditions: [leaf] } as const
    const caller = { ...CALLER, kind: 'user', objectId: actorId } as const
    const body = { objectType: 'Identity', name: `Of ${actorId}`, condition } as const
    const { collections } = fixture.coldProcess()
    await updateCriteriaCollection({ id: collectionId, body, caller, ifMatch: undefined }, collections)
  }

  it('is the change of the definition, and names who made it', async () => {
    const { accounts } = await people('Ada', 0)
    const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Ada')
    const groupId = await fixture.linkedGroup(collectionId)
    const actorId = users(900, 1)[0] ?? ''
    await redefine(actorId, collectionId, 'Nobody')
    await fixture.followed()
    assert.equal((await fixture.membersOf(groupId)).size, accounts.length)
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
      await redefine(first, otherId, 'Nobody')
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

  describe('where the settings require a second person, keeps from approving', () => {
    before(() => setLinkSettings(fixture.deps, { removalGuard: { fourEyes: true } }))
    after(() => setLinkSettings(fixture.deps, { removalGuard: { fourEyes: false } }))
    const [first = '', second = '', third = ''] = users(900, 3)

    /** Whom of these actors the plan admits, in this order. */
    async function approversOf(collectionId: string, ...actorIds: readonly string[]): Promise<string[]> {
      const { sync } = fixture.coldProcess()
      const [link] = await sync.links.ofCollection(TENANT, collectionId)
      const { id: linkId = '', heldRemovals } = link?.value ?? {}
      const plan = { tenantId: TENANT, linkId, planId: heldRemovals?.planId ?? '', notes: null }
      const admitted: string[] = []
      for (const approvedBy of actorIds) {
        const refusal = await approveRemovals({ ...plan, approvedBy }, sync).then(
          () => undefined,
          ({ code }) => code as unknown,
        )
        if (refusal === undefined) admitted.push(approvedBy)
        else assert.equal(refusal, 'SameActor')
      }
      return admitted
    }
    async function synced(collectionId: string): Promise<void> {
      await requestSync(TENANT, collectionId, fixture.coldProcess().sync)
      await fixture.followed()
    }

    it('who changed the definition, and who has changed it again so that they stay due', async () => {
      await people('Gro', 200)
      const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Gro')
      await fixture.linkedGroup(collectionId)
      await redefine(first, collectionId, 'Nobody')
      await fixture.followed()
      await redefine(second, collectionId, 'Nobody', 'Nobody else')
      await synced(collectionId)
      assert.deepEqual(await approversOf(collectionId, first, second, third), [third])
    })

    it('who has changed the definition of another collection in the condition since', async () => {
      const { ids } = await people('Hal', 210)
      const choirId = await fixture.joinable(ids)
      const otherId = await fixture.criteria('Identity', 'memberOfCollection', choirId)
      const collectionId = await fixture.criteria('Identity', 'memberOfCollection', otherId)
      await fixture.linkedGroup(collectionId)
      await fixture.leave(choirId, ids)
      await fixture.followed()
      await redefine(second, otherId, 'Nobody')
      assert.deepEqual(await approversOf(collectionId, CALLER.objectId, second, third), [third])
    })

    it('who changed the definition last, when others have left since for other reasons', async () => {
      const { source, accounts } = await people('Ida', 220)
      const left = await people('Ivo', 225)
      const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Ida')
      await redefine(first, collectionId, 'Ida', 'Ivo', 'Iris')
      await fixture.linkedGroup(collectionId)
      await redefine(first, collectionId, 'Ida')
      await fixture.followed()
      await redefine(second, collectionId, 'Ida', 'Iris')
      await fixture.followed()
      await fixture.write(source, { operation: 'delete', objectType: 'identity', externalId: accounts[0] ?? '' })
      await fixture.followed()
      const { count, kind, actorIds } = await heldOf(collectionId)
      assert.deepEqual([count, kind], [left.accounts.length + 1, 'ObjectDeleted'])
      assert.deepEqual(new Set(actorIds), new Set([first, second]))
      assert.deepEqual(await approversOf(collectionId, first, second, third), [third])
    })

    it('nobody who changed the definition before others left, when it is only renamed since', async () => {
      const { source, accounts } = await people('Jon', 230)
      const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Jon')
      await redefine(first, collectionId, 'Jon', 'June')
      await fixture.linkedGroup(collectionId)
      await fixture.clock.sleep(60_000)
      await fixture.write(source, { operation: 'delete', objectType: 'identity', externalId: accounts[0] ?? '' })
      await fixture.followed()
      await redefine(second, collectionId, 'Jon', 'June')
      assert.deepEqual(await approversOf(collectionId, first, second), [first, second])
    })

    it('who changed the definition while removals were held, also when more have become due since', async () => {
      const { source, accounts } = await people('Kim', 240)
      const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Kim')
      await fixture.linkedGroup(collectionId)
      const [renamed = '', ...deleted] = accounts
      await fixture.write(source, identity(renamed, { displayName: 'Kaja', directoryObjectId: renamed }))
      await fixture.followed()
      await fixture.clock.sleep(60_000)
      await redefine(second, collectionId, 'Kim', 'Kine')
      await synced(collectionId)
      for (const externalId of deleted) {
        await fixture.clock.sleep(60_000)
        await fixture.write(source, { operation: 'delete', objectType: 'identity', externalId })
        await fixture.followed()
        assert.deepEqual(await approversOf(collectionId, second), [])
      }
      assert.deepEqual(await approversOf(collectionId, second, third), [third])
    })
  })
})
