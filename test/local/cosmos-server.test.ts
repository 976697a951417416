import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import { join } from 'node:path'
import { it } from 'node:test'
import { CosmosClient } from '@azure/cosmos'
import { startCosmos } from '../../infra/local/cosmos/cosmos-server.ts'
import { clientOf, docsOf, KEY, openAccount, send, temporaryFolder } from '../support/local/cosmos-account.ts'

it('keeps all data over a restart, and the session number never decreases', async (t) => {
  const file = join(temporaryFolder(t), 'deeper', 'database')
  const first = await openAccount(t, { file })
  const items = await first.container('things', {
    defaultTtl: -1,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/x'] }] },
  })
  await items.items.create({ id: 'a', tenantId: 't1', x: 1 })
  const { headers } = await items.item('a', 't1').delete()
  const { resource } = await items.items.create({ id: 'b', tenantId: 't1', x: 1 })
  await first.close()

  const again = await (await openAccount(t, { file })).container('things')
  const read = await again.item('b', 't1').read()
  assert.deepEqual(read.resource, resource)
  await assert.rejects(again.items.create({ id: 'c', tenantId: 't1', x: 1 }), { code: 409 })
  const sequenceOf = (token: unknown) => Number(String(token).split('#')[1])
  assert.ok(sequenceOf(read.headers['x-ms-session-token']) > sequenceOf(headers['x-ms-session-token']))
  assert.notEqual((await again.items.create({ id: 'd', tenantId: 't1', x: 2 })).resource?._rid, resource?._rid)
})

it('copies its log to the file while the log is small, so that no commit copies many pages', async (t) => {
  const file = join(temporaryFolder(t), 'database')
  const items = (await (await openAccount(t, { file })).container('things')).items
  const text = 'x'.repeat(1_000_000)
  for (let index = 0; index < 20; index += 1) await items.create({ id: String(index), tenantId: 't1', text })
  assert.ok(statSync(file).size > 10_000_000)
  assert.ok(statSync(`${file}-wal`).size < 8_000_000)
})

it('rejects with one error that names the file if it is not a database', async (t) => {
  const file = join(temporaryFolder(t), 'database')
  writeFileSync(file, 'this is no database, and long enough to be looked at'.repeat(100))
  await assert.rejects(startCosmos({ port: 0, file, key: KEY, strict: true }), (error: Error) =>
    error.message.includes(file),
  )
})

it('rejects with one error that names the file if it is damaged', async (t) => {
  const file = join(temporaryFolder(t), 'database')
  const account = await openAccount(t, { file })
  const { items } = await account.container('things')
  for (let n = 0; n < 30; n++) await items.create({ id: `i${n}`, tenantId: 't1', text: 'x'.repeat(5000) })
  await account.close()
  const handle = openSync(file, 'r+')
  for (let page = 2; page < 12; page++) writeSync(handle, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096)
  closeSync(handle)
  await assert.rejects(startCosmos({ port: 0, file, key: KEY, strict: true }), (error: Error) =>
    error.message.includes(file),
  )
})

it('rejects with an error that names the port or file in use', async (t) => {
  const file = join(temporaryFolder(t), 'database')
  const { cosmos } = await openAccount(t, { file })
  const port = Number(new URL(cosmos.endpoint).port)
  const options = { port, file: ':memory:', key: KEY, strict: true }
  await assert.rejects(startCosmos(options), { message: `Port ${port} is in use` })
  await assert.rejects(startCosmos({ ...options, port: 0, file }), (error: Error) => error.message.includes(file))
})

it('drops all connections when it closes, and can be closed twice', async (t) => {
  const { cosmos } = await openAccount(t)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  await new Promise((resolve, reject) => {
    get(cosmos.endpoint, { agent }, (response) => response.resume().on('end', resolve)).on('error', reject)
  })
  const unfinished = request(cosmos.endpoint, { method: 'POST', headers: { 'content-length': '10' } })
  const cutOff = once(unfinished, 'error')
  await new Promise((resolve) => unfinished.write('half', resolve))
  const began = performance.now()
  await cosmos.close()
  await cosmos.close()
  assert.ok(performance.now() - began < 500)
  assert.equal((await cutOff)[0].code, 'ECONNRESET')
})

it('refuses a wrong key with 401', async (t) => {
  const { cosmos } = await openAccount(t)
  const intruder = clientOf(cosmos, Buffer.from('another').toString('base64'))
  t.after(() => intruder.dispose())
  await assert.rejects(intruder.database('tests').read(), { code: 401 })
})

it('returns 429 as often as configured: once, which the client retries, or always', async (t) => {
  const account = await openAccount(t)
  const items = await account.container('things')
  const document = { id: 'a', tenantId: 't1' }
  account.cosmos.throttleNext({ count: 1, operation: 'create' })
  const { headers, statusCode } = await items.items.create(document)
  assert.deepEqual([statusCode, headers['x-ms-throttle-retry-count']], [201, 1])

  const lift = account.cosmos.throttleNext({ count: Number.POSITIVE_INFINITY, operation: 'read' })
  await assert.rejects(items.item('a', 't1').read(), { code: 429 })
  await items.items.upsert(document)
  lift()
  assert.equal((await items.item('a', 't1').read()).statusCode, 200)
})

it('counts operations by kind, including refused ones and each page of a query', async (t) => {
  const { cosmos, container } = await openAccount(t)
  const items = await container('things')
  await items.items.create({ id: 'a', tenantId: 't1' })
  await items.items.create({ id: 'b', tenantId: 't1' })
  await assert.rejects(items.items.create({ id: 'b', tenantId: 't1' }), { code: 409 })
  await items.items.query('SELECT * FROM c', { partitionKey: 't1', maxItemCount: 1 }).fetchAll()
  const { create, query, upsert } = cosmos.operations()
  assert.deepEqual({ create, query, upsert }, { create: 3, query: 2, upsert: 0 })
})

for (const [method, path, headers] of [
  ['PATCH', `${docsOf('things')}/a`, {}],
  ['GET', docsOf('things'), { 'a-im': 'Incremental feed' }],
  ['GET', '/offers', {}],
  ['PUT', '/dbs/tests', {}],
  ['GET', '/%ff', {}],
] as const) {
  it(`refuses ${method} ${path} with a 400 in JSON`, async (t) => {
    const account = await openAccount(t)
    await account.container('things')
    const response = await send(account.cosmos, method, path, headers)
    const { code, message } = (await response.json()) as { code: string; message: string }
    assert.deepEqual([response.status, code], [400, 'BadRequest'])
    assert.match(message, /not/)
  })
}

for (const [what, definition, named] of [
  ['a hierarchical key', { partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash' } }, /MultiHash/],
  ['an unknown member', { partitionKey: { paths: ['/a'] }, geospatialConfig: {} }, /geospatialConfig/],
  ['a ttl of 0', { partitionKey: { paths: ['/a'] }, defaultTtl: 0 }, /defaultTtl/],
  [
    '11 unique keys',
    { partitionKey: { paths: ['/a'] }, uniqueKeyPolicy: { uniqueKeys: Array(11).fill({ paths: ['/b'] }) } },
    /10/,
  ],
] as const) {
  it(`refuses a container with ${what}`, async (t) => {
    const account = await openAccount(t)
    await account.container('first')
    const response = await send(
      account.cosmos,
      'POST',
      '/dbs/tests/colls',
      {},
      JSON.stringify({ id: 'x', ...definition }),
    )
    assert.equal(response.status, 400)
    assert.match(((await response.json()) as { message: string }).message, named)
  })
}

it('answers the SDK in the same process as it does over a connection', async (t) => {
  const account = await openAccount(t)
  await account.container('things')
  const { endpoint, key, httpClient } = account.cosmos
  const outcomes = async (client: CosmosClient) => {
    const { items, item } = docsIn(client)
    const outcome = (call: Promise<{ statusCode?: number; resource?: unknown }>) =>
      call.then(
        ({ statusCode, resource }) => [statusCode, (resource as { x?: string } | undefined)?.x],
        ({ code, headers }) => [code, headers['x-ms-session-token'] === undefined],
      )
    const first = await items.upsert({ id: 'a', tenantId: 't1', x: 'é ≠ "' })
    const condition = { type: 'IfMatch', condition: '"another"' } as const
    const all = [
      await outcome(items.create({ id: 'a', tenantId: 't1' })),
      await outcome(item('a', 't1').read()),
      await outcome(item('b', 't1').read()),
      await outcome(item('a', 't1').replace({ id: 'a', tenantId: 't1' }, { accessCondition: condition })),
      (await items.query('SELECT VALUE c.x FROM c', { partitionKey: 't1' }).fetchAll()).resources,
      await outcome(item('c', 't1').delete()),
    ]
    return [
      Object.keys(first.headers)
        .sort()
        .filter((name) => name.startsWith('x-ms')),
      all,
    ]
  }
  const inProcess = new CosmosClient({ endpoint, key, httpClient })
  t.after(() => inProcess.dispose())
  assert.deepEqual(await outcomes(inProcess), await outcomes(account.client))

  function docsIn(client: CosmosClient) {
    const container = client.database('tests').container('things')
    return { items: container.items, item: (id: string, tenantId: string) => container.item(id, tenantId) }
  }
})
