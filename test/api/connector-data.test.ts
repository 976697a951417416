import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  application,
  type Body,
  CONNECTORS,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  startCoreDataService,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const codes = (result: Body): string[] => result.errors.map((entry: Body) => entry.code)

describe('a batch of connector data', () => {
  it('creates core objects with attributes at top level and references by core id', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const results = await hr.batch(
      upsert('relationship', 'r1', { title: 'Baker', identity: to('p1'), orgUnit: to('o1'), startDate: '2024-01-31' }),
      upsert('identity', 'p1', { displayName: 'Ada', 'custom/shoe size': '38', email: '' }),
      upsert('orgUnit', 'o1', { displayName: 'Bakery', manager: to('p1'), deputies: [to('p1'), to('nobody')] }),
    )
    assert.deepEqual(
      results.map(({ index, status }) => [index, status]),
      [
        [0, 201],
        [1, 201],
        [2, 201],
      ],
    )
    const identity = await tenant.byExternalId('identities', 'p1')
    const orgUnit = await tenant.byExternalId('orgunits', 'o1')
    const relationship = await tenant.byExternalId('relationships', 'r1')
    assert.match(identity.lastUpdated, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    const { lastUpdated: _1, ...identityRest } = identity
    assert.deepEqual(identityRest, { id: identity.id, externalId: 'p1', displayName: 'Ada', 'custom/shoe size': '38' })
    assert.deepEqual(orgUnit.manager, { objectId: identity.id })
    assert.deepEqual(orgUnit.deputies, [{ objectId: identity.id }])
    assert.deepEqual(relationship.identity, { objectId: identity.id })
    assert.deepEqual(relationship.orgUnit, { objectId: orgUnit.id })
    assert.equal(relationship.startDate, '2024-01-31')
  })

  it('refuses invalid items independently, each with all its faults', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const results = await hr.batch(
      upsert('identity', 'p1', { displayName: 'Ada' }),
      upsert('identity', 'p2', { shoeSize: 38, displayName: 7, directoryObjectId: 'x' }),
      upsert('identity', 'p1', { displayName: 'Twice' }),
      remove('identity', 'p3'),
      { op: 'merge', objectType: 'robot', externalId: '' },
      'nothing',
      upsert('orgUnit', 'o1', { parent: to('o1') }),
      JSON.parse('{"op":"upsert","objectType":"identity","externalId":"p4","data":{"__proto__":"x"}}'),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      [201, 400, 400, 404, 400, 400, 400, 400],
    )
    assert.deepEqual(codes(results[1]), ['UnknownAttribute', 'InvalidType', 'InvalidId'])
    assert.deepEqual(
      results[1].errors.map(({ target }: Body) => target),
      ['/items/1/data/shoeSize', '/items/1/data/displayName', '/items/1/data/directoryObjectId'],
    )
    assert.deepEqual(codes(results[2]), ['DuplicateItem'])
    assert.deepEqual(codes(results[3]), ['ConnectorObjectNotFound'])
    assert.deepEqual(codes(results[4]), ['InvalidValue', 'InvalidValue', 'InvalidLength', 'MissingMember'])
    assert.deepEqual(codes(results[5]), ['InvalidType'])
    assert.deepEqual(codes(results[6]), ['ReferenceToItself'])
    assert.equal(results[6].errors[0].target, '/items/6/data/parent')
    assert.deepEqual(codes(results[7]), ['UnknownAttribute'])
    assert.equal((await tenant.all('identities')).length, 1)
  })

  it('writes nothing and enqueues nothing when no data changes', async () => {
    const { hr } = await newTenantWithHr(service)
    const items = [
      upsert('identity', 'p1', { displayName: 'Ada', email: 'ada@example.org' }),
      upsert('relationship', 'r1', { identity: to('p1'), orgUnit: to('missing') }),
    ]
    await hr.batch(...items)
    const [sentMessages, writes] = [service.sentMessages.length, service.cosmos.writeCount()]
    const again = await hr.batch(upsert('identity', 'p1', { email: 'ada@example.org', displayName: 'Ada' }), items[1])
    assert.deepEqual(
      again.map(({ status }) => status),
      [200, 200],
    )
    assert.equal(service.sentMessages.length, sentMessages)
    assert.equal(service.cosmos.writeCount(), writes)
  })

  it('enqueues one message for a batch with changes', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', {}), upsert('identity', 'p2', {}))
    assert.equal(service.sentMessages.filter((tenantId) => tenantId === tenant.tenantId).length, 1)
  })

  it('refuses cycles of parents, across batches and within one', async () => {
    const { hr } = await newTenantWithHr(service)
    await hr.batch(upsert('orgUnit', 'a', { parent: to('b') }), upsert('orgUnit', 'b', { parent: to('c') }))
    const [result] = await hr.batch(upsert('orgUnit', 'c', { parent: to('a') }))
    assert.deepEqual([result.status, ...codes(result)], [400, 'ReferenceCycle'])
    const within = await hr.batch(
      upsert('orgUnit', 'x', { parent: to('y') }),
      upsert('orgUnit', 'y', { parent: to('x') }),
    )
    assert.deepEqual(
      within.map(({ status }) => status),
      [201, 400],
    )
  })

  it('limits external ids in items and references by characters, as elsewhere', async () => {
    const { hr } = await newTenantWithHr(service)
    const longest = '😀'.repeat(500)
    const results = await hr.batch(
      upsert('identity', longest, {}),
      upsert('relationship', 'r1', { identity: { externalId: longest } }),
      upsert('identity', `${longest}x`, {}),
      upsert('relationship', 'r2', { identity: { externalId: `${longest}x` } }),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      [201, 201, 400, 400],
    )
  })

  it('does not join identities by blank keys', async () => {
    const tenant = await newTenant(service)
    const [hr, payroll] = [await tenant.addConnector('HR'), await tenant.addConnector('Payroll')]
    await hr.batch(upsert('identity', 'p1', { nin: '  ' }))
    await payroll.batch(upsert('identity', 'p2', { nin: '  ' }))
    const [first, second] = [
      await tenant.byExternalId('identities', 'p1'),
      await tenant.byExternalId('identities', 'p2'),
    ]
    assert.notEqual(first.id, second.id)
    assert.equal('nin' in first, false)
  })

  it('can have up to 1000 items', async () => {
    const { hr } = await newTenantWithHr(service)
    const items = Array.from({ length: 1001 }, (_, index) => upsert('identity', `p${index}`, {}))
    assert.equal((await hr.send('POST', `${hr.data}/batch`, { items })).status, 400)
    const results = await hr.batch(...items.slice(0, 1000))
    assert.ok(results.every(({ status }) => status === 201))
  })
})

describe('references', () => {
  it('resolve when their object is created, disappear when it is deleted, and return when it is restored', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('relationship', 'r1', { identity: to('p1') }),
      upsert('orgUnit', 'o1', { deputies: [to('p1')], manager: to('p1') }),
    )
    assert.equal((await tenant.byExternalId('relationships', 'r1')).identity, undefined)
    await hr.batch(upsert('identity', 'p1', {}))
    const { id } = await tenant.byExternalId('identities', 'p1')
    assert.deepEqual((await tenant.byExternalId('relationships', 'r1')).identity, { objectId: id })
    assert.deepEqual((await tenant.byExternalId('orgunits', 'o1')).deputies, [{ objectId: id }])
    await hr.batch(remove('identity', 'p1'))
    assert.equal((await tenant.byExternalId('relationships', 'r1')).identity, undefined)
    assert.equal((await tenant.byExternalId('orgunits', 'o1')).deputies, undefined)
    assert.equal((await tenant.byExternalId('orgunits', 'o1')).manager, undefined)
    const [restored] = await hr.batch(upsert('identity', 'p1', {}))
    assert.equal(restored.status, 201)
    assert.deepEqual((await tenant.byExternalId('relationships', 'r1')).identity, { objectId: id })
  })

  it('change with the data', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(
      upsert('orgUnit', 'o1', {}),
      upsert('orgUnit', 'o2', {}),
      upsert('relationship', 'r1', { orgUnit: to('o1') }),
    )
    await hr.batch(upsert('relationship', 'r1', { orgUnit: to('o2') }))
    const second = await tenant.byExternalId('orgunits', 'o2')
    assert.deepEqual((await tenant.byExternalId('relationships', 'r1')).orgUnit, { objectId: second.id })
  })
})

describe('soft deletion', () => {
  it('hides an object immediately, and keeps it for readers of changes', async () => {
    const tenant = await newTenant(service)
    const hr = await tenant.addConnector('HR', { softDeletionDays: 3 })
    await hr.batch(upsert('identity', 'p1', { displayName: 'Ada' }))
    const { id } = await tenant.byExternalId('identities', 'p1')
    const [deleted] = await hr.batch(remove('identity', 'p1'))
    assert.equal(deleted.status, 200)
    assert.equal((await tenant.admin('GET', `${CORE}/identities/${id}`)).status, 404)
    assert.deepEqual(await tenant.all('identities'), [])
    assert.deepEqual((await tenant.admin('GET', `${CORE}/identities/search?text=Ada`)).body.data, [])
    assert.deepEqual((await tenant.admin('POST', `${CORE}/identities/multiple`, { ids: [id] })).body.data, [])
    const { resource } = await service.database('coreObjects').item(id, tenant.tenantId).read()
    assert.deepEqual([resource.id, resource.objectType, resource.deleted, resource.ttl], [id, 'identity', true, 259200])
    assert.equal((await hr.batch(remove('identity', 'p1')))[0].status, 404)
  })

  it('expires after the softDeletionDays of the connector', async () => {
    let nowMs = Date.parse('2030-01-01T00:00:00Z')
    const later = await startCoreDataService(() => nowMs)
    try {
      const tenant = await newTenant(later)
      const hr = await tenant.addConnector('HR', { softDeletionDays: 2 })
      await hr.batch(upsert('identity', 'p1', {}))
      const { id } = await tenant.byExternalId('identities', 'p1')
      await hr.batch(remove('identity', 'p1'))
      nowMs += 2 * 24 * 60 * 60 * 1000 + 1000
      const { resource } = await later.database('coreObjects').item(id, tenant.tenantId).read()
      assert.equal(resource, undefined)
      assert.equal((await hr.batch(upsert('identity', 'p1', {})))[0].status, 201)
    } finally {
      await later.close()
    }
  })
})

describe('single objects', () => {
  it('are created, read by type and external id, replaced, listed and deleted', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const created = await hr.send('POST', hr.data, {
      externalId: 'p/1 æ',
      objectType: 'identity',
      data: { displayName: 'Ada', directoryObjectId: '0A0A0A0A-0000-4000-8000-00000000000A' },
    })
    assert.equal(created.status, 201)
    const read = await tenant.admin('GET', created.headers.location ?? '')
    assert.equal(read.status, 200)
    assert.equal(read.body.data.id, created.body.data)
    assert.deepEqual(Object.keys(read.body.data).sort(), [
      'coreObjectId',
      'data',
      'externalId',
      'id',
      'lastUpdated',
      'objectType',
    ])
    assert.equal(read.body.data.data.directoryObjectId, '0a0a0a0a-0000-4000-8000-00000000000a')
    const again = await hr.send('POST', hr.data, { externalId: 'p/1 æ', objectType: 'identity', data: {} })
    assert.deepEqual([again.status, ...codes(again.body)], [409, 'ConnectorObjectExists'])
    const whole = { ...read.body.data, data: { displayName: 'Eva' } }
    const replaced = await hr.send('PUT', `${hr.data}/${created.body.data}`, whole)
    assert.deepEqual([replaced.status, replaced.body.data.data], [200, { displayName: 'Eva' }])
    const other = await hr.send('PUT', `${hr.data}/${created.body.data}`, { externalId: 'p2', data: {} })
    assert.deepEqual([other.status, other.body.errors[0].target], [400, '/externalId'])
    assert.equal((await hr.send('GET', hr.data)).body.data.length, 1)
    assert.equal((await hr.send('DELETE', `${hr.data}/${created.body.data}`)).body.data, null)
    assert.equal((await hr.send('GET', created.headers.location ?? '')).status, 404)
    assert.equal((await hr.send('PUT', `${hr.data}/${created.body.data}`, { data: {} })).status, 404)
    assert.equal((await hr.send('DELETE', `${hr.data}/${created.body.data}`)).status, 404)
    const restored = await hr.send('POST', hr.data, { externalId: 'p/1 æ', objectType: 'identity', data: {} })
    assert.deepEqual([restored.status, restored.body.data], [201, created.body.data])
  })

  it('are created once by concurrent requests', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const create = () => hr.send('POST', hr.data, { externalId: 'p1', objectType: 'identity', data: {} })
    const statuses = (await Promise.all(Array.from({ length: 8 }, create))).map(({ status }) => status).sort()
    assert.deepEqual(statuses, [201, 409, 409, 409, 409, 409, 409, 409])
    assert.equal((await tenant.all('identities')).length, 1)
  })

  it('are listed by type, in pages', async () => {
    const { hr } = await newTenantWithHr(service)
    await hr.batch(...['a', 'b', 'c', 'd'].map((name) => upsert('orgUnit', name, {})), upsert('identity', 'p', {}))
    const first = await hr.send('GET', `${hr.data}?objectType=orgUnit&pageSize=3`)
    assert.equal(first.body.data.length, 3)
    const rest = await hr.send('GET', `${hr.data}?objectType=orgUnit&nextCursor=${first.body.nextCursor}`)
    assert.deepEqual([rest.body.data.length, rest.body.nextCursor], [1, undefined])
    assert.equal(
      (await hr.send('GET', `${hr.data}?objectType=identity&nextCursor=${first.body.nextCursor}`)).status,
      400,
    )
  })
})

describe('access to connector data', () => {
  it('is for the application of the connector; administrators may read', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', {}))
    const item = { externalId: 'p2', objectType: 'identity', data: {} }
    const stranger = service.as(application(tenant.tenantId, randomUUID(), 'iam-core.connector-data.readwrite.self'))
    for (const [send, method, path, status, code] of [
      [stranger, 'POST', hr.data, 403, 'NotThisConnector'],
      [stranger, 'GET', hr.data, 403, 'NotThisConnector'],
      [tenant.admin, 'POST', hr.data, 403, 'RoleRequired'],
      [tenant.admin, 'GET', hr.data, 200, undefined],
      [tenant.admin, 'GET', `${hr.data}/identity/p1`, 200, undefined],
      [tenant.admin, 'GET', `${hr.data}/robot/p1`, 400, 'InvalidValue'],
      [service.as(user(tenant.tenantId, randomUUID(), 'User')), 'GET', hr.data, 403, 'RoleRequired'],
      [hr.send, 'POST', `${CONNECTORS}/${randomUUID()}/data`, 404, 'ConnectorNotFound'],
    ] as const) {
      const answer = await send(method, path, method === 'POST' ? item : undefined)
      assert.deepEqual([answer.status, answer.body.errors[0]?.code], [status, code], `${method} ${path}`)
    }
  })

  it('is refused for writes while the connector is disabled', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', {}))
    await tenant.admin('PUT', `${CONNECTORS}/${hr.id}`, { enabled: false })
    const answer = await hr.send('POST', `${hr.data}/batch`, { items: [] })
    assert.deepEqual([answer.status, ...codes(answer.body)], [409, 'ConnectorDisabled'])
    assert.equal((await tenant.all('identities')).length, 1)
  })
})
