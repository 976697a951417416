import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { CollectionVersion } from '../../shared/domain/insight/collection-versions.ts'
import type { AuditEntry } from '../../shared/domain/insight/list-audit.ts'
import { equals, faults, type JoinableWorld, joinableWorld, OPEN } from '../support/api/joinable-world.ts'

after(() => assert.deepEqual(faults, []))

const COLLECTIONS = '/collections/beta'
const CRITERIA = '/collections-criteria/beta'

/** Versions of a collection, the oldest first. */
const versions = async (world: JoinableWorld, id: string) => {
  const { data } = await world.call<AuditEntry[]>(world.admin, 'GET', `${COLLECTIONS}/${id}/audit`)
  return data.flatMap(({ version }) => version ?? []).reverse()
}

const read = (world: JoinableWorld, id: string, version: string, token: string = world.writer) =>
  world.call<CollectionVersion>(token, 'GET', `${COLLECTIONS}/${id}/versions/${version}`)

describe('an earlier definition of a collection', () => {
  it('is that of each entry of the audit, and is restored by saving it', async () => {
    const world = await joinableWorld()
    const [ann, ben] = [equals('identityDisplayName', 'Ann'), equals('identityDisplayName', 'Ben')]
    const id = await world.criteria('Identity', ann)
    const save = (body: object) => {
      world.pass(1)
      return world.call(world.admin, 'PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', ...body })
    }
    await save({ name: 'Bens', condition: ben, metadata: { tags: ['b'] } })
    await save({ description: 'All of them' })
    await save({ name: 'Others', condition: equals('identityDisplayName', 'Carl'), description: 'Wrong' })
    const known = await versions(world, id)
    assert.equal(known.length, 4)
    const found = await Promise.all(known.map(async (version) => (await read(world, id, version)).data))
    assert.deepEqual(
      found.map(({ name, description, metadata: { tags }, condition }) => [name, description, tags, condition]),
      [
        ['Staff', null, [], ann],
        ['Bens', null, ['b'], ben],
        ['Bens', 'All of them', ['b'], ben],
        ['Others', 'Wrong', ['b'], equals('identityDisplayName', 'Carl')],
      ],
    )
    const { name, description, metadata, condition, joinPolicy, objectType } = found[2] as CollectionVersion
    assert.equal(joinPolicy, null)
    const restored = await world.call(world.admin, 'PUT', `${CRITERIA}/${id}`, {
      ...{ objectType, name, description, metadata, condition },
    })
    assert.equal(restored.status, 200)
    const now = (await read(world, id, (await versions(world, id)).at(-1) ?? '')).data
    assert.deepEqual([now.name, now.description, now.condition], ['Bens', 'All of them', ben])
  })

  it('of a joinable collection has its join policy', async () => {
    const world = await joinableWorld()
    const { identityId } = await world.person()
    const gates = [{ order: 1, type: 'Identity', approvers: [identityId] }]
    const id = await world.joinable({ approvalRequired: true, approvalGates: gates })
    world.pass(1)
    await world.call(world.admin, 'PUT', `/collections-joinable/beta/${id}`, {
      objectType: 'Identity',
      joinPolicy: OPEN,
    })
    const [first, second] = await versions(world, id)
    const policies = []
    for (const version of [first, second]) policies.push((await read(world, id, version ?? '')).data.joinPolicy)
    assert.deepEqual(
      policies.map((policy) => [policy?.approvalRequired, policy?.approvalGates.length]),
      [
        [true, 1],
        [false, 0],
      ],
    )
  })

  it('hides sensitive values from callers who may not read all core objects', async () => {
    const world = await joinableWorld()
    const all = world.caller('user', ['collection_criteria_definition-administrator', 'Administrator'])
    const condition = equals('identityNin', '01010112345')
    const body = { objectType: 'Identity', name: 'One', condition }
    const { data: id } = await world.call<string>(all, 'POST', CRITERIA, body)
    const [version = ''] = await versions(world, id)
    assert.deepEqual((await read(world, id, version, all)).data.condition, condition)
    assert.deepEqual((await read(world, id, version)).data.condition, equals('identityNin', 'hidden'))
  })

  it('is none for an id that names no saved definition, and for a deleted collection', async () => {
    const world = await joinableWorld()
    const id = await world.criteria('Identity', equals('identityDisplayName', 'Ann'))
    const [version = ''] = await versions(world, id)
    assert.deepEqual((await read(world, id, randomUUID())).codes, ['VersionNotFound'])
    await world.call(world.admin, 'DELETE', `${CRITERIA}/${id}`)
    assert.deepEqual((await read(world, id, version)).codes, ['CollectionNotFound'])
    const { token } = await world.person()
    assert.equal((await read(world, id, version, token)).status, 403)
  })
})
