import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  startCoreDataService,
  upsert,
} from '../support/api/core-data-service.ts'

const NIN = '02029012345'

const service = await coreDataServiceOfTests()

async function newTenantOf(settings: object = {}, on = service) {
  const tenant = await newTenant(on)
  const hr = await tenant.addConnector('HR', settings)
  const set = async (joinOn: readonly string[], connector = hr) =>
    assert.equal((await tenant.admin('PUT', `${CONNECTORS}/${connector.id}`, { joinOn })).status, 200)
  const duplicates = async (): Promise<Body[]> => (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
  return { tenant, hr, set, duplicates }
}

describe('Duplicates by a key that is listed no more', () => {
  for (const [kind, joinOn] of [
    ['the account', ['directoryObjectId']],
    ['the e-mail address', ['email']],
  ] as const) {
    it(`are not shown, nor their value, where ${kind} is listed instead`, async () => {
      const { hr, set, duplicates } = await newTenantOf()
      const people = ['a', 'b'].map((name) => upsert('identity', name, { nin: NIN }))
      await hr.batch(...people)
      assert.deepEqual(
        (await duplicates()).map(({ value }) => value),
        ['hidden'],
      )
      await set(joinOn)
      assert.deepEqual(await duplicates(), [])
      await service.audit()
      assert.deepEqual(await duplicates(), [])
      await hr.batch(...people)
      assert.deepEqual(await duplicates(), [])
    })
  }

  it('are not shown by a listed key with which its name begins', async () => {
    const { hr, set, duplicates } = await newTenantOf({ joinOn: ['custom/badge no', 'nin'] })
    await hr.batch(...['a', 'b'].map((name) => upsert('identity', name, { nin: NIN, 'custom/badge no': '7' })))
    assert.equal((await duplicates()).length, 2)
    await set(['custom/badge'])
    await service.audit()
    assert.deepEqual(await duplicates(), [])
  })
})

describe('Duplicates by a key that is listed anew', () => {
  for (const [from, to] of [
    ['nin', 'employeeNumber'],
    ['employeeNumber', 'nin'],
    ['email', 'custom/badge'],
  ] as const) {
    it(`are shown for a single connector: ${to} instead of ${from}`, async () => {
      const { tenant, hr, set, duplicates } = await newTenantOf({ joinOn: [from] })
      await hr.batch(...['a', 'b'].map((name) => upsert('identity', name, { [to]: '7', displayName: name })))
      assert.deepEqual(await duplicates(), [])
      await set([to])
      await service.audit()
      const ids = (await tenant.all('identities')).map(({ id }) => id).sort()
      assert.deepEqual(await duplicates(), [{ key: to, value: to === 'nin' ? 'hidden' : '7', identityIds: ids }])
    })
  }
})

describe('A person who was deleted before a key was listed', () => {
  it('continues under another external id with this key, for as long as the deletion is kept', async () => {
    const dayMs = 24 * 60 * 60 * 1000
    let nowMs = Date.parse('2030-01-15T01:00:00Z')
    const service = await startCoreDataService(() => nowMs)
    try {
      const { tenant, hr, set } = await newTenantOf({ softDeletionDays: 20 }, service)
      const [early, late] = [{ email: 'early@example.org' }, { email: 'late@example.org' }]
      await hr.batch(upsert('identity', 'a', early), upsert('identity', 'b', late))
      const ids = await Promise.all(['a', 'b'].map(async (name) => (await tenant.byExternalId('identities', name)).id))
      await hr.batch(remove('identity', 'a'), remove('identity', 'b'))
      nowMs += 15 * dayMs
      await set(['email'])
      await service.audit()
      await hr.batch(upsert('identity', 'c', early))
      assert.equal((await tenant.byExternalId('identities', 'c')).id, ids[0])
      nowMs += 6 * dayMs
      await hr.batch(upsert('identity', 'd', late))
      assert.notEqual((await tenant.byExternalId('identities', 'd')).id, ids[1])
    } finally {
      await service.close()
    }
  })
})
