import assert from 'node:assert/strict'
import { it } from 'node:test'
import { docsOf, openAccount, send } from '../support/local/cosmos-account.ts'

const isQuery = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' }
const inPartition = (key: unknown) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([key]) })

it('returns documents of the partition only: read, query, readAll', async (t) => {
  const account = await openAccount(t)
  const items = await account.container('things')
  for (const tenantId of ['one', 'other']) await items.items.create({ id: 'same', tenantId, secret: tenantId })
  await items.items.create({ id: 'only', tenantId: 'other' })

  assert.equal((await items.item('only', 'one').read()).statusCode, 404)
  const everything = 'SELECT * FROM c WHERE true OR c.tenantId = "other"'
  const queried = await items.items.query(everything, { partitionKey: 'one' }).fetchAll()
  assert.deepEqual(
    queried.resources.map(({ secret }) => secret),
    ['one'],
  )
  const all = await items.items.readAll({ partitionKey: 'one' }).fetchAll()
  assert.deepEqual(
    all.resources.map(({ secret }) => secret),
    ['one'],
  )
})

it('refuses a document of a partition other than that of the request, for all operations', async (t) => {
  const account = await openAccount(t)
  await account.container('things')
  const body = JSON.stringify({ id: 'a', tenantId: 'other' })
  for (const upsert of ['false', 'true']) {
    const headers = { ...inPartition('one'), 'x-ms-documentdb-is-upsert': upsert }
    const response = await send(account.cosmos, 'POST', docsOf('things'), headers, body)
    assert.equal(response.status, 400)
    assert.equal(response.headers.get('x-ms-substatus'), '1001')
  }
  const unnamed = await send(account.cosmos, 'POST', docsOf('things'), {}, body)
  assert.equal(unnamed.status, 400)
  const query = JSON.stringify({ query: 'SELECT * FROM c' })
  const found = await send(account.cosmos, 'POST', docsOf('things'), { ...isQuery, ...inPartition('other') }, query)
  assert.equal(((await found.json()) as { _count: number })._count, 0)
})

it('distinguishes similar keys', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const keys = [1, '1', null, 'null', true, 'true', '', '[1]', 'é', 'e\u0301']
  for (const tenantId of keys) await items.items.create({ id: 'same', tenantId, mark: JSON.stringify(tenantId) })
  await items.items.create({ id: 'same', mark: 'missing' })
  for (const tenantId of keys) {
    const { resource } = await items.item('same', tenantId).read()
    assert.equal(resource.mark, JSON.stringify(tenantId))
  }
  const across = await items.items.query('SELECT VALUE c.mark FROM c WHERE NOT IS_DEFINED(c.tenantId)').fetchAll()
  assert.deepEqual(across.resources, ['missing'])
})

for (const [clause, query] of [
  ['ORDER BY', 'SELECT * FROM c ORDER BY c.id'],
  ['TOP', 'SELECT TOP 1 * FROM c'],
  ['OFFSET', 'SELECT * FROM c OFFSET 0 LIMIT 1'],
  ['COUNT', 'SELECT VALUE COUNT(1) FROM c'],
] as const) {
  it(`refuses ${clause} across partitions in strict mode, and accepts it within one`, async (t) => {
    const items = (await (await openAccount(t)).container('things')).items
    await items.create({ id: 'a', tenantId: 'one' })
    await assert.rejects(items.query(query).fetchAll(), { code: 400, message: new RegExp(clause) })
    assert.equal((await items.query(query, { partitionKey: 'one' }).fetchAll()).resources.length, 1)
  })
}
