import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  upsert,
} from '../support/api/core-data-service.ts'

const ACCOUNT = '0a0a0a0a-0000-4000-8000-00000000000a'
const ADDRESS = { email: 'x@example.org' }
const BY_EMAIL = { joinOn: ['nin', 'directoryObjectId', 'email'] }

const service = await coreDataServiceOfTests()

async function newTenantOf(settings: object = {}) {
  const tenant = await newTenant(service)
  const hr = await tenant.addConnector('HR', settings)
  const set = async (settings: object, connector = hr, headers: Record<string, string> = {}) => {
    const answer = await tenant.admin('PUT', `${CONNECTORS}/${connector.id}`, settings, headers)
    assert.equal(answer.status, 200)
    return answer
  }
  /** A connector that lists the address, from its creation or by a change. */
  const addByEmail = async (isNew: boolean, settings: object = {}) => {
    const connector = await tenant.addConnector('More', isNew ? { ...settings, ...BY_EMAIL } : settings)
    if (!isNew) await set(BY_EMAIL, connector)
    return connector
  }
  const person = (externalId: string): Promise<Body> => tenant.byExternalId('identities', externalId)
  return { tenant, hr, set, addByEmail, person }
}

describe('A join key that no connector has listed before', () => {
  for (const isNew of [true, false]) {
    const how = isNew ? 'a new connector' : 'a changed connector'

    it(`joins no one by a value that two have, of whom one was written since ${how} lists it`, async () => {
      const { tenant, hr, addByEmail, person } = await newTenantOf()
      await hr.batch(upsert('identity', 'a', ADDRESS), upsert('identity', 'b', ADDRESS))
      const more = await addByEmail(isNew)
      await hr.batch(upsert('identity', 'a', { ...ADDRESS, displayName: 'A' }))
      await more.batch(upsert('identity', 's', { ...ADDRESS, directoryObjectId: ACCOUNT }))
      const accounts = async () =>
        Promise.all(['a', 'b', 's'].map(async (name) => (await person(name)).directoryObjectId))
      assert.deepEqual(await accounts(), [undefined, undefined, ACCOUNT])
      await service.audit()
      assert.deepEqual(await accounts(), [undefined, undefined, ACCOUNT])
      const [duplicate, ...others] = (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
      assert.deepEqual([duplicate.key, duplicate.identityIds.length, others], ['email', 3, []])
    })

    it(`lets a supplement of ${how} add nothing to one of two people`, async () => {
      const { hr, addByEmail, person } = await newTenantOf()
      await hr.batch(upsert('identity', 'a', ADDRESS), upsert('identity', 'b', ADDRESS))
      const more = await addByEmail(isNew, { authority: 'Supplement' })
      await hr.batch(upsert('identity', 'a', { ...ADDRESS, displayName: 'A' }))
      await more.batch(upsert('identity', 's', { ...ADDRESS, mobile: '1' }))
      await service.audit()
      assert.deepEqual([(await person('a')).mobile, (await person('b')).mobile], [undefined, undefined])
    })

    it(`joins the people who exist to those of ${how}, without new data`, async () => {
      const { tenant, hr, addByEmail, person } = await newTenantOf()
      await hr.batch(upsert('identity', 'a', ADDRESS))
      const { id } = await person('a')
      const more = await addByEmail(isNew)
      await more.batch(upsert('identity', 's', { ...ADDRESS, directoryObjectId: ACCOUNT }))
      await service.audit()
      const people = await tenant.all('identities')
      assert.deepEqual(
        people.map(({ id, directoryObjectId }) => [id, directoryObjectId]),
        [[id, ACCOUNT]],
      )
    })
  }

  it('lets a supplement of a new connector add to a person who exists', async () => {
    const { hr, addByEmail, person } = await newTenantOf()
    await hr.batch(upsert('identity', 'a', ADDRESS))
    const more = await addByEmail(true, { authority: 'Supplement' })
    await more.batch(upsert('identity', 's', { ...ADDRESS, mobile: '1' }))
    await service.audit()
    assert.equal((await person('a')).mobile, '1')
  })

  it('lets a deleted person continue in no other before all have it', async () => {
    const { hr, set, person } = await newTenantOf()
    await hr.batch(...['a', 'b', 'c'].map((name) => upsert('identity', name, ADDRESS)))
    const ids = async () => Promise.all(['b', 'c'].map(async (name) => (await person(name)).id))
    const before = await ids()
    await set(BY_EMAIL)
    await hr.batch(upsert('identity', 'b', { ...ADDRESS, displayName: 'B' }))
    await hr.batch(remove('identity', 'a'))
    await service.audit()
    assert.deepEqual(await ids(), before)
  })

  it('keeps together those whom it joined before it was left out for a moment', async () => {
    const { tenant, hr, set, person } = await newTenantOf(BY_EMAIL)
    const more = await tenant.addConnector('More')
    await hr.batch(upsert('identity', 'a', ADDRESS))
    await more.batch(upsert('identity', 's', { ...ADDRESS, directoryObjectId: ACCOUNT }))
    await set({ joinOn: ['nin'] })
    await set(BY_EMAIL)
    await hr.batch(upsert('identity', 'a', { ...ADDRESS, displayName: 'A' }))
    assert.equal((await person('a')).directoryObjectId, ACCOUNT)
    await service.audit()
    assert.equal((await person('a')).directoryObjectId, ACCOUNT)
  })

  it('joins at once where another connector lists it already', async () => {
    const { tenant, hr, set, addByEmail, person } = await newTenantOf()
    await hr.batch(upsert('identity', 'a', ADDRESS))
    await set(BY_EMAIL)
    await service.audit()
    const more = await addByEmail(true)
    await more.batch(upsert('identity', 's', { ...ADDRESS, directoryObjectId: ACCOUNT }))
    assert.equal((await person('a')).directoryObjectId, ACCOUNT)
    assert.equal((await tenant.all('identities')).length, 1)
  })

  it('changes no version of its connector when it begins to join', async () => {
    const { hr, set, tenant } = await newTenantOf()
    await hr.batch(upsert('identity', 'a', ADDRESS))
    const { headers, body } = await set(BY_EMAIL)
    await service.audit()
    const read = await tenant.admin('GET', `${CONNECTORS}/${hr.id}`)
    assert.deepEqual(read.body.data, body.data)
    await set({ name: 'People' }, hr, { 'if-match': headers.etag ?? '' })
    const stale = { 'if-match': headers.etag ?? '' }
    const { status } = await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { name: 'X' }, stale)
    assert.equal(status, 412)
    const audit = (await tenant.admin('GET', `${CONNECTORS}/${hr.id}/audit`)).body.data
    assert.deepEqual(audit.map(({ action, after }: Body) => [action, Object.keys(after).join()]).slice(0, 2), [
      ['Updated', 'name'],
      ['Updated', 'joinOn'],
    ])
  })
})
