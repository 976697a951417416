import assert from 'node:assert/strict'
import { it } from 'node:test'
import { docsOf, openAccount, send } from '../support/local/cosmos-account.ts'

const START_MS = Date.parse('2030-01-01T00:00:00.500Z')
const LIMIT_BYTES = 2_097_152
const inT1 = { 'x-ms-documentdb-partitionkey': '["t1"]' }

it('enforces a unique key on create, upsert and replace', async (t) => {
  const links = await (await openAccount(t)).container('links', {
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/group/id'] }] },
  })
  const link = (id: string, group: string) => ({ id, tenantId: 't1', group: { id: group } })
  await links.items.create(link('1', 'g1'))
  await links.items.create(link('2', 'g2'))
  await assert.rejects(links.items.create(link('3', 'g1')), { code: 409 })
  await assert.rejects(links.items.upsert(link('2', 'g1')), { code: 409 })
  await assert.rejects(links.item('2', 't1').replace(link('2', 'g1')), { code: 409 })
  assert.equal((await links.item('2', 't1').read()).resource?.group.id, 'g2')
  assert.equal((await links.item('2', 't1').replace(link('2', 'g3'))).statusCode, 200)
  assert.equal((await links.items.create(link('3', 'g2'))).statusCode, 201)
  await links.items.create({ id: '4', tenantId: 't1' })
  await assert.rejects(links.items.create({ id: '5', tenantId: 't1' }), { code: 409 }, 'only one may lack the value')
})

it('expires a document after its ttl for reads, queries, its id and its unique value', async (t) => {
  let nowMs = START_MS
  const account = await openAccount(t, { nowMs: () => nowMs })
  const items = await account.container('brief', {
    defaultTtl: 10,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email'] }] },
  })
  await items.items.create({ id: 'default', tenantId: 't1', email: 'a' })
  await items.items.create({ id: 'own', tenantId: 't1', email: 'b', ttl: 20 })
  await items.items.create({ id: 'ever', tenantId: 't1', email: 'c', ttl: -1 })
  const ids = async () =>
    (await items.items.query('SELECT VALUE c.id FROM c', { partitionKey: 't1' }).fetchAll()).resources
  nowMs = START_MS + 9_999
  assert.deepEqual(await ids(), ['default', 'ever', 'own'])
  nowMs = START_MS + 10_000
  assert.equal((await items.item('default', 't1').read()).statusCode, 404)
  assert.deepEqual(await ids(), ['ever', 'own'])
  assert.equal((await items.items.upsert({ id: 'default', tenantId: 't1', email: 'a' })).statusCode, 201)
  nowMs = START_MS + 1_000_000
  assert.deepEqual(await ids(), ['ever'])
  assert.equal((await items.items.create({ id: 'new', tenantId: 't1', email: 'b' })).statusCode, 201)
})

it('ignores a ttl if the container has none, and restarts it with each write', async (t) => {
  let nowMs = START_MS
  const account = await openAccount(t, { nowMs: () => nowMs })
  const [without, own] = [await account.container('without'), await account.container('own', { defaultTtl: -1 })]
  const document = { id: 'a', tenantId: 't1', ttl: 10 }
  await without.items.create(document)
  await own.items.create(document)
  nowMs += 9_000
  assert.equal((await own.items.upsert(document)).resource?._ts, 1_893_456_009)
  nowMs += 9_000
  assert.equal((await own.item('a', 't1').read()).statusCode, 200)
  nowMs += 1_000
  assert.equal((await own.item('a', 't1').read()).statusCode, 404)
  assert.equal((await without.item('a', 't1').read()).statusCode, 200)
})

it('accepts a document of 2 MB, and refuses a larger one with 413', async (t) => {
  const account = await openAccount(t)
  await account.container('things')
  const empty = JSON.stringify({ id: 'a', tenantId: 't1', blob: '' }).length
  const ofSize = (sizeBytes: number) => JSON.stringify({ id: 'a', tenantId: 't1', blob: 'x'.repeat(sizeBytes - empty) })
  const post = (body: string) => send(account.cosmos, 'POST', docsOf('things'), inT1, body)
  assert.equal((await post(ofSize(LIMIT_BYTES + 1))).status, 413)
  assert.equal((await post(ofSize(LIMIT_BYTES))).status, 201)
  assert.equal((await post(ofSize(20 * LIMIT_BYTES))).status, 413)
})

for (const [what, document, message] of [
  ['no id', { tenantId: 't1' }, /requires an id/],
  ['a number for an id', { id: 1, tenantId: 't1' }, /requires an id/],
  ['an id with a slash', { id: 'a/b', tenantId: 't1' }, /must not contain/],
  ['an id of 1024 bytes', { id: 'i'.repeat(1024), tenantId: 't1' }, /1023 bytes/],
  ['a lone surrogate in the id', { id: 'a\ud800', tenantId: 't1' }, /lone surrogate/],
  ['a ttl of 0', { id: 'a', tenantId: 't1', ttl: 0 }, /ttl must be/],
  ['a ttl of 1.5', { id: 'a', tenantId: 't1', ttl: 1.5 }, /ttl must be/],
  ['a ttl of null', { id: 'a', tenantId: 't1', ttl: null }, /ttl must be/],
  ['a ttl beyond 32 bits', { id: 'a', tenantId: 't1', ttl: 2_147_483_648 }, /ttl must be/],
  ['a list', [], /must be a JSON object/],
] as const) {
  it(`refuses a document with ${what}`, async (t) => {
    const account = await openAccount(t)
    await account.container('things', { defaultTtl: -1 })
    const response = await send(account.cosmos, 'POST', docsOf('things'), inT1, JSON.stringify(document))
    const { code, message: told } = (await response.json()) as { code: string; message: string }
    assert.deepEqual([response.status, code], [400, 'BadRequest'])
    assert.match(told, message)
  })
}

it('refuses a document nested 200 levels deep, and a partition key of 2049 bytes', async (t) => {
  const account = await openAccount(t)
  const items = await account.container('things')
  const deep = `{"id":"a","tenantId":"t1","deep":${'['.repeat(200)}${']'.repeat(200)}}`
  assert.equal((await send(account.cosmos, 'POST', docsOf('things'), inT1, deep)).status, 400)
  await assert.rejects(items.items.create({ id: 'a', tenantId: 'k'.repeat(2049) }), { code: 400 })
})

it('overwrites system properties that a client sends in', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const { resource } = await items.items.create({ id: 'a', tenantId: 't1', _ts: 1, _etag: 'mine', _rid: 'mine', n: 1 })
  assert.ok(resource !== undefined && resource._ts > 1_000_000_000 && resource._etag !== 'mine')
  assert.deepEqual((await items.item('a', 't1').read()).resource, resource)
})

it('supports If-Match: *, and an outdated version', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const ifMatch = (condition: string) => ({ accessCondition: { type: 'IfMatch', condition } })
  const document = { id: 'a', tenantId: 't1' }
  await assert.rejects(items.items.upsert(document, ifMatch('*')), { code: 412 })
  const { etag } = await items.items.create(document)
  assert.equal((await items.items.upsert(document, ifMatch('*'))).statusCode, 200)
  await assert.rejects(items.item('a', 't1').delete(ifMatch(etag)), { code: 412 })
})
