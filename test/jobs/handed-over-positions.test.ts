import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { type AccountFixture, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

let placeCount = 0

/** A linked collection of the positions of teachers: of Ann, and of Carl, who has no account. Bob is no teacher. */
async function newPlace({ isPaused = false } = {}) {
  placeCount += 1
  const source = await fixture.newSource()
  const [teacher, guard] = [`Teacher ${placeCount}`, `Guard ${placeCount}`]
  const [ann = '', bob = ''] = users(placeCount * 2, 2)
  const named = (name: string) => `${name} ${placeCount}`
  const person = (name: string, displayName: string, account?: string) =>
    identity(named(name), { displayName, nin: named(name), ...(account && { directoryObjectId: account }) })
  const handOverTo = (name: string) => fixture.write(source, position(named('post'), named(name)))
  await fixture.write(source, person('Ann', teacher, ann), person('Bob', guard, bob))
  await handOverTo('Ann')
  if (isPaused) await fixture.write(source, person('Carl', teacher), position(named('other'), named('Carl')))
  const teachers = await fixture.criteria('Identity', 'identityDisplayName', teacher)
  const collectionId = await fixture.criteria('Relationship', 'identityDisplayName', teacher)
  const referringId = await fixture.criteria('Relationship', 'memberOfCollection', teachers)
  const groupId = await fixture.linkedGroup(collectionId)
  const process = fixture.coldProcess()
  return {
    ...{ ann, bob, collectionId, referringId, groupId, process },
    handOverTo,
    makeTeacher: () => fixture.write(source, person('Bob', teacher, bob)),
    async sync() {
      await requestSync(TENANT, collectionId, process.sync)
      await fixture.drain(process.sync)
      return [...(await fixture.membersOf(groupId))]
    },
    members: async () => [...(await fixture.membersOf(groupId))],
  }
}

describe('A position that is handed over to a person whom the condition leaves out', () => {
  it('does not add the new holder before it is evaluated, nor after', async () => {
    const { handOverTo, sync, members, process } = await newPlace()
    await handOverTo('Bob')
    assert.deepEqual(await sync(), [])
    await fixture.followed(process)
    assert.deepEqual(await members(), [])
  })

  it('never adds the new holder while removals are paused', async () => {
    const { handOverTo, sync, members, ann, process } = await newPlace({ isPaused: true })
    await handOverTo('Bob')
    assert.deepEqual(await sync(), [ann])
    await fixture.followed(process)
    assert.deepEqual(await members(), [ann])
    await fixture.clock.sleep(3_600_000)
    assert.deepEqual(await sync(), [ann])
  })

  it('is no member in the preview of a link', async () => {
    const { handOverTo, collectionId, groupId, ann, process } = await newPlace()
    await handOverTo('Bob')
    assert.deepEqual(await previewLink(TENANT, { collectionId, groupId }, process.sync), {
      membersToAdd: [],
      membersToRemove: [ann],
      membersWithoutEntraAccount: 0,
      groupMemberCount: 1,
    })
  })

  it('is not among the changes that an incremental sync reads from the members', async () => {
    const { handOverTo, collectionId, process } = await newPlace()
    const link = { tenantId: TENANT, collectionId, comparedAtMs: 0, acceptedWithoutAccount: [collectionId] }
    await handOverTo('Bob')
    const changes = await process.sync.collections.changesSince(link, 0)
    assert.deepEqual([changes?.added, changes?.withoutAccountCount], [[], 0])
  })

  it('is found by a condition that refers to another collection', async () => {
    const { handOverTo, referringId, ann, process } = await newPlace()
    const accounts = async () => (await process.sync.collections.accountsOf(TENANT, referringId)).accounts
    assert.deepEqual(await accounts(), new Set([ann]))
    await handOverTo('Bob')
    assert.deepEqual(await accounts(), new Set())
  })

  it('gives the place while the stored condition is invalid, as the members stay', async () => {
    const { handOverTo, sync, collectionId, bob } = await newPlace()
    const stored = fixture.container('collections').item(collectionId, TENANT)
    const { resource } = await stored.read()
    await stored.replace({ ...resource, definition: JSON.stringify({ groupOperator: 'AND', conditions: [{}] }) })
    await handOverTo('Bob')
    assert.deepEqual(await sync(), [bob])
    await stored.replace(resource)
  })

  it('is left out also when an evaluation ends while a job reads the members', async () => {
    const { handOverTo, sync, ann, process } = await newPlace({ isPaused: true })
    await handOverTo('Bob')
    await fixture.clock.sleep(6 * 60_000)
    const { memberships } = process.collections
    const { members } = memberships
    memberships.members = async (tenantId, collectionId) => {
      const found = await members(tenantId, collectionId)
      memberships.members = members
      await fixture.coldProcess().evaluate()
      return found
    }
    assert.deepEqual(await sync(), [ann])
  })

  it('gives the new holder the place who satisfies the condition by the time of a late evaluation', async () => {
    const { handOverTo, makeTeacher, sync, members, bob } = await newPlace()
    await handOverTo('Bob')
    await fixture.clock.sleep(6 * 60_000)
    assert.deepEqual(await sync(), [])
    await makeTeacher()
    const process = fixture.coldProcess()
    await process.evaluate()
    await fixture.drain(process.sync)
    await fixture.clock.sleep(3_600_000)
    await sweepTenant(TENANT, process.sync)
    await fixture.drain(process.sync)
    assert.deepEqual(await members(), [bob])
  })

  it('leaves the former holder in the group when it is handed back', async () => {
    const { handOverTo, sync, ann } = await newPlace()
    await handOverTo('Bob')
    await handOverTo('Ann')
    assert.deepEqual(await sync(), [ann])
  })
})

it('A position that is handed over to a person whom the condition includes gives the place at once', async () => {
  const { handOverTo, makeTeacher, sync, bob } = await newPlace()
  await makeTeacher()
  await handOverTo('Bob')
  assert.deepEqual(await sync(), [bob])
})
