import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import type { Container } from '@azure/cosmos'
import { openAccount, temporaryFolder } from '../support/local/cosmos-account.ts'

const BY_ID = 'SELECT VALUE c.id FROM c'
const BY_VALUE = 'SELECT VALUE c.id FROM c ORDER BY c["value"] DESC'

/** Ten documents in t1, in pairs of the same value, and as many in another partition. */
async function fill(container: Container): Promise<void> {
  for (const tenantId of ['t1', 't2']) {
    for (let n = 0; n < 10; n++) {
      await container.items.create({ id: `i${n}`, tenantId, value: Math.floor(n / 2) })
    }
  }
}

async function page(container: Container, query: string, continuationToken?: string, maxItemCount = 3) {
  const options = { partitionKey: 't1', maxItemCount, ...(continuationToken ? { continuationToken } : {}) }
  const answer = await container.items.query<string>(query, options).fetchNext()
  return { ids: answer.resources, token: answer.continuationToken }
}

for (const [order, query, all] of [
  ['the order of ids', BY_ID, ['i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6', 'i7', 'i8', 'i9']],
  ['an order by value', BY_VALUE, ['i8', 'i9', 'i6', 'i7', 'i4', 'i5', 'i2', 'i3', 'i0', 'i1']],
] as const) {
  it(`continues after a restart, in ${order}`, async (t) => {
    const file = join(temporaryFolder(t), 'database')
    const before = await openAccount(t, { file })
    await fill(await before.container('things'))
    const { ids, token } = await page(await before.container('things'), query)
    await before.close()
    const after = await (await openAccount(t, { file })).container('things')
    const rest = await page(after, query, token, 100)
    assert.deepEqual([...ids, ...rest.ids], all)
    assert.equal(rest.token, undefined)
  })

  it(`continues after the documents of its page were deleted, in ${order}`, async (t) => {
    const container = await (await openAccount(t)).container('things')
    await fill(container)
    const { ids, token } = await page(container, query)
    for (const id of ids) await container.item(id, 't1').delete()
    const rest = await page(container, query, token, 100)
    assert.deepEqual([...ids, ...rest.ids], all)
  })
}

it('refuses a modified token, and a token of another query, parameter, partition or container', async (t) => {
  const account = await openAccount(t)
  const container = await account.container('things')
  const other = await account.container('others')
  await fill(container)
  await fill(other)
  const spec = (value: number) => ({
    query: 'SELECT VALUE c.id FROM c WHERE c["value"] >= @from',
    parameters: [{ name: '@from', value }],
  })
  const options = { partitionKey: 't1', maxItemCount: 3 }
  const { continuationToken = '' } = await container.items.query(spec(0), options).fetchNext()
  const refused = (token: string, { from = container, value = 0, partitionKey = 't1' } = {}) => {
    const resumed = { ...options, partitionKey, continuationToken: token }
    return assert.rejects(from.items.query(spec(value), resumed).fetchNext(), { code: 400, message: /token/ })
  }
  const changed = Buffer.from(JSON.stringify({ pk: '["t1"]', id: 'i8', emittedCount: 0 })).toString('base64url')
  await refused(continuationToken.replace(/^[^.]*/, changed))
  await refused(`${continuationToken.slice(0, -1)}${continuationToken.endsWith('A') ? 'Q' : 'A'}`)
  await refused('nonsense')
  await refused(continuationToken, { value: 1 })
  await refused(continuationToken, { partitionKey: 't2' })
  await refused(continuationToken, { from: other })
  const resumed = { ...options, continuationToken }
  assert.deepEqual((await container.items.query(spec(0), resumed).fetchNext()).resources, ['i3', 'i4', 'i5'])
})

it('applies TOP and OFFSET to all pages together', async (t) => {
  const container = await (await openAccount(t)).container('things')
  await fill(container)
  const all = (query: string) =>
    container.items
      .query(query, { partitionKey: 't1', maxItemCount: 2 })
      .fetchAll()
      .then((found) => found.resources)
  assert.deepEqual(await all('SELECT TOP 5 VALUE c.id FROM c'), ['i0', 'i1', 'i2', 'i3', 'i4'])
  assert.deepEqual(await all('SELECT VALUE c.id FROM c ORDER BY c.id DESC OFFSET 3 LIMIT 4'), ['i6', 'i5', 'i4', 'i3'])
  assert.deepEqual(await all(`${BY_VALUE} OFFSET 1 LIMIT 4`), ['i9', 'i6', 'i7', 'i4'])
  assert.deepEqual(await all('SELECT TOP 0 * FROM c'), [])
})

it('ends a page at 4 MB, and returns no token after the last document', async (t) => {
  const container = await (await openAccount(t)).container('things')
  for (let n = 0; n < 5; n++) await container.items.create({ id: `i${n}`, tenantId: 't1', blob: 'x'.repeat(1_500_000) })
  const first = await container.items.query('SELECT * FROM c', { partitionKey: 't1' }).fetchNext()
  assert.equal(first.resources.length, 3)
  assert.ok(first.continuationToken)
  assert.equal((await page(container, BY_ID, undefined, 5)).token, undefined)
})
