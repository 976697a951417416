import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  application,
  type Body,
  CONNECTORS,
  coreDataServiceOfTests,
  newTenantWithHr,
  remove,
  to,
  upsert,
} from '../support/api/core-data-service.ts'

const HOUR_MS = 3_600_000

const startedMs = Date.parse('2030-01-01T00:00:00Z')
let passedMs = 0
const service = await coreDataServiceOfTests(() => startedMs + passedMs)

async function newSource(settings: object = {}) {
  const { tenant, hr } = await newTenantWithHr(service)
  const source = await tenant.addConnector('Source', settings)
  const path = `${CONNECTORS}/${source.id}`
  const record = async (): Promise<Body> => {
    const { body } = await tenant.admin('GET', path)
    const listed = (await tenant.admin('GET', CONNECTORS)).body.data
    assert.deepEqual(
      listed.find(({ id }: Body) => id === source.id),
      body.data,
    )
    return body.data
  }
  const unresolved = async (query = ''): Promise<Body> => (await tenant.admin('GET', `${path}/unresolved${query}`)).body
  return { tenant, hr, source, path, record, unresolved }
}

describe('The counts of a connector', () => {
  it('are those of its live objects, through creation, deletion, restoration and renaming', async () => {
    const { source, record } = await newSource()
    const counts = async () => Object.values((await record()).objectCounts)
    assert.deepEqual(await counts(), [0, 0, 0])
    await source.batch(upsert('identity', 'a', {}), upsert('identity', 'b', {}), upsert('orgUnit', 'u', {}))
    await source.batch(upsert('identity', 'a', { email: 'x' }), upsert('relationship', 'r', {}))
    assert.deepEqual(await counts(), [2, 1, 1])
    await source.batch(remove('identity', 'a'), remove('identity', 'unknown'), remove('orgUnit', 'u'))
    assert.deepEqual(await counts(), [1, 0, 1])
    await source.batch({ ...upsert('identity', 'c', {}), previousExternalId: 'b' }, upsert('identity', 'a', {}))
    assert.deepEqual(await counts(), [2, 0, 1])
  })

  it('are right after many concurrent batches', async () => {
    const { source, record } = await newSource()
    const batches = Array.from({ length: 6 }, (_, batch) =>
      Array.from({ length: 20 }, (_each, index) => upsert('identity', `${batch} ${index}`, {})),
    )
    await Promise.all(batches.map((items) => source.batch(...items)))
    assert.equal((await record()).objectCounts.identity, 120)
  })

  it('are counted again when they are not stored, as by an earlier version, and by the daily audit', async () => {
    const { tenant, source, record } = await newSource()
    await source.batch(upsert('identity', 'a', {}), upsert('relationship', 'r', { identity: to('nobody') }))
    const container = service.database('connectorObjects')
    const item = container.item(`counts:${source.id}`, tenant.tenantId)
    await item.delete()
    assert.deepEqual([(await record()).objectCounts.identity, (await record()).health], [1, 'Unresolved'])
    await source.batch(upsert('identity', 'b', {}))
    assert.equal((await record()).objectCounts.identity, 2)
    const { resource } = await item.read()
    await container.items.upsert({ ...resource, counts: { identity: 9, orgUnit: 9, relationship: 9, unresolved: 9 } })
    // The change of a setting audits everything.
    await tenant.admin('PUT', `${CONNECTORS}/${source.id}`, { bindsAccounts: false })
    await service.audit()
    assert.deepEqual(Object.values((await record()).objectCounts), [2, 0, 1])
  })
})

describe('The health of a connector', () => {
  it('is late after the expected interval, from its creation on, and healthy after any delivery', async () => {
    const { tenant, source, path, record } = await newSource({ expectedIntervalHours: 24 })
    assert.equal((await record()).health, 'Healthy')
    passedMs += 25 * HOUR_MS
    assert.deepEqual([(await record()).health, (await record()).lastDeliveredAt], ['Late', null])
    await source.batch(upsert('identity', 'a', {}))
    assert.equal((await record()).health, 'Healthy')
    passedMs += 25 * HOUR_MS
    assert.equal((await record()).health, 'Late')
    await source.batch(upsert('identity', 'a', {}))
    assert.equal((await record()).health, 'Healthy')
    passedMs += 25 * HOUR_MS
    assert.equal((await tenant.admin('PUT', path, { expectedIntervalHours: 48 })).body.data.health, 'Healthy')
    passedMs += 25 * HOUR_MS
    assert.equal((await record()).health, 'Late')
    const removed = (await tenant.admin('PUT', path, { expectedIntervalHours: null })).body.data
    assert.deepEqual([removed.health, removed.expectedIntervalHours], ['Healthy', null])
    for (const expectedIntervalHours of [0, 721, 1.5]) {
      assert.equal((await tenant.admin('PUT', path, { expectedIntervalHours })).status, 400)
    }
  })

  it('is unresolved while references lead nowhere, and late weighs more', async () => {
    const { tenant, source, path, record } = await newSource()
    await source.batch(upsert('relationship', 'r', { identity: to('a') }))
    assert.equal((await record()).health, 'Unresolved')
    await tenant.admin('PUT', path, { expectedIntervalHours: 1 })
    passedMs += 2 * HOUR_MS
    assert.equal((await record()).health, 'Late')
    await source.batch(upsert('identity', 'a', {}))
    assert.equal((await record()).health, 'Healthy')
  })

  it('is read anew by a conditional GET, for it changes without a new version', async () => {
    const { tenant, source, path } = await newSource()
    const { headers, body: first } = await tenant.admin('GET', path)
    await source.batch(upsert('relationship', 'r', { identity: to('a') }))
    const again = await tenant.admin('GET', path, undefined, { 'if-none-match': headers.etag ?? '' })
    assert.deepEqual([again.status, first.data.health, again.body.data.health], [200, 'Healthy', 'Unresolved'])
    assert.equal(again.headers.etag, headers.etag)
  })
})

describe('References that lead nowhere', () => {
  it('are listed until their objects arrive, and again when these are deleted', async () => {
    const { hr, source, unresolved } = await newSource()
    await hr.batch(upsert('relationship', 'other', { identity: to('of HR') }))
    await source.batch(
      upsert('orgUnit', 'u', { manager: to('boss'), deputies: [to('boss'), to('deputy')], parent: to('above') }),
      upsert('relationship', 'r', { identity: to('boss'), orgUnit: to('u') }),
    )
    const listed = async () =>
      (await unresolved()).data
        .map(({ externalId, attribute, reference }: Body) => `${externalId} ${attribute} ${reference}`)
        .sort()
    assert.deepEqual(await listed(), [
      'r identity boss',
      'u deputies boss',
      'u deputies deputy',
      'u manager boss',
      'u parent above',
    ])
    await source.batch(upsert('identity', 'boss', {}))
    assert.deepEqual(await listed(), ['u deputies deputy', 'u parent above'])
    await source.batch(remove('identity', 'boss'), upsert('orgUnit', 'u', {}))
    assert.deepEqual(await listed(), ['r identity boss'])
    await source.batch(remove('relationship', 'r'))
    assert.deepEqual(await listed(), [])
  })

  it('are paged, several of one object included', async () => {
    const { source, unresolved } = await newSource()
    const deputies = Array.from({ length: 5 }, (_, index) => to(`d${index}`))
    await source.batch(
      ...['a', 'b', 'c'].map((externalId) => upsert('orgUnit', externalId, { deputies })),
      upsert('relationship', 'r', { identity: to('x') }),
    )
    for (const size of [1, 2, 3]) {
      const all: string[] = []
      let query: string | undefined = `?pageSize=${size}`
      let pageCount = 0
      while (query !== undefined && pageCount <= 16) {
        const { data, nextCursor }: Body = await unresolved(query)
        all.push(...data.map(({ externalId, reference }: Body) => `${externalId} ${reference}`))
        query = nextCursor === undefined ? undefined : `?nextCursor=${encodeURIComponent(nextCursor)}`
        pageCount += 1
      }
      assert.deepEqual([new Set(all).size, all.length, pageCount], [16, 16, Math.ceil(16 / size)])
    }
  })

  it('are warnings of batch items, of unchanged ones too, except of what the same batch brings', async () => {
    const { source } = await newSource()
    const items = [
      upsert('relationship', 'r', { identity: to('a'), orgUnit: to('nowhere') }),
      upsert('orgUnit', 'u', { deputies: [to('a'), to('b')] }),
      upsert('identity', 'a', {}),
    ]
    const expected = [
      [{ code: 'ReferenceUnresolved', target: '/items/0/data/orgUnit' }],
      [{ code: 'ReferenceUnresolved', target: '/items/1/data/deputies/1' }],
      undefined,
    ]
    for (let attempt = 0; attempt < 2; attempt += 1) {
      assert.deepEqual(
        (await source.batch(...items)).map(({ warnings }) => warnings),
        expected,
      )
    }
  })

  it('are seen by readers of connectors only', async () => {
    const { tenant, path } = await newSource()
    for (const [role, status] of [
      ['iam-core.connector-configuration.read.all', 200],
      ['iam-core.connector-data.readwrite.self', 403],
    ] as const) {
      const send = service.as(application(tenant.tenantId, '0a0a0a0a-0000-4000-8000-00000000000a', role))
      assert.equal((await send('GET', `${path}/unresolved`)).status, status)
    }
  })
})
