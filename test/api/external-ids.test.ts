import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectorObjectId } from '../../shared/domain/connectors/connector-object.ts'
import { builtService } from '../support/api/built-service.ts'
import {
  type Body,
  coreDataServiceOfTests,
  newTenantWithHr,
  remove,
  to,
  upsert,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const DATA = { displayName: 'Ada' }

describe('The external ids . and .., which no URL path can contain,', () => {
  const results = (outcomes: Body[]) =>
    outcomes.map(({ status, errors }) => [status, errors?.[0].code, errors?.[0].target])

  it('are refused for new objects, renamed and deleted ones, with a reason', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'former', DATA))
    for (const externalId of ['.', '..']) {
      const { status, body } = await hr.send('POST', hr.data, { objectType: 'orgUnit', externalId, data: {} })
      assert.equal(status, 400)
      const [{ code, target, message }] = body.errors
      assert.deepEqual([code, target], ['InvalidValue', '/externalId'])
      assert.equal(message, `A URL path cannot contain the external id ${externalId}`)
      const outcomes = await hr.batch(
        upsert('relationship', externalId, {}),
        { ...upsert('identity', externalId, DATA), previousExternalId: 'former' },
        { ...upsert('orgUnit', externalId, {}), previousExternalId: 'none' },
      )
      assert.deepEqual(results(outcomes), [
        [400, 'InvalidValue', '/items/0/externalId'],
        [400, 'InvalidValue', '/items/1/externalId'],
        [400, 'InvalidValue', '/items/2/externalId'],
      ])
    }
    const names = (await tenant.all('identities')).map(({ externalId }) => externalId)
    assert.deepEqual(names, ['former'])
    const others = await hr.batch(upsert('identity', '...', DATA), upsert('identity', '.a', DATA))
    assert.deepEqual(results(others), [
      [201, undefined, undefined],
      [201, undefined, undefined],
    ])
  })

  it('stay those of stored objects, which are listed, updated, renamed and deleted', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('orgUnit', 'first', {}), upsert('orgUnit', 'second', {}))
    await storeAs('.', 'first', tenant.tenantId, hr.id)
    await storeAs('..', 'second', tenant.tenantId, hr.id)
    const data = { displayName: 'Office' }
    const changed = await hr.batch(
      upsert('orgUnit', '.', data),
      upsert('relationship', 'job', { orgUnit: to('.') }),
      remove('orgUnit', '..'),
    )
    assert.deepEqual(
      changed.map(({ status, warnings }) => [status, warnings]),
      [
        [200, undefined],
        [201, undefined],
        [200, undefined],
      ],
    )
    const listed = (await hr.send('GET', `${hr.data}?objectType=orgUnit`)).body.data
    assert.deepEqual(
      listed.map((object: Body) => [object.externalId, object.data]),
      [['.', data]],
    )
    const replaced = await hr.send('PUT', `${hr.data}/${listed[0].id}`, { ...listed[0], data: {} })
    assert.deepEqual([replaced.status, replaced.body.data.externalId], [200, '.'])
    const again = await hr.batch(
      { ...upsert('orgUnit', 'office', data), previousExternalId: '.' },
      upsert('orgUnit', '..', data),
    )
    assert.deepEqual(results(again), [
      [200, undefined, undefined],
      [400, 'InvalidValue', '/items/1/externalId'],
    ])
  })

  /** As an earlier release has stored the object. */
  async function storeAs(externalId: string, present: string, tenantId: string, connectorId: string): Promise<void> {
    const { connectors } = builtService(service.database, { nowMs: Date.now, elapsedMs: () => performance.now() })
    const idOf = (name: string) =>
      connectorObjectId({ connectorId, objectType: 'orgUnit', externalId: name }, connectors.deriveId)
    const container = service.database('connectorObjects')
    const { resource } = await container.item(idOf(present), tenantId).read()
    await container.items.create({ ...resource, id: idOf(externalId), externalId })
    await container.item(idOf(present), tenantId).delete()
  }
})
