import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { connectorObjectId, type ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { type AccountFixture, gone, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

/** A position that names no holder. */
const vacancy = (externalId: string, data: ObjectData): ObjectWrite => {
  return { operation: 'upsert', objectType: 'relationship', externalId, data }
}

it('A vacant position is nobody: it is a member, and does not stop removals; one of an unknown person does', async () => {
  const hr = await fixture.newSource()
  const [one = '', two = '', three = ''] = users(0, 3)
  const title = 'Teacher'
  await fixture.write(
    hr,
    identity('one', { directoryObjectId: one }),
    identity('two', { directoryObjectId: two }),
    identity('three', { directoryObjectId: three }),
    position('p1', 'one', { title }),
    position('p2', 'two', { title }),
    position('p3', 'three', { title }),
    vacancy('empty', { title }),
  )
  const group = await fixture.linkedGroup(await fixture.criteria('Relationship', 'relationshipTitle', title))
  const inGroup = async () => [...(await fixture.membersOf(group))].sort()
  const all = [one, two, three].sort()
  assert.deepEqual(await inGroup(), all)
  const collectionId = await fixture.criteria('Relationship', 'relationshipTitle', title)
  const missing = async () => {
    const { evaluate, sync } = fixture.coldProcess()
    await evaluate()
    return (await previewLink(TENANT, { collectionId, groupId: group }, sync)).membersWithoutEntraAccount
  }
  assert.equal(await missing(), 0)
  // A person who is not known yet may have an account, so no account is removed.
  await fixture.write(hr, position('late', 'later', { title }), position('p1', 'one', { title: 'Clerk' }))
  await fixture.followed()
  assert.deepEqual(await inGroup(), all)
  assert.equal(await missing(), 1)
  await fixture.write(hr, identity('later', {}), gone('identity', 'two'))
  await fixture.followed()
  assert.equal(await missing(), 1)
  // The position of a deleted person is vacant.
  await fixture.write(hr, gone('identity', 'later'))
  await fixture.followed()
  assert.equal(await missing(), 0)
  await fixture.write(hr, position('p3', 'three', { title, officeLocation: 'Here' }))
  await fixture.followed()
  assert.deepEqual(await inGroup(), [three])
})

it('A position whose person has expired is not held by another person who had that external id before', async () => {
  const hr = await fixture.newSource()
  const [ada = '', bo = ''] = users(4, 2)
  const title = 'Nurse'
  const collectionId = await fixture.criteria('Relationship', 'relationshipTitle', title)
  const group = await fixture.linkedGroup(collectionId)
  const dataOfAda = { nin: '1', directoryObjectId: ada }
  await fixture.write(hr, identity('1', dataOfAda))
  const renamed = { operation: 'upsert', objectType: 'identity', externalId: '2', data: dataOfAda } as const
  await fixture.write(hr, { ...renamed, previousExternalId: '1' })
  await fixture.write(hr, identity('1', { nin: '2', directoryObjectId: bo }))
  await fixture.write(hr, gone('identity', '1'))
  // The time passes for which the deleted identity is kept.
  const names = { connectorId: hr.id, objectType: 'identity', externalId: '1' } as const
  await fixture.container('connectorObjects').item(connectorObjectId(names, derivedId), TENANT).delete()
  await fixture.write(hr, position('job', '1', { title }))
  await fixture.followed()
  assert.deepEqual([...(await fixture.membersOf(group))], [])
  const preview = await previewLink(TENANT, { collectionId, groupId: group }, fixture.coldProcess().sync)
  assert.deepEqual([preview.membersWithoutEntraAccount, preview.membersToAdd], [1, []])
})

it('A membership counts for the other positions of a person while the position that it names is vacant', async () => {
  const hr = await fixture.newSource()
  const [account = ''] = users(3, 1)
  await fixture.write(hr, identity('ann', { directoryObjectId: account }), position('job', 'ann'))
  const choir = await fixture.joinable([await fixture.coreIdOf(hr, 'identity', 'ann')], 'Relationship')
  await fixture.write(hr, position('side', 'ann'))
  const collectionId = await fixture.criteria('Relationship', 'memberOfCollection', choir)
  const group = await fixture.linkedGroup(collectionId)
  const { evaluator, links, collections } = fixture.newService()
  const [job, side] = [
    await fixture.coreIdOf(hr, 'relationship', 'job'),
    await fixture.coreIdOf(hr, 'relationship', 'side'),
  ]
  const held = position('job', 'ann')
  for (const [state, expected, accounts] of [
    [held, [job], [account]],
    [vacancy('job', {}), [side], [account]],
    [held, [job], [account]],
  ] as const) {
    await fixture.write(hr, state)
    await evaluator.evaluate(TENANT)
    await fixture.drain(links)
    assert.deepEqual((await collections.memberships.members(TENANT, collectionId))?.ids, expected)
    assert.deepEqual([...(await fixture.membersOf(group))], accounts)
  }
})
