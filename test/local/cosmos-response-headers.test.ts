import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { docsOf, openAccount, send } from '../support/local/cosmos-account.ts'

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

it('returns the token with errors as well', async (t) => {
  const { things, get } = await openItems(t)
  const { headers } = await things.items.create({ id: 'a', tenantId: 't1' })
  const missing = await get('b')
  assert.equal(missing.status, 404)
  assert.equal(missing.headers.get('x-ms-session-token'), headers['x-ms-session-token'])
  assert.equal(missing.headers.get('x-ms-content-path'), headers['x-ms-content-path'])
})

it('returns the time of the account with each response about items, and reads what was written whatever the token', async (t) => {
  const { things, get } = await openItems(t)
  const { resource } = await things.items.create({ id: 'a', tenantId: 't1' })
  const read = await get('a', '0:-1#999999')
  assert.equal(read.status, 200)
  const ageS = Date.parse(String(read.headers.get('date'))) / 1000 - Number(resource?._ts)
  assert.ok(ageS >= 0 && ageS < 10, `${ageS}`)
})
