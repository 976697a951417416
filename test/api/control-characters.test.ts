import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { builtService } from '../support/api/built-service.ts'
import { coreDataServiceOfTests, newTenantWithHr, remove, to, upsert } from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const C1 = 'a\u0085b'
const SURROGATE = 'a\ud800'
const DATA = { displayName: 'Ada' }

describe('A batch', () => {
  it('refuses control characters and unpaired surrogates in external ids and references, as a single creation does', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    for (const externalId of ['a\u0007b', C1, SURROGATE]) {
      const single = await hr.send('POST', hr.data, { objectType: 'identity', externalId, data: {} })
      assert.equal(single.status, 400)
      const outcomes = await hr.batch(
        upsert('identity', externalId, DATA),
        upsert('relationship', 'one', { identity: to(externalId) }),
        upsert('orgUnit', 'unit', { deputies: [to(externalId)] }),
      )
      assert.deepEqual(
        outcomes.map(({ status, errors: [{ code, target }] }) => [status, code, target]),
        [
          [400, 'InvalidValue', '/items/0/externalId'],
          [400, 'InvalidValue', '/items/1/data/identity/externalId'],
          [400, 'InvalidValue', '/items/2/data/deputies/0/externalId'],
        ],
      )
    }
    assert.deepEqual(await tenant.all('identities'), [])
  })

  it('deletes and renames objects whose external ids have C1 control characters', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const { connectors: deps } = builtService(service.database, { nowMs: Date.now, elapsedMs: () => performance.now() })
    const connector = (await deps.connectors.find(tenant.tenantId, hr.id))?.value ?? assert.fail()
    const stored = ['first\u0085', 'second\u0085'].map((externalId): ObjectWrite => {
      return { operation: 'upsert', objectType: 'identity', externalId, data: DATA }
    })
    await writeObjects(tenant.tenantId, connector, stored, deps)
    const { id } = await tenant.byExternalId('identities', 'first\u0085')
    const outcomes = await hr.batch(
      { ...upsert('identity', 'first', DATA), previousExternalId: 'first\u0085' },
      remove('identity', 'second\u0085'),
      upsert('identity', 'third', DATA),
    )
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [200, 200, 201],
    )
    assert.equal((await tenant.byExternalId('identities', 'first')).id, id)
    const names = (await tenant.all('identities')).map(({ externalId }) => externalId)
    assert.deepEqual(names.sort(), ['first', 'third'])
  })
})
