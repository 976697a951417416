import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  upsert,
} from '../support/api/core-data-service.ts'

const NIN = '02029012345'

const service = await coreDataServiceOfTests()

async function newTenantOf(settings: object = {}) {
  const tenant = await newTenant(service)
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
})
