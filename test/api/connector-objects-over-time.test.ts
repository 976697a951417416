import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { cosmosDeletedCoreObjects } from '../../shared/cosmos/core/core-object-store.ts'
import type { SnapshotObject } from '../../shared/domain/tenant-index/rows/apply-objects.ts'
import {
  CONNECTORS,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  to,
  upsert,
} from '../support/api/core-data-service.ts'

let nowMs = Date.parse('2030-01-01T00:00:00.900Z')
const service = await coreDataServiceOfTests(() => nowMs)

const DAY_MS = 24 * 60 * 60 * 1000

describe('lastUpdated', () => {
  it('is the time of the write in seconds, for the core object and the connector object', async () => {
    nowMs = Date.parse('2030-01-01T10:00:00.900Z')
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada' }))
    const said = (await hr.send('GET', `${hr.data}/identity/p1`)).body.data
    assert.equal(said.lastUpdated, '2030-01-01T10:00:00+00:00')
    assert.equal((await tenant.byExternalId('identities', 'p1')).lastUpdated, '2030-01-01T10:00:00+00:00')
  })

  it('stays the same after writes without changes, and after writes of other objects', async () => {
    nowMs = Date.parse('2030-02-01T10:00:00.900Z')
    const tenant = await newTenant(service)
    const [hr, directory] = [await tenant.addConnector('HR'), await tenant.addConnector('Directory')]
    const item = upsert('identity', 'p1', { displayName: 'Ada', nin: '1' })
    await hr.batch(item)
    nowMs += 5000
    await hr.batch(item, upsert('identity', 'p2', {}))
    const whole = (await hr.send('GET', `${hr.data}/identity/p1`)).body.data
    await hr.send('PUT', `${hr.data}/${whole.id}`, { data: { nin: '1', displayName: 'Ada', email: null, mobile: '' } })
    await directory.batch(upsert('identity', 'd1', { nin: '1', displayName: 'Other' }))
    await directory.batch(remove('identity', 'd1'))
    assert.equal((await hr.send('GET', `${hr.data}/identity/p1`)).body.data.lastUpdated, '2030-02-01T10:00:00+00:00')
  })

  it('advances when the object changes, also through its references', async () => {
    nowMs = Date.parse('2030-03-01T10:00:00.900Z')
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('identity', 'p1', { displayName: 'Ada' }),
      upsert('relationship', 'r1', { orgUnit: to('o1') }),
    )
    nowMs += 5000
    await hr.batch(upsert('identity', 'p1', { displayName: 'Eva' }), upsert('orgUnit', 'o1', {}))
    assert.equal((await tenant.byExternalId('identities', 'p1')).lastUpdated, '2030-03-01T10:00:05+00:00')
    assert.equal((await tenant.byExternalId('relationships', 'r1')).lastUpdated, '2030-03-01T10:00:05+00:00')
    const said = (await hr.send('GET', `${hr.data}/relationship/r1`)).body.data
    assert.equal(said.lastUpdated, '2030-03-01T10:00:00+00:00')
  })
})

describe('a deleted object', () => {
  it('is restored with its core id until it expires, and references to it resolve again', async () => {
    nowMs = Date.parse('2030-04-01T00:00:00Z')
    const tenant = await newTenant(service)
    const hr = await tenant.addConnector('HR', { softDeletionDays: 3 })
    await hr.batch(upsert('identity', 'p1', {}), upsert('relationship', 'r1', { identity: to('p1') }))
    const { id } = await tenant.byExternalId('identities', 'p1')
    await hr.batch(remove('identity', 'p1'))
    assert.equal((await tenant.byExternalId('relationships', 'r1')).identity, undefined)
    nowMs += 3 * DAY_MS - 1000
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada' }))
    assert.deepEqual((await tenant.byExternalId('relationships', 'r1')).identity, { objectId: id })
    assert.equal((await tenant.byExternalId('identities', 'p1')).displayName, 'Ada')
    nowMs += 30 * DAY_MS
    assert.equal((await tenant.byExternalId('identities', 'p1')).id, id)
  })

  for (const [hrDays, directoryDays] of [
    [20, 1],
    [2, 300],
  ] as const) {
    it(`is kept for ${hrDays} days of its connector when one with ${directoryDays} days moves it`, async () => {
      nowMs = Date.parse('2030-04-01T00:00:00Z')
      const tenant = await newTenant(service)
      const hr = await tenant.addConnector('HR', { softDeletionDays: hrDays })
      const directory = await tenant.addConnector('Directory', { softDeletionDays: directoryDays })
      await hr.batch(upsert('identity', 'p1', { nin: '1' }), upsert('identity', 'p2', { nin: '2' }))
      await directory.batch(upsert('identity', 'd1', { nin: '1' }))
      await hr.batch(remove('identity', 'p1'))
      nowMs += DAY_MS
      await directory.batch(upsert('identity', 'd1', { nin: '2' }))
      const query = "SELECT c.id FROM c WHERE c.externalId = 'p1' AND c.connectorId = @connectorId"
      const spec = { query, parameters: [{ name: '@connectorId', value: hr.id }] }
      const options = { partitionKey: tenant.tenantId }
      const storedCount = async () =>
        (await service.database('connectorObjects').items.query(spec, options).fetchAll()).resources.length
      nowMs += (hrDays - 1) * DAY_MS - 1000
      assert.equal(await storedCount(), 1)
      nowMs += 2000
      assert.equal(await storedCount(), 0)
    })
  }

  for (const [claim, hrDays, directoryDays, expected, authority = 'Full'] of [
    ['while the source can that was deleted first', 1, 20, '2030-04-21T00:00:00.000Z'],
    ['while the source can that was deleted last', 300, 20, '2031-01-31T00:00:00.000Z'],
    ['longer by the later deletion', 2, 1, '2030-04-08T00:00:00.000Z'],
    ['no longer by one that only supplemented it', 1, 20, '2030-04-07T00:00:00.000Z', 'Supplement'],
  ] as const) {
    it(`of two connectors can be restored ${claim}`, async () => {
      nowMs = Date.parse('2030-04-01T00:00:00Z')
      const tenant = await newTenant(service)
      const hr = await tenant.addConnector('HR', { softDeletionDays: hrDays })
      const directory = await tenant.addConnector('Directory', { softDeletionDays: directoryDays, authority })
      await hr.batch(upsert('identity', 'p1', { nin: '1' }))
      await directory.batch(upsert('identity', 'd1', { nin: '1' }))
      const { id } = await tenant.byExternalId('identities', 'p1')
      await directory.batch(remove('identity', 'd1'))
      nowMs = Date.parse('2030-04-06T00:00:00Z')
      await hr.batch(remove('identity', 'p1'))
      const store = cosmosDeletedCoreObjects(service.database('coreObjects'))
      const expiries = async () =>
        (await store.ofIds(tenant.tenantId, [id])).map(({ expiresAtMs = 0 }) => new Date(expiresAtMs).toISOString())
      assert.deepEqual(await expiries(), [expected])
      nowMs = Date.parse(expected) - 1000
      assert.deepEqual(await expiries(), [expected])
      nowMs = Date.parse(expected) + 1000
      assert.deepEqual(await expiries(), [])
    })
  }

  it('tells readers of changes that it was restored, also after later changes, until it is deleted again', async () => {
    nowMs = Date.parse('2030-04-01T00:00:00Z')
    const { tenant, hr } = await newTenantWithHr(service)
    const changes = cosmosCoreObjectChanges(service.database('coreObjects'), () => nowMs)
    const told = async () => {
      const objects: SnapshotObject[] = []
      for await (const page of changes.since(tenant.tenantId, undefined)) objects.push(...page.objects)
      return objects.map(({ deleted, restored }) => ({ deleted, restored }))
    }
    await hr.batch(upsert('identity', 'p1', {}))
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada' }))
    assert.deepEqual(await told(), [{ deleted: false, restored: undefined }])
    for (const item of [upsert('identity', 'p1', {}), upsert('identity', 'p1', { displayName: 'Ada' })]) {
      await hr.batch(remove('identity', 'p1'))
      assert.deepEqual(await told(), [{ deleted: true, restored: undefined }])
      await hr.batch(item)
      assert.deepEqual(await told(), [{ deleted: false, restored: true }])
      await hr.batch(upsert('identity', 'p1', { displayName: 'Eva' }))
      assert.deepEqual(await told(), [{ deleted: false, restored: true }])
    }
  })
})

describe('a connector', () => {
  it('that is disabled keeps its objects, refuses writes in every route, and accepts them again when enabled', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada' }))
    const { id } = (await hr.send('GET', `${hr.data}/identity/p1`)).body.data
    const writes = [
      ['POST', hr.data, { externalId: 'p2', objectType: 'identity', data: {} }],
      ['POST', `${hr.data}/batch`, { items: [upsert('identity', 'p2', {})] }],
      ['PUT', `${hr.data}/${id}`, { data: {} }],
      ['DELETE', `${hr.data}/${id}`, undefined],
    ] as const
    await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { enabled: false })
    for (const [method, path, body] of writes) {
      const answer = await hr.send(method, path, body)
      assert.deepEqual([answer.status, answer.body.errors[0].code], [409, 'ConnectorDisabled'], `${method} ${path}`)
    }
    assert.equal((await hr.send('GET', hr.data)).body.data.length, 1)
    assert.equal((await hr.send('GET', `${hr.data}/identity/p1`)).body.data.data.displayName, 'Ada')
    assert.equal((await tenant.all('identities')).length, 1)
    await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { enabled: true })
    for (const [method, path, body] of writes) assert.ok((await hr.send(method, path, body)).status < 300, path)
  })

  it('refuses cursors of another connector and of core objects', async () => {
    const tenant = await newTenant(service)
    const [hr, other] = [await tenant.addConnector('HR'), await tenant.addConnector('Other')]
    for (const { batch } of [hr, other]) await batch(upsert('identity', 'a', {}), upsert('identity', 'b', {}))
    const ofHr = (await hr.send('GET', `${hr.data}?pageSize=1`)).body.nextCursor
    const ofCore = (await tenant.admin('GET', '/iamcore/beta/sync/coreobjects/identities?pageSize=1')).body.nextCursor
    for (const cursor of [ofHr, ofCore]) {
      const { status, body } = await other.send('GET', `${other.data}?nextCursor=${cursor}`)
      assert.deepEqual([status, body.errors[0].code], [400, 'InvalidCursor'])
    }
    assert.equal((await hr.send('GET', `${hr.data}?nextCursor=${ofHr}`)).body.data.length, 1)
  })
})
