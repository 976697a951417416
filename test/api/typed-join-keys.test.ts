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

const ACCOUNT = '0a0a0a0a-0000-4000-8000-00000000000a'

const service = await coreDataServiceOfTests()

/** Two connectors whose identities join by a custom attribute. */
async function joinedByBadge() {
  const tenant = await newTenant(service)
  const hr = await tenant.addConnector('HR', { joinOn: ['custom/badge'] })
  const directory = await tenant.addConnector('Directory')
  const setType = async (type: string) => {
    const attributeTypes = [{ objectType: 'identity', name: 'badge', type }]
    assert.equal((await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { attributeTypes })).status, 200)
  }
  const person = (externalId: string): Promise<Body> => tenant.byExternalId('identities', externalId)
  return { tenant, hr, directory, setType, person }
}

describe('A join key that gets a type', () => {
  for (const [type, badge] of [
    ['Integer', '007'],
    ['StringList', 'B7'],
    ['Boolean', 'TRUE'],
    ['DateTime', '2030-01-15'],
  ] as const) {
    for (const isAudited of [true, false]) {
      it(`keeps a person together whose data one connector sends again: ${type}, after the audit: ${isAudited}`, async () => {
        const { tenant, hr, directory, setType, person } = await joinedByBadge()
        const ofHr = () => hr.batch(upsert('identity', 'h', { 'custom/badge': badge, displayName: 'Ada' }))
        const account = { 'custom/badge': badge, directoryObjectId: ACCOUNT }
        await ofHr()
        await directory.batch(upsert('identity', 'd', account))
        const accountOf = async () => [(await person('h')).directoryObjectId, (await tenant.all('identities')).length]
        assert.deepEqual(await accountOf(), [ACCOUNT, 1])
        await setType(type)
        if (isAudited) await service.audit()
        await ofHr()
        assert.deepEqual(await accountOf(), [ACCOUNT, 1])
        await service.audit()
        assert.deepEqual(await accountOf(), [ACCOUNT, 1])
        await directory.batch(upsert('identity', 'd', account))
        assert.deepEqual(await accountOf(), [ACCOUNT, 1])
      })
    }
  }

  it('joins by values in another form once all people have it stored, and none before', async () => {
    const { tenant, hr, directory, setType, person } = await joinedByBadge()
    await hr.batch(
      upsert('identity', 'one', { 'custom/badge': '1' }),
      upsert('identity', 'a', { 'custom/badge': '007' }),
      upsert('identity', 'b', { 'custom/badge': '7' }),
    )
    await setType('Integer')
    await directory.batch(
      upsert('identity', 'd', { 'custom/badge': '07', directoryObjectId: ACCOUNT }),
      upsert('identity', 'd1', { 'custom/badge': '01', mobile: '1' }),
    )
    const found = async () => Promise.all(['a', 'b', 'd'].map(async (name) => (await person(name)).directoryObjectId))
    assert.deepEqual(await found(), [undefined, undefined, ACCOUNT])
    await service.audit()
    assert.deepEqual(await found(), [undefined, undefined, ACCOUNT])
    assert.equal((await person('one')).mobile, '1')
    const [{ key, value, identityIds }] = (await tenant.admin('GET', `${CORE}/duplicates`)).body.data
    assert.deepEqual([key, value, identityIds.length], ['custom/badge', '7', 3])
  })

  it('compares as text again when the connector with its type is deleted', async () => {
    const { tenant, hr, directory, person } = await joinedByBadge()
    await hr.batch(upsert('identity', 'h', { 'custom/badge': '007' }))
    const attributeTypes = [{ objectType: 'identity', name: 'badge', type: 'Integer' }]
    const types = await tenant.addConnector('Types', { attributeTypes })
    await service.audit()
    assert.equal((await tenant.admin('DELETE', `${CONNECTORS}/${types.id}`)).status, 200)
    await service.audit()
    await directory.batch(upsert('identity', 'd', { 'custom/badge': '007', directoryObjectId: ACCOUNT }))
    assert.equal((await person('h')).directoryObjectId, ACCOUNT)
  })
})
