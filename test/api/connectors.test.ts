import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  application,
  CONNECTORS,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  upsert,
  user,
} from './core-data-service.ts'

const READING = '/iamcore/sync/connectors'

const service = await coreDataServiceOfTests()

describe('connectors', () => {
  it('are created, listed in order of creation, read under both prefixes and updated', async () => {
    const { admin } = await newTenant(service)
    const clientId = randomUUID()
    const created = await admin('POST', CONNECTORS, {
      name: 'HR',
      clientId: clientId.toUpperCase(),
      id: 'mine',
      extra: 1,
    })
    assert.equal(created.status, 201)
    const id = created.body.data
    assert.equal(created.headers.location, `${CONNECTORS}/${id}`)
    const { body, headers } = await admin('GET', `${CONNECTORS}/${id}`)
    const { createdAt, updatedAt, createdBy, ...rest } = body.data
    assert.deepEqual(rest, { id, name: 'HR', clientId, softDeletionDays: 90, enabled: true, bindsAccounts: true })
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)
    const later = await Promise.all(['B', 'C'].map((name) => admin('POST', CONNECTORS, { name, clientId })))
    const listed = (await admin('GET', READING)).body.data
    assert.equal(listed.length, 1 + later.length)
    assert.deepEqual((await admin('GET', CONNECTORS)).body.data, listed)
    assert.deepEqual(listed[0], { ...body.data, lastDeliveredAt: null })
    assert.deepEqual((await admin('GET', `${READING}/${id}`)).body.data, body.data)
    const changed = await admin(
      'PUT',
      `${CONNECTORS}/${id}`,
      { softDeletionDays: 5 },
      { 'if-match': headers.etag ?? '' },
    )
    assert.deepEqual([changed.status, changed.body.data.name, changed.body.data.softDeletionDays], [200, 'HR', 5])
    const stale = await admin('PUT', `${CONNECTORS}/${id}`, { name: 'X' }, { 'if-match': headers.etag ?? '' })
    assert.deepEqual([stale.status, stale.body.errors[0].code], [412, 'PreconditionFailed'])
  })

  it('are refused with all faults when invalid', async () => {
    const { admin } = await newTenant(service)
    const { status, body } = await admin('POST', CONNECTORS, {
      name: '',
      clientId: 'x',
      softDeletionDays: 0,
      enabled: 1,
    })
    assert.equal(status, 400)
    assert.deepEqual(body.errors.map(({ target }: { target: string }) => target).sort(), [
      '/clientId',
      '/enabled',
      '/name',
      '/softDeletionDays',
    ])
  })

  it('have a name that is not blank', async () => {
    const { admin } = await newTenant(service)
    const { status, body } = await admin('POST', CONNECTORS, { name: '  ', clientId: randomUUID() })
    assert.deepEqual(
      [status, body.errors],
      [400, [{ code: 'InvalidValue', message: 'name must not be blank, not "  "', target: '/name' }]],
    )
  })

  it('can be deleted only without live objects', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('identity', 'p1', {}))
    const refused = await tenant.admin('DELETE', `${CONNECTORS}/${hr.id}`)
    assert.deepEqual([refused.status, refused.body.errors[0].code], [409, 'ConnectorInUse'])
    await hr.batch(remove('identity', 'p1'))
    assert.equal((await tenant.admin('DELETE', `${CONNECTORS}/${hr.id}`)).status, 200)
    assert.equal((await tenant.admin('GET', `${CONNECTORS}/${hr.id}`)).status, 404)
  })

  it('are available to authorized callers only, under the documented prefix only', async () => {
    const tenant = await newTenant(service)
    const { id } = await tenant.addConnector('HR')
    const app = (...roles: Parameters<typeof application>[2][]) =>
      service.as(application(tenant.tenantId, randomUUID(), ...roles))
    const reader = app('iam-core.connector-configuration.read.all')
    const writer = app('iam-core.connector-configuration.readwrite.all')
    const body = { name: 'X', clientId: randomUUID() }
    for (const [send, method, path, expected] of [
      [reader, 'GET', CONNECTORS, 200],
      [reader, 'GET', `${READING}/${id}`, 200],
      [reader, 'POST', CONNECTORS, 403],
      [writer, 'POST', CONNECTORS, 201],
      [writer, 'POST', READING, 405],
      [tenant.admin, 'DELETE', `${READING}/${id}`, 405],
      [app('iam-core.connector-data.readwrite.self'), 'GET', CONNECTORS, 403],
      [service.as(user(tenant.tenantId, randomUUID(), 'User')), 'GET', CONNECTORS, 403],
      [service.as(user(randomUUID(), randomUUID(), 'Administrator')), 'GET', `${CONNECTORS}/${id}`, 404],
      [tenant.admin, 'GET', `${CONNECTORS}/x`, 400],
    ] as const) {
      const { status } = await send(method, path, method === 'POST' ? body : undefined)
      assert.equal(status, expected, `${method} ${path}`)
    }
  })
})
