import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { CollectionVersion } from '../../shared/domain/insight/collection-versions.ts'
import type { AuditEntry } from '../../shared/domain/insight/list-audit.ts'
import { equals, faults, type JoinableFixture, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

after(() => assert.deepEqual(faults, []))

const COLLECTIONS = '/collections/beta'
const CRITERIA = '/collections-criteria/beta'

/** Versions of a collection, the oldest first. */
const versions = async (fixture: JoinableFixture, id: string) => {
  const { data } = await fixture.call<AuditEntry[]>(fixture.admin, 'GET', `${COLLECTIONS}/${id}/audit`)
  return data.flatMap(({ version }) => version ?? []).reverse()
}

const read = (fixture: JoinableFixture, id: string, version: string, token: string = fixture.writer) =>
  fixture.call<CollectionVersion>(token, 'GET', `${COLLECTIONS}/${id}/versions/${version}`)

describe('an earlier definition of a collection', () => {
  it('is that of each entry of the audit, and is restored by saving it', async () => {
    const fixture = await joinableFixture()
    const [ann, ben] = [equals('identityDisplayName', 'Ann'), equals('identityDisplayName', 'Ben')]
    const id = await fixture.criteria('Identity', ann)
    const save = (body: object) => {
      fixture.pass(1)
      return fixture.call(fixture.admin, 'PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', ...body })
    }
    await save({ name: 'Bens', condition: ben, metadata: { tags: ['b'] } })
    await save({ description: 'All of them' })
    await save({ name: 'Others', condition: equals('identityDisplayName', 'Carl'), description: 'Wrong' })
    const known = await versions(fixture, id)
    assert.equal(known.length, 4)
    const found = await Promise.all(known.map(async (version) => (await read(fixture, id, version)).data))
    assert.deepEqual(
      found.map(({ name, description, metadata: { tags }, condition }) => [name, description, tags, condition]),
      [
        ['Staff', '', [], ann],
        ['Bens', '', ['b'], ben],
        ['Bens', 'All of them', ['b'], ben],
        ['Others', 'Wrong', ['b'], equals('identityDisplayName', 'Carl')],
      ],
    )
    for (const former of [found[2], found[0]] as CollectionVersion[]) {
      const { name, description, metadata, condition, joinPolicy, objectType } = former
      assert.equal(joinPolicy, null)
      const body = { objectType, name, description, metadata, condition }
      const restored = await fixture.call(fixture.admin, 'PUT', `${CRITERIA}/${id}`, body)
      assert.equal(restored.status, 200)
      const now = (await read(fixture, id, (await versions(fixture, id)).at(-1) ?? '')).data
      assert.deepEqual(
        [now.name, now.description, now.metadata, now.condition],
        [name, description, metadata, condition],
      )
    }
  })

  it('of a joinable collection has its join policy', async () => {
    const fixture = await joinableFixture()
    const { identityId } = await fixture.person()
    const gates = [{ order: 1, type: 'Identity', approvers: [identityId] }]
    const id = await fixture.joinable({ approvalRequired: true, approvalGates: gates })
    fixture.pass(1)
    await fixture.call(fixture.admin, 'PUT', `/collections-joinable/beta/${id}`, {
      objectType: 'Identity',
      joinPolicy: OPEN,
    })
    const [first, second] = await versions(fixture, id)
    const policies = []
    for (const version of [first, second]) policies.push((await read(fixture, id, version ?? '')).data.joinPolicy)
    assert.deepEqual(
      policies.map((policy) => [policy?.approvalRequired, policy?.approvalGates.length]),
      [
        [true, 1],
        [false, 0],
      ],
    )
  })

  it('hides sensitive values from callers who may not read all core objects', async () => {
    const fixture = await joinableFixture()
    const all = fixture.caller('user', ['collection_criteria_definition-administrator', 'Administrator'])
    const condition = equals('identityNin', '01010112345')
    const body = { objectType: 'Identity', name: 'One', condition }
    const { data: id } = await fixture.call<string>(all, 'POST', CRITERIA, body)
    const [version = ''] = await versions(fixture, id)
    assert.deepEqual((await read(fixture, id, version, all)).data.condition, condition)
    assert.deepEqual((await read(fixture, id, version)).data.condition, equals('identityNin', 'hidden'))
  })

  it('is none for an id that names no saved definition, and for a deleted collection', async () => {
    const fixture = await joinableFixture()
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Ann'))
    const [version = ''] = await versions(fixture, id)
    assert.deepEqual((await read(fixture, id, randomUUID())).codes, ['VersionNotFound'])
    await fixture.call(fixture.admin, 'DELETE', `${CRITERIA}/${id}`)
    assert.deepEqual((await read(fixture, id, version)).codes, ['CollectionNotFound'])
    const { token } = await fixture.person()
    assert.equal((await read(fixture, id, version, token)).status, 403)
  })
})
