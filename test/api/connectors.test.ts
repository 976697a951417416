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
} from '../support/api/core-data-service.ts'

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
    const trust = { bindsAccounts: true, authority: 'Full', joinOn: ['nin', 'directoryObjectId'] }
    const objectCounts = { identity: 0, orgUnit: 0, relationship: 0 }
    const state = {
      ...{ lastDeliveredAt: null, objectCounts, expectedIntervalHours: null, health: 'Healthy' },
      attributeTypes: [],
    }
    assert.deepEqual(rest, { id, name: 'HR', clientId, softDeletionDays: 90, enabled: true, ...trust, ...state })
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)
    const later = await Promise.all(['B', 'C'].map((name) => admin('POST', CONNECTORS, { name, clientId })))
    const listed = (await admin('GET', READING)).body.data
    assert.equal(listed.length, 1 + later.length)
    assert.deepEqual((await admin('GET', CONNECTORS)).body.data, listed)
    assert.deepEqual(listed[0], body.data)
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

  it('do not find an object of another one by its id, nor change their own object of the same name by it', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const other = await tenant.addConnector('School')
    for (const { batch } of [hr, other]) await batch(upsert('orgUnit', 'u1', { displayName: 'Unit' }))
    const theirs = (await tenant.admin('GET', other.data)).body.data
    for (const [method, body] of [['PUT', { data: { displayName: 'Changed' } }], ['DELETE']] as const) {
      const answer = await hr.send(method, `${hr.data}/${theirs[0].id}`, body)
      assert.deepEqual([answer.status, answer.body.errors[0].code], [404, 'ConnectorObjectNotFound'])
    }
    assert.deepEqual((await tenant.admin('GET', other.data)).body.data, theirs)
    const [own] = (await tenant.admin('GET', hr.data)).body.data
    assert.deepEqual(own.data, { displayName: 'Unit' })
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

  it('list who changed their settings and how, the newest first, also after they are deleted', async () => {
    const tenant = await newTenant(service)
    const { admin } = tenant
    const clientId = randomUUID()
    const id = (await admin('POST', CONNECTORS, { name: 'HR', clientId })).body.data as string
    const path = `${CONNECTORS}/${id}`
    await admin('PUT', path, { name: 'People', bindsAccounts: false })
    await admin('PUT', path, { name: 'People' })
    await admin('DELETE', path)
    const entries = (await admin('GET', `${path}/audit`)).body.data as Record<string, unknown>[]
    const trust = { authority: 'Full', joinOn: ['nin', 'directoryObjectId'], expectedIntervalHours: null }
    const settings = { clientId, softDeletionDays: 90, enabled: true, ...trust, attributeTypes: [] }
    assert.deepEqual(
      entries.map(({ action, before, after }) => ({ action, before, after })),
      [
        { action: 'Deleted', before: { name: 'People', bindsAccounts: false, ...settings }, after: {} },
        {
          action: 'Updated',
          before: { name: 'HR', bindsAccounts: true },
          after: { name: 'People', bindsAccounts: false },
        },
        { action: 'Created', before: {}, after: { name: 'HR', bindsAccounts: true, ...settings } },
      ],
    )
    for (const { actorId, at } of entries) {
      assert.match(String(actorId), /^[0-9a-f-]{36}$/)
      assert.match(String(at), /^20/)
    }
    const first = await admin('GET', `${path}/audit?pageSize=2`)
    const rest = await admin('GET', `${path}/audit?pageSize=2&nextCursor=${first.body.nextCursor}`)
    assert.deepEqual([...first.body.data, ...rest.body.data], entries)
    assert.equal((await admin('GET', `${CONNECTORS}/${randomUUID()}/audit`)).status, 404)
    assert.equal((await (await newTenant(service)).admin('GET', `${path}/audit`)).status, 404)
    const reader = service.as(user(tenant.tenantId, randomUUID(), 'User'))
    assert.equal((await reader('GET', `${path}/audit`)).status, 403)
  })

  it('have an audit that names the core identity of who has changed them', async () => {
    const [tenantId, clientId, account] = [randomUUID(), randomUUID(), randomUUID()]
    const admin = service.as(user(tenantId, account, 'Administrator'))
    const hr = service.as(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
    const path = `${CONNECTORS}/${(await admin('POST', CONNECTORS, { name: 'HR', clientId })).body.data}`
    const data = { displayName: 'Ada', directoryObjectId: account }
    await hr('POST', `${path}/data`, { objectType: 'identity', externalId: 'ada', data })
    const [{ id: identityId }] = (await admin('GET', '/iamcore/beta/sync/coreobjects/identities')).body.data
    await admin('PUT', path, { name: 'Personnel' })
    const second = `${CONNECTORS}/${(await admin('POST', CONNECTORS, { name: 'IT', clientId: randomUUID() })).body.data}`
    await admin('DELETE', second)
    const actors = async (of: string) =>
      (await admin('GET', `${of}/audit`)).body.data.map((entry: Record<string, unknown>) => [
        entry.action,
        entry.actorId,
      ])
    assert.deepEqual(await actors(path), [
      ['Updated', identityId],
      ['Created', account],
    ])
    assert.deepEqual(await actors(second), [
      ['Deleted', identityId],
      ['Created', identityId],
    ])
  })
})
