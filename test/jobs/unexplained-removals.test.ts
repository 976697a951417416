import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { approveRemovals } from '../../shared/domain/group-links/approve-removals.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { deleteLink, requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { type AccountFixture, CALLER, gone, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import { setLinkSettings } from '../support/jobs/link-fixture.ts'

const [linker = '', definer = '', other = '', person = ''] = users(900, 4)

describe('Where the settings require a second person, removals', () => {
  let fixture: AccountFixture
  before(async () => {
    fixture = await openAccountFixture({ isGuarded: true })
    await setLinkSettings(fixture.deps, { removalGuard: { percent: 1, minimum: 0, fourEyes: true } })
  })
  after(() => fixture.close())

  /** Three people with accounts, by a common name. */
  async function people(name: string, firstAccount: number) {
    const source = await fixture.newSource()
    const accounts = users(firstAccount, 3)
    const writes = accounts.map((account) => identity(account, { displayName: name, directoryObjectId: account }))
    await fixture.write(source, ...writes)
    return { source, accounts }
  }

  const named = (name: string, actorId: string) =>
    fixture.criteria('Identity', 'identityDisplayName', name, { ...CALLER, kind: 'user', objectId: actorId })

  /** Links a group to a collection, in place of the link that the group has. */
  async function relinked(directoryGroupId: string, collectionId: string, createdBy = linker): Promise<void> {
    const { sync } = fixture.coldProcess()
    const former = await sync.links.ofGroup(TENANT, directoryGroupId)
    if (former !== undefined) {
      await deleteLink({ tenantId: TENANT, linkId: former.value.id, ifMatch: undefined, actorId: linker }, sync)
    }
    await fixture.clock.sleep(60_000)
    const creation = { collectionId, directoryGroupId, createdBy, actorId: person }
    await createLink(TENANT, creation, sync)
    await fixture.followed()
  }

  /** Follows what was written, then compares the groups of the collection with it. */
  async function compared(collectionId: string): Promise<void> {
    await fixture.followed()
    await requestSync(TENANT, collectionId, fixture.coldProcess().sync)
    await fixture.followed()
  }

  async function heldOf(directoryGroupId: string) {
    const link = (await fixture.deps.links.ofGroup(TENANT, directoryGroupId))?.value ?? assert.fail('It has no link')
    return { linkId: link.id, held: link.heldRemovals ?? assert.fail('Nothing is held') }
  }

  /** Whom of these users the plan admits, in this order. */
  async function approversOf(directoryGroupId: string, ...userIds: readonly string[]): Promise<string[]> {
    const { linkId, held } = await heldOf(directoryGroupId)
    const plan = { tenantId: TENANT, linkId, planId: held.planId, notes: null }
    const admitted: string[] = []
    for (const approvedBy of userIds) {
      const actorId = approvedBy === linker ? person : approvedBy
      const refusal = await approveRemovals({ ...plan, approvedBy, actorId }, fixture.coldProcess().sync).then(
        () => undefined,
        ({ code }) => code as unknown,
      )
      if (refusal === undefined) admitted.push(approvedBy)
      else assert.equal(refusal, 'SameActor')
    }
    return admitted
  }

  it('by a link to another collection are approved by nobody who made the link or defined the collection', async () => {
    await people('Ada', 0)
    const groupId = await fixture.linkedGroup(await named('Ada', other))
    assert.equal((await fixture.membersOf(groupId)).size, 3)
    await relinked(groupId, await named('Nobody', definer))
    const { held } = await heldOf(groupId)
    assert.deepEqual([held.count, held.cause], [3, null])
    assert.deepEqual(await approversOf(groupId, linker, definer, other), [other])
    await fixture.followed()
    assert.equal((await fixture.membersOf(groupId)).size, 0)
  })

  it('of which the history explains some only are not approved by who made the link either', async () => {
    const { accounts } = await people('Bea', 10)
    const groupId = await fixture.linkedGroup(await named('Bea', other))
    const { source } = await people('Bo', 20)
    const collectionId = await named('Bo', definer)
    await fixture.followed()
    await fixture.clock.sleep(60_000)
    await relinked(groupId, collectionId)
    await fixture.write(source, gone('identity', users(20, 1)[0] ?? ''))
    await fixture.followed()
    const { held } = await heldOf(groupId)
    assert.deepEqual([held.count, held.cause?.kind], [accounts.length + 1, 'ObjectDeleted'])
    assert.deepEqual(await approversOf(groupId, linker, definer, other), [other])
  })

  it('of people added to the group while its link was disabled are not approved by who enabled the link', async () => {
    await people('Dora', 40)
    const collectionId = await named('Dora', definer)
    const groupId = await fixture.linkedGroup(collectionId)
    const link = (await fixture.deps.links.ofGroup(TENANT, groupId))?.value ?? assert.fail('It has no link')
    const target = { tenantId: TENANT, linkId: link.id, ifMatch: undefined }
    const { sync } = fixture.coldProcess()
    await updateLink(target, { state: 'Disabled', requestedBy: other }, sync)
    await fixture.asTester({
      method: 'POST',
      path: `/groups/${groupId}/members/$ref`,
      body: { '@odata.id': `https://graph.microsoft.com/v1.0/directoryObjects/${users(50, 1)[0]}` },
    })
    await updateLink(target, { state: 'Enabled', requestedBy: linker }, sync)
    await requestSync(TENANT, collectionId, sync)
    await fixture.followed()
    assert.equal((await heldOf(groupId)).held.count, 1)
    assert.deepEqual(await approversOf(groupId, linker, definer, other), [other])
  })

  it('by a new account, once the group was equal, are approved also by who made the link and the collection', async () => {
    const { source, accounts } = await people('Eva', 60)
    const collectionId = await named('Eva', definer)
    await fixture.followed()
    const groupId = await fixture.newGroup()
    await relinked(groupId, collectionId)
    await fixture.clock.sleep(3 * 3_600_000)
    const [account = ''] = accounts
    await fixture.write(source, identity(account, { displayName: 'Eva', directoryObjectId: users(70, 1)[0] ?? '' }))
    await compared(collectionId)
    const { held } = await heldOf(groupId)
    assert.deepEqual([held.count, held.cause], [1, null])
    assert.deepEqual(await approversOf(groupId, linker, definer), [linker, definer])
  })

  it('by a new link are not approved by who made it after their plan has changed either', async () => {
    await people('Fay', 80)
    const groupId = await fixture.linkedGroup(await named('Fay', other))
    const { source, accounts } = await people('Finn', 90)
    const collectionId = await named('Finn', definer)
    await fixture.followed()
    await relinked(groupId, collectionId)
    const first = await heldOf(groupId)
    await fixture.clock.sleep(3 * 3_600_000)
    await fixture.write(source, gone('identity', accounts[0] ?? ''))
    await compared(collectionId)
    const { held } = await heldOf(groupId)
    assert.notEqual(held.planId, first.held.planId)
    assert.deepEqual(await approversOf(groupId, linker, definer, other), [other])
  })

  it('by a new link that first waits for an account are not approved by who made it either', async () => {
    await people('Gil', 100)
    const groupId = await fixture.linkedGroup(await named('Gil', other))
    const { source } = await people('Gus', 110)
    await fixture.write(source, identity('late', { displayName: 'Gus' }))
    const collectionId = await named('Gus', definer)
    await fixture.followed()
    await relinked(groupId, collectionId)
    assert.equal((await fixture.membersOf(groupId)).size, 6)
    await fixture.write(source, identity('late', { displayName: 'Gus', directoryObjectId: users(120, 1)[0] ?? '' }))
    await compared(collectionId)
    assert.equal((await heldOf(groupId)).held.count, 3)
    assert.deepEqual(await approversOf(groupId, linker, definer, other), [other])
  })

  it('are not approved by a person who caused them, whose account has another id', async () => {
    await people('Hal', 130)
    const groupId = await fixture.linkedGroup(await named('Hal', other))
    await relinked(groupId, await named('Nobody else', person), other)
    assert.deepEqual(await approversOf(groupId, linker, definer), [definer])
  })

  it('that the history explains are approved also by who made the link and defined the collection', async () => {
    const { source, accounts } = await people('Cleo', 30)
    const collectionId = await named('Cleo', definer)
    await fixture.followed()
    const groupId = await fixture.newGroup()
    await relinked(groupId, collectionId)
    await fixture.clock.sleep(60_000)
    await fixture.write(source, gone('identity', accounts[0] ?? ''))
    await fixture.followed()
    const { held } = await heldOf(groupId)
    assert.deepEqual([held.count, held.cause?.kind], [1, 'ObjectDeleted'])
    assert.deepEqual(await approversOf(groupId, linker, definer), [linker, definer])
  })
})
