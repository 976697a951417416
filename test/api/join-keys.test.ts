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

const service = await coreDataServiceOfTests()

async function hrAndDirectory(joinOn?: readonly string[]) {
  const tenant = await newTenant(service)
  const hr = await tenant.addConnector('HR', joinOn && { joinOn })
  const directory = await tenant.addConnector('Directory')
  /** The external ids of each person's sources. */
  const people = async (): Promise<string[]> => {
    const sources = (await tenant.all('identities')).map(async ({ id }) => {
      const { body } = await tenant.admin('GET', `${CORE}/identities/${id}/sources`)
      return body.data
        .map(({ externalId }: Body) => externalId)
        .sort()
        .join('+')
    })
    return (await Promise.all(sources)).sort()
  }
  const duplicates = async (): Promise<Body[]> => (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
  const set = async (settings: object, connector = hr) => {
    const plan = (await tenant.admin('POST', `${CONNECTORS}/${connector.id}/plan`, settings)).body.data
    assert.equal((await tenant.admin('PUT', `${CONNECTORS}/${connector.id}`, settings)).status, 200)
    await service.audit()
    return plan
  }
  return { tenant, hr, directory, people, duplicates, set }
}

const NOTHING = { merged: 0, split: 0, losingAccount: 0, gainingAccount: 0, added: 0, removed: 0 }

describe('Join keys', () => {
  for (const [key, first, second] of [
    ['email', 'Ada@Example.ORG', 'ada@example.org'],
    ['employeeNumber', 'E-7', 'e-7'],
    ['directoryUserPrincipalName', 'İpek@example.org', 'ipek@example.org'],
    ['custom/badge no', 'B1', 'b1'],
    ['nin', 'AB12', 'ab12'],
    ['nin', 'aB12', 'Ab12'],
  ] as const) {
    for (const isListedFirst of [true, false]) {
      it(`join by ${key} (${first}), without case, whichever connector lists it and is first: ${isListedFirst}`, async () => {
        const { hr, directory, people, tenant } = await hrAndDirectory([key])
        const writes = [
          () => hr.batch(upsert('identity', 'h', { [key]: first })),
          () => directory.batch(upsert('identity', 'd', { [key]: second, directoryObjectId: ACCOUNT })),
        ]
        for (const write of isListedFirst ? writes : writes.toReversed()) await write()
        assert.deepEqual(await people(), ['d+h'])
        const [{ id }] = await tenant.all('identities')
        const { body } = await tenant.admin('GET', `${CORE}/identities/${id}/sources`)
        assert.deepEqual(
          body.data.map(({ joinedBy }: Body) => joinedBy),
          [null, key],
        )
        await directory.batch(upsert('identity', 'd', { [key]: 'another' }))
        assert.deepEqual(await people(), ['d', 'h'])
      })
    }
  }

  it('decide in their order, and never join two different nin', async () => {
    const { hr, directory, people } = await hrAndDirectory(['nin', 'email'])
    await directory.batch(
      upsert('identity', 'd1', { nin: '1', email: 'x' }),
      upsert('identity', 'd2', { nin: '2', email: 'y' }),
      upsert('identity', 'd3', { email: 'z' }),
    )
    await hr.batch(
      upsert('identity', 'h1', { nin: '1', email: 'y' }),
      upsert('identity', 'h2', { nin: '3', email: 'y' }),
      upsert('identity', 'h3', { nin: '4', email: 'z' }),
    )
    assert.deepEqual(await people(), ['d1+h1', 'd2', 'd3+h3', 'h2'])
  })

  it('join nobody where two have the value, and list them; who has joined before stays', async () => {
    const { hr, directory, people, duplicates } = await hrAndDirectory(['email'])
    await hr.batch(upsert('identity', 'h1', { email: 'x' }))
    await directory.batch(upsert('identity', 'd1', { email: 'X' }))
    assert.deepEqual([await people(), await duplicates()], [['d1+h1'], []])
    await hr.batch(upsert('identity', 'h2', { email: 'x' }))
    assert.deepEqual(await people(), ['d1+h1', 'h2'])
    const [duplicate, ...others] = await duplicates()
    assert.deepEqual([duplicate.key, duplicate.value, duplicate.identityIds.length, others], ['email', 'x', 2, []])
    await hr.batch(remove('identity', 'h1'))
    assert.deepEqual([await people(), await duplicates()], [['d1+h2'], []])
  })

  for (const key of ['email', 'employeeNumber', 'custom/badge no']) {
    it(`find two who come in one batch with the same ${key}, as the only source so far`, async () => {
      const tenant = await newTenant(service)
      const hr = await tenant.addConnector('HR', { joinOn: ['nin', key] })
      await hr.batch(upsert('identity', 'a', { [key]: 'x' }), upsert('identity', 'b', { [key]: 'x' }))
      const more = await tenant.addConnector('More', { joinOn: ['nin', key] })
      await more.batch(upsert('identity', 'c', { [key]: 'x' }))
      assert.equal((await tenant.all('identities')).length, 3)
      const [duplicate] = (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
      assert.deepEqual([duplicate.key, duplicate.identityIds.length], [key, 3])
    })
  }

  it('hide the nin of duplicates, of one connector too', async () => {
    const tenant = await newTenant(service)
    const hr = await tenant.addConnector('HR')
    await hr.batch(upsert('identity', 'a', { nin: '1' }), upsert('identity', 'b', {}))
    await hr.batch(upsert('identity', 'b', { nin: '1' }))
    const duplicates = async () => (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
    const ids = (await tenant.all('identities')).map(({ id }) => id).sort()
    assert.deepEqual(await duplicates(), [{ key: 'nin', value: 'hidden', identityIds: ids }])
    await hr.batch(upsert('identity', 'b', { nin: '1', email: 'x' }))
    assert.equal((await duplicates()).length, 1)
    await hr.batch(upsert('identity', 'b', { nin: '2' }))
    assert.deepEqual(await duplicates(), [])
  })

  it('join and split soon after a change, as its plan says, without new data', async () => {
    const { hr, directory, people, set } = await hrAndDirectory()
    await hr.batch(
      upsert('identity', 'h1', { email: 'one@example.org' }),
      upsert('identity', 'h2', { email: 'two@example.org', nin: '2' }),
      upsert('identity', 'h3', { email: 'x', directoryObjectId: ACCOUNT }),
    )
    await directory.batch(
      upsert('identity', 'd1', { email: 'ONE@example.org' }),
      upsert('identity', 'd2', { email: 'two@example.org', nin: '2' }),
      upsert('identity', 'd3', { directoryObjectId: ACCOUNT }),
    )
    assert.deepEqual(await people(), ['d1', 'd2+h2', 'd3+h3', 'h1'])
    assert.deepEqual(await set({ joinOn: ['nin', 'directoryObjectId', 'email'] }), { ...NOTHING, merged: 1 })
    assert.deepEqual(await people(), ['d1+h1', 'd2+h2', 'd3+h3'])
    const joinOn = ['employeeNumber']
    const { set: setDirectory } = { set: (settings: object) => set(settings, directory) }
    assert.deepEqual(await setDirectory({ joinOn }), NOTHING)
    assert.deepEqual(await set({ joinOn }), { ...NOTHING, split: 3 })
    assert.deepEqual(await people(), ['d1', 'd2', 'd3', 'h1', 'h2', 'h3'])
  })

  it('join nobody by a new key that two others have as well, whichever is looked at first', async () => {
    const { hr, directory, people, duplicates, set } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { email: 'x' }))
    await directory.batch(
      upsert('identity', 'd1', { email: 'X', nin: '1' }),
      upsert('identity', 'd2', { email: 'x', nin: '2' }),
    )
    assert.deepEqual(await set({ joinOn: ['email'] }), NOTHING)
    assert.deepEqual(await people(), ['d1', 'd2', 'h1'])
    assert.equal((await duplicates())[0].identityIds.length, 3)
  })

  it('are planned together with accounts and authority', async () => {
    const { hr, directory, tenant, set } = await hrAndDirectory()
    await hr.batch(upsert('identity', 'h1', { nin: '1' }))
    await directory.batch(
      upsert('identity', 'd1', { nin: '1', directoryObjectId: ACCOUNT }),
      upsert('identity', 'd2', { nin: '2' }),
    )
    const plan = async (settings: object) =>
      (await tenant.admin('POST', `${CONNECTORS}/${directory.id}/plan`, settings)).body.data
    assert.deepEqual(await plan({ bindsAccounts: false }), { ...NOTHING, losingAccount: 1 })
    assert.deepEqual(await plan({ authority: 'Supplement' }), { ...NOTHING, losingAccount: 1, removed: 1 })
    assert.equal((await tenant.all('identities')).length, 2)
    await set({ authority: 'Supplement' }, directory)
    assert.deepEqual(await plan({ authority: 'Full' }), { ...NOTHING, gainingAccount: 1, added: 1 })
  })

  it('are refused when unknown, twice or none', async () => {
    const { tenant, hr } = await hrAndDirectory()
    for (const joinOn of [[], ['nin', 'nin'], ['displayName'], ['custom/'], 'nin']) {
      const { status } = await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { joinOn })
      assert.equal(status, 400, JSON.stringify(joinOn))
    }
  })
})
