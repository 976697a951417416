import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { coreDataServiceOfTests, newTenantWithHr, remove, upsert } from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const named = (from: number, count: number, value = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`custom/${from + index}`, value]))

describe('A tenant with 200 different custom attributes of identities', () => {
  it('refuses each object of a batch that adds another one, and writes the others', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const results = await hr.batch(
      upsert('identity', 'a', named(0, 100)),
      upsert('identity', 'b', named(100, 99)),
      upsert('identity', 'c', { ...named(0, 10), ...named(199, 2) }),
      upsert('identity', 'd', named(199, 1)),
      upsert('identity', 'e', { displayName: 'E', 'custom/a~/b': 'x' }),
      upsert('orgUnit', 'f', named(300, 1)),
    )
    assert.deepEqual(
      results.map(({ status, errors }) => [status, errors?.[0].code, errors?.[0].target]),
      [
        [201, undefined, undefined],
        [201, undefined, undefined],
        [400, 'TooManyAttributes', '/items/2/data/custom~1200'],
        [201, undefined, undefined],
        [400, 'UnknownAttribute', '/items/4/data/custom~1a~0~1b'],
        [201, undefined, undefined],
      ],
    )
    assert.deepEqual((await tenant.all('identities')).map(({ externalId }) => externalId).sort(), ['a', 'b', 'd'])
  })

  it('changes, deletes and restores the objects that it has', async () => {
    const { hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'a', named(0, 100)), upsert('identity', 'b', named(100, 100)))
    const [changed] = await hr.batch(upsert('identity', 'a', named(0, 100, 'y')))
    const [deleted] = await hr.batch(remove('identity', 'b'))
    const [restored] = await hr.batch(upsert('identity', 'b', named(50, 100)))
    assert.deepEqual([changed.status, deleted.status, restored.status], [200, 200, 201])
    const { status, body } = await hr.send('POST', hr.data, {
      objectType: 'identity',
      externalId: 'c',
      data: named(200, 1),
    })
    assert.deepEqual(
      [status, body.errors[0].code, body.errors[0].target],
      [400, 'TooManyAttributes', '/data/custom~1200'],
    )
  })
})
