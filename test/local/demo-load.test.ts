import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { demoEnvironment } from '../../infra/local/demo/demo-environment.ts'
import { loadDemo } from '../../infra/local/demo/load-demo.ts'
import { openSentObjects, type SentObjects } from '../../infra/local/demo/sent-objects.ts'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import { demoAnswer } from '../../infra/local/directory/seed.ts'
import { openDirectory } from '../support/local/directory-fixture.ts'

const API = 'http://api.test'
const CONNECTORS = '/iamcore/beta/sync/connectors'
const environment = demoEnvironment({ identityCount: 2500, seed: 'loading' })
const demo = demoAnswer(environment.directory, API)

type Item = { op: string; objectType: string; externalId: string; data: Record<string, unknown> }
type Connector = { id: string; name: string; clientId: string; objects: Map<string, Item> }

let connectorCount = 0

/** A subset of the connector routes for the loader: per tenant, paged, with an envelope. */
function fakeApi() {
  const tenants = new Map<string, Connector[]>()
  const batches: Item[][] = []
  const flight = { now: 0, most: 0 }
  let refuse: (item: Item) => boolean = () => false

  function answer(method: string, url: URL, token: string, body: unknown): [status: number, envelope: object] {
    const { tid, roles, azp } = decodeJwt(token) as { tid: string; roles: string[]; azp: string }
    const connectors = tenants.get(tid) ?? []
    tenants.set(tid, connectors)
    const ok = (data: unknown, more = {}): [number, object] => [
      200,
      { data, isSuccess: true, statusCode: 200, errors: [], ...more },
    ]
    const isOperator = roles.includes('iam-core.connector-configuration.readwrite.all')
    if (url.pathname === CONNECTORS && isOperator) {
      if (method === 'GET') return ok(connectors)
      connectorCount += 1
      const id = `connector-${connectorCount}`
      connectors.push({ ...(body as { name: string; clientId: string }), id, objects: new Map() })
      return ok(id)
    }
    const connector = connectors.find(
      ({ id, clientId }) => url.pathname.startsWith(`${CONNECTORS}/${id}/data`) && clientId === azp,
    )
    if (connector === undefined) {
      const errors = [{ code: 'NotThisConnector', message: 'no' }]
      return [403, { data: null, isSuccess: false, statusCode: 403, errors }]
    }
    if (method === 'POST') return ok(store(connector, (body as { items: Item[] }).items))
    const objects = [...connector.objects.values()].filter(
      ({ objectType }) => objectType === url.searchParams.get('objectType'),
    )
    const start = Number(url.searchParams.get('nextCursor') ?? 0)
    // Pages are shorter than requested: only a missing cursor ends a list.
    const end = start + 700
    return ok(objects.slice(start, end), end < objects.length ? { nextCursor: String(end) } : {})
  }

  function store({ objects }: Connector, items: Item[]) {
    batches.push(items)
    return items.map((item, index) => {
      if (refuse(item)) return { index, status: 400, errors: [{ code: 'InvalidValue', message: 'refused' }] }
      objects.set(`${item.objectType} ${item.externalId}`, item)
      return { index, status: 201, id: 'x' }
    })
  }

  const fetchLike: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input))
    if (url.origin !== API) return fetch(input, init)
    flight.now += 1
    flight.most = Math.max(flight.most, flight.now)
    await new Promise((resolve) => setTimeout(resolve, 2))
    flight.now -= 1
    const token = new Headers(init.headers).get('authorization')?.replace('Bearer ', '') ?? ''
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const [status, envelope] = answer(init.method ?? 'GET', url, token, body)
    return Response.json(envelope, { status })
  }
  return {
    fetch: fetchLike,
    tenants,
    batches,
    flight,
    refuseItems: (predicate: typeof refuse) => {
      refuse = predicate
    },
  }
}

describe('Loading the demo', () => {
  let directory: LocalDirectory
  let api: ReturnType<typeof fakeApi>
  let sentObjects: SentObjects
  before(async () => {
    directory = await openDirectory({ seed: environment.directory, apiUrl: API })
  })
  after(() => directory.close())
  beforeEach(() => {
    api = fakeApi()
    sentObjects = openSentObjects(':memory:')
  })
  afterEach(() => sentObjects.close())

  const load = () =>
    loadDemo({
      apiUrl: API,
      directoryUrl: directory.url,
      demo,
      municipalities: environment.municipalities,
      sentObjects,
      fetch: api.fetch,
    })

  it('creates a connector in each tenant and sends everything, org units first', async () => {
    const summary = await load()
    const expected = environment.municipalities.map(
      ({ orgUnits, identities, relationships }) => orgUnits.length + identities.length + relationships.length,
    )
    assert.deepEqual(
      summary.tenants.map(({ sentCount }) => sentCount),
      expected,
    )
    assert.deepEqual(
      [...api.tenants.values()].map(([connector]) => connector?.objects.size),
      expected,
    )
    const [firstTenant] = demo.tenants
    const [connector, ...others] = api.tenants.get(firstTenant?.tenantId ?? '') ?? []
    assert.deepEqual(others, [])
    assert.equal(connector?.name, 'Demo HR')
    assert.equal(connector?.clientId, firstTenant?.apps.find(({ name }) => name === 'connector')?.clientId)
    const types = api.batches.map(([item]) => item?.objectType)
    assert.deepEqual(
      types.filter((type, index) => type !== types[index - 1]),
      ['orgUnit', 'identity', 'relationship', 'orgUnit', 'identity', 'relationship'],
    )
    assert.ok(api.batches.every((items) => items.length <= 1000))
    assert.equal(api.flight.most, 3)
  })

  it('does not send existing objects', async () => {
    await load()
    api.batches.length = 0
    const summary = await load()
    assert.deepEqual(
      summary.tenants.map(({ sentCount }) => sentCount),
      [0, 0],
    )
    assert.equal(api.batches.length, 0)
    assert.deepEqual(
      [...api.tenants.values()].map((connectors) => connectors.length),
      [1, 1],
    )
  })

  it('sends nothing again that was deleted or renamed since the last start', async () => {
    await load()
    const [connector] = api.tenants.get(demo.tenants[0]?.tenantId ?? '') ?? []
    assert.ok(connector)
    const renamed = connector.objects.get('identity person-000002')
    assert.ok(connector.objects.delete('identity person-000001') && renamed)
    connector.objects.delete('identity person-000002')
    connector.objects.set('identity hr-2', { ...renamed, externalId: 'hr-2' })
    const summary = await load()
    assert.deepEqual(
      summary.tenants.map(({ sentCount }) => sentCount),
      [0, 0],
    )
    assert.equal(connector.objects.has('identity person-000001'), false)
    assert.equal(connector.objects.has('identity person-000002'), false)
  })

  it('sends people whom no earlier start has had, and nothing else', async () => {
    const fewer = demoEnvironment({ identityCount: 2490, seed: 'loading' })
    const options = { apiUrl: API, directoryUrl: directory.url, demo, sentObjects, fetch: api.fetch }
    await loadDemo({ ...options, municipalities: fewer.municipalities })
    const [connector] = api.tenants.get(demo.tenants[0]?.tenantId ?? '') ?? []
    assert.ok(connector)
    connector.objects.delete('identity person-000001')
    await load()
    assert.ok(connector.objects.has('identity person-002500'))
    assert.equal(connector.objects.has('identity person-000001'), false)
  })

  it('sends everything to a new database', async () => {
    const counts = async () => (await load()).tenants.map(({ sentCount }) => sentCount)
    const first = await counts()
    api = fakeApi()
    assert.deepEqual(await counts(), first)
  })

  it('completes an interrupted load without changing existing objects', async () => {
    api.refuseItems(({ externalId }) => externalId === 'person-000700')
    await assert.rejects(load(), /1 of 1000 demo objects were refused: person-000700: 400 .*InvalidValue/)
    api.refuseItems(() => false)
    const [connector] = api.tenants.get(demo.tenants[0]?.tenantId ?? '') ?? []
    const edited = connector?.objects.get('identity person-000001')
    assert.ok(edited)
    edited.data = { displayName: 'Edited' }
    await load()
    assert.ok(connector?.objects.has('identity person-000700'))
    assert.deepEqual(connector?.objects.get('identity person-000001')?.data, { displayName: 'Edited' })
  })

  it('reports the refused call and the reason', async () => {
    const strangers = demo.tenants.map((tenant) => ({
      ...tenant,
      apps: tenant.apps.map((app) => (app.name === 'operator' ? { ...app, clientSecret: 'wrong' } : app)),
    }))
    const options = {
      apiUrl: API,
      directoryUrl: directory.url,
      municipalities: environment.municipalities,
      sentObjects,
      fetch: api.fetch,
    }
    await assert.rejects(
      loadDemo({ ...options, demo: { ...demo, tenants: strangers } }),
      /Cannot get a token for operator .*AADSTS7000215/,
    )
    const swapped = demo.tenants.map((tenant) => ({
      ...tenant,
      apps: tenant.apps.map((app) =>
        app.name === 'operator' ? { ...tenant.apps[0], name: 'operator' } : app,
      ) as typeof tenant.apps,
    }))
    await assert.rejects(
      loadDemo({ ...options, demo: { ...demo, tenants: swapped } }),
      /GET .*connectors as operator returned 403: NotThisConnector: no/,
    )
  })
})
