import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { previewLink } from '../../shared/domain/sync/preview-sync.ts'
import { type AccountWorld, gone, identity, openAccountWorld, position } from '../support/jobs/account-world.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

let world: AccountWorld
before(async () => {
  world = await openAccountWorld()
})
after(() => world.close())

/** A position that names no holder. */
const vacancy = (externalId: string, data: ObjectData): ObjectWrite => {
  return { operation: 'upsert', objectType: 'relationship', externalId, data }
}

it('A vacant position is nobody: it is a member, and does not stop removals; one of an unknown person does', async () => {
  const hr = await world.newSource()
  const [one = '', two = '', three = ''] = users(0, 3)
  const title = 'Teacher'
  await world.write(
    hr,
    identity('one', { directoryObjectId: one }),
    identity('two', { directoryObjectId: two }),
    identity('three', { directoryObjectId: three }),
    position('p1', 'one', { title }),
    position('p2', 'two', { title }),
    position('p3', 'three', { title }),
    vacancy('empty', { title }),
  )
  const group = await world.linkedGroup(await world.criteria('Relationship', 'relationshipTitle', title))
  const inGroup = async () => [...(await world.membersOf(group))].sort()
  const all = [one, two, three].sort()
  assert.deepEqual(await inGroup(), all)
  const collectionId = await world.criteria('Relationship', 'relationshipTitle', title)
  const missing = async () => {
    const { evaluate, sync } = world.coldProcess()
    await evaluate()
    return (await previewLink(TENANT, { collectionId, groupId: group }, sync)).membersWithoutEntraAccount
  }
  assert.equal(await missing(), 0)
  // A person who is not known yet may have an account, so no account is removed.
  await world.write(hr, position('late', 'later', { title }), position('p1', 'one', { title: 'Clerk' }))
  await world.followed()
  assert.deepEqual(await inGroup(), all)
  assert.equal(await missing(), 1)
  await world.write(hr, identity('later', {}), gone('identity', 'two'))
  await world.followed()
  assert.equal(await missing(), 1)
  // The position of a deleted person is vacant.
  await world.write(hr, gone('identity', 'later'))
  await world.followed()
  assert.equal(await missing(), 0)
  await world.write(hr, position('p3', 'three', { title, officeLocation: 'Here' }))
  await world.followed()
  assert.deepEqual(await inGroup(), [three])
})
