import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Send } from '../support/api/core-data-service.ts'
import { CRITERIA, codes, criteriaTenant, startCriteriaService } from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

async function values(send: Send, attribute: string, text?: string) {
  const query = new URLSearchParams({ attribute, ...(text === undefined ? {} : { text }) })
  return send('GET', `${CRITERIA}/attribute-values?${query}`)
}

describe('The values of an attribute', () => {
  it('are those of live objects, the most frequent first, with the number of objects', async () => {
    const tenant = criteriaTenant(service)
    const read = async (text?: string) => (await values(tenant.send, 'identityCountryCode', text)).body.data
    assert.deepEqual(await read(), [])
    for (const countryCode of ['SE', 'NO', 'DK', 'NO', 'NO', 'DK']) await tenant.person('Ann', { countryCode })
    const gone = await tenant.person('Ann', { countryCode: 'FI' })
    await tenant.put('identity', {}, gone, true)
    const [no, dk, se] = [
      { value: 'NO', objectCount: 3 },
      { value: 'DK', objectCount: 2 },
      { value: 'SE', objectCount: 1 },
    ]
    assert.deepEqual(await read(), [no, dk, se])
    assert.deepEqual(await read('k'), [dk])
    assert.deepEqual((await values(criteriaTenant(service).send, 'identityCountryCode')).body.data, [])
  })

  it('are at most 50, and those that contain a text in any case are found among all', async () => {
    const tenant = criteriaTenant(service)
    const names = Array.from({ length: 60 }, (_, index) => `Number ${index}`)
    for (const name of names) await tenant.person(name, { 'custom/shift': 'Day' })
    await tenant.person('Number 59', {})
    const { data } = (await values(tenant.send, 'identityDisplayName')).body
    assert.equal(data.length, 50)
    assert.deepEqual(data[0], { value: 'Number 59', objectCount: 2 })
    const found = (await values(tenant.send, 'identityDisplayName', 'nUMBER 57')).body.data
    assert.deepEqual(found, [{ value: 'Number 57', objectCount: 1 }])
    const custom = (await values(tenant.send, 'identityCustom/shift')).body.data
    assert.deepEqual(custom, [{ value: 'Day', objectCount: 60 }])
  })

  it('are refused for an attribute that the caller cannot use, sensitive ones included, and for one without texts', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann', { nin: '01019012345' })
    const administrator = (...roles: 'Administrator'[]) =>
      service.asUser(tenant.tenantId, randomUUID(), 'collection_criteria_definition-administrator', ...roles)
    const refusals = await Promise.all(
      ['identityNin', 'identityNothing'].map(async (name) => {
        return JSON.stringify((await values(administrator(), name)).body.errors).replaceAll(name, 'FIELD')
      }),
    )
    const refusal = { code: 'FieldNotInSchema', message: 'Field FIELD does not exist in schema', target: 'attribute' }
    assert.deepEqual(refusals, [JSON.stringify([refusal]), JSON.stringify([refusal])])
    const readable = (await values(administrator('Administrator'), 'identityNin')).body.data
    assert.deepEqual(readable, [{ value: '01019012345', objectCount: 1 }])
    for (const attribute of ['identityId', 'relationshipStartDate', 'orgUnitDeputies', 'memberOfCollection']) {
      assert.deepEqual(codes(await values(tenant.send, attribute)), [400, 'InvalidValue'], attribute)
    }
  })
})
