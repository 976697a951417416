import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { it, type TestContext } from 'node:test'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { docsOf, openAccount, send } from './cosmos-account.ts'

const BY_TENANT = { 'x-ms-documentdb-partitionkey': '["t1"]' }

async function openItems(t: TestContext) {
  const account = await openAccount(t)
  const [things, others] = [await account.container('things'), await account.container('others')]
  const get = (id: string, token?: string) =>
    send(account.cosmos, 'GET', `${docsOf('things')}/${id}`, {
      ...BY_TENANT,
      ...(token === undefined ? {} : { 'x-ms-session-token': token }),
    })
  return { ...account, things, others, get }
}

const lsnOf = (token: unknown): number => Number(/^0:-1#(\d+)$/.exec(String(token))?.[1])

it('counts the LSN of each container separately', async (t) => {
  const { things, others } = await openItems(t)
  const first = await things.items.create({ id: 'a', tenantId: 't1' })
  await others.items.create({ id: 'a', tenantId: 't1' })
  const read = await things.item('a', 't1').read()
  assert.equal(lsnOf(read.headers['x-ms-session-token']), lsnOf(first.headers['x-ms-session-token']))
  const second = await things.items.create({ id: 'b', tenantId: 't1' })
  assert.ok(lsnOf(second.headers['x-ms-session-token']) > lsnOf(first.headers['x-ms-session-token']))
})

it('does not count a rolled back batch', async (t) => {
  const { things } = await openItems(t)
  const { headers } = await things.items.create({ id: 'a', tenantId: 't1' })
  const operations = ['b', 'a'].map((id) => ({
    operationType: 'Create' as const,
    resourceBody: { id, tenantId: 't1' },
  }))
  assert.equal((await things.items.batch(operations, 't1')).code, 207)
  const read = await things.item('a', 't1').read()
  assert.equal(read.headers['x-ms-session-token'], headers['x-ms-session-token'])
})

it('returns the token with errors as well, so that a caller can read the conflicting write', async (t) => {
  const { things, get } = await openItems(t)
  const { headers } = await things.items.create({ id: 'a', tenantId: 't1' })
  const missing = await get('b')
  assert.equal(missing.status, 404)
  assert.equal(missing.headers.get('x-ms-session-token'), headers['x-ms-session-token'])
  assert.equal(missing.headers.get('x-ms-content-path'), headers['x-ms-content-path'])
})

it('rejects a read with a token of an unknown write with 404 and substatus 1002', async (t) => {
  const { things, get } = await openItems(t)
  const { headers } = await things.items.create({ id: 'a', tenantId: 't1' })
  const lsn = lsnOf(headers['x-ms-session-token'])
  assert.equal((await get('a', `0:-1#${lsn}`)).status, 200)
  const refused = await get('a', `0:-1#${lsn + 1}`)
  assert.deepEqual([refused.status, refused.headers.get('x-ms-substatus')], [404, '1002'])
})

it('rejects an invalid token', async (t) => {
  const { get } = await openItems(t)
  for (const token of ['', '5', '0:-1#x', '1:-1#5']) assert.equal((await get('a', token)).status, 400, token)
})

it('receives the token of the last write with each read and query of the service', async (t) => {
  const { cosmos, client } = await openAccount(t)
  const { database } = await client.databases.createIfNotExists({ id: 'collections' })
  await database.containers.createIfNotExists({ id: 'links', partitionKey: { paths: ['/tenantId'] } })
  const sent: unknown[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: ClientRequest }
    sent.push(request.getHeader('x-ms-session-token'))
  }
  subscribe('http.client.request.start', note)
  t.after(() => unsubscribe('http.client.request.start', note))

  const links = openDatabase({ endpoint: cosmos.endpoint, key: cosmos.key })('links')
  const { headers } = await links.items.create({ id: 'a', tenantId: 't1' })
  sent.length = 0
  await links.item('a', 't1').read()
  await links.items.query('SELECT * FROM c', { partitionKey: 't1' }).fetchNext()
  const token = headers['x-ms-session-token']
  assert.deepEqual(new Set(sent), new Set([token]))
})
