import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OperationInput } from '@azure/cosmos'
import { docsOf, openAccount, send } from '../support/local/cosmos-account.ts'

const create = (id: string, more: object = {}): OperationInput => ({
  operationType: 'Create',
  resourceBody: { id, tenantId: 't1', ...more },
})

it('rolls back documents, unique values and versions if one operation fails', async (t) => {
  const account = await openAccount(t)
  const items = await account.container('links', { uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/group'] }] } })
  const { resource: before } = await items.items.create({ id: 'kept', tenantId: 't1', group: 'g0' })
  const response = await items.items.batch(
    [
      create('new', { group: 'g1' }),
      { operationType: 'Replace', id: 'kept', resourceBody: { id: 'kept', tenantId: 't1', group: 'g2' } },
      create('clash', { group: 'g1' }),
      create('after', { group: 'g3' }),
    ],
    't1',
  )
  assert.equal(response.code, 207)
  assert.deepEqual(
    response.result?.map(({ statusCode }) => statusCode),
    [424, 424, 409, 424],
  )
  const { resources } = await items.items.readAll({ partitionKey: 't1' }).fetchAll()
  assert.deepEqual(resources, [before])
  assert.equal((await items.items.create({ id: 'free', tenantId: 't1', group: 'g1' })).statusCode, 201)
})

it('reads earlier writes of the same batch', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const response = await items.items.batch(
    [create('a'), { operationType: 'Delete', id: 'a' }, create('a', { n: 2 }), { operationType: 'Read', id: 'a' }],
    't1',
  )
  assert.deepEqual(
    response.result?.map(({ statusCode }) => statusCode),
    [201, 204, 201, 200],
  )
  assert.equal((response.result?.[3]?.resourceBody as { n?: number } | undefined)?.n, 2)
})

it('omits written documents from a minimal response, but not read documents', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const operations: OperationInput[] = [create('a', { n: 1 }), { operationType: 'Read', id: 'a' }]
  const { result } = await items.items.batch(operations, 't1', { contentResponseOnWriteEnabled: false })
  assert.deepEqual(
    result?.map(({ resourceBody }) => (resourceBody as { n?: number } | undefined)?.n),
    [undefined, 1],
  )
  const { resource } = await items.item('a', 't1').read()
  assert.equal(result?.[0]?.eTag, resource?._etag)
})

it('refuses to read more than 4 MB at once', async (t) => {
  const items = await (await openAccount(t)).container('things')
  for (const id of ['a', 'b', 'c']) await items.items.create({ id, tenantId: 't1', text: 'x'.repeat(1_500_000) })
  const reads = (ids: readonly string[]): OperationInput[] => ids.map((id) => ({ operationType: 'Read', id }))
  assert.equal((await items.items.batch(reads(['a', 'b']), 't1')).code, 200)
  const { code, result } = await items.items.batch(reads(['a', 'b', 'c']), 't1')
  assert.equal(code, 207)
  assert.deepEqual(
    result?.map(({ statusCode }) => statusCode),
    [424, 424, 413],
  )
})

it('refuses an operation that names another partition, and writes nothing', async (t) => {
  const items = await (await openAccount(t)).container('things')
  const response = await items.items.batch(
    [create('mine'), { operationType: 'Upsert', resourceBody: { id: 'theirs', tenantId: 't2' } }],
    't1',
  )
  assert.deepEqual(
    response.result?.map(({ statusCode }) => statusCode),
    [424, 400],
  )
  assert.deepEqual((await items.items.query('SELECT * FROM c').fetchAll()).resources, [])
})

it('refuses 101 operations, an empty batch, 2 MB and one byte, and an empty patch', async (t) => {
  const account = await openAccount(t)
  await account.container('things')
  const headers = {
    'x-ms-cosmos-is-batch-request': 'true',
    'x-ms-cosmos-batch-atomic': 'true',
    'x-ms-documentdb-partitionkey': '["t1"]',
  }
  const post = (body: string) => send(account.cosmos, 'POST', docsOf('things'), headers, body)
  const operations = Array.from({ length: 101 }, (_, n) => create(`b${n}`))
  assert.equal((await post(JSON.stringify(operations))).status, 400)
  assert.equal((await post('[]')).status, 400)
  assert.equal((await post(`[${' '.repeat(2_097_151)}]`)).status, 413)
  const patched = await post(JSON.stringify([{ operationType: 'Patch', id: 'b0', resourceBody: { operations: [] } }]))
  const [outcome] = (await patched.json()) as { statusCode: number; message: string }[]
  assert.equal(outcome?.statusCode, 400)
  assert.match(outcome?.message ?? '', /Patch/)
})

it('runs bulk operations separately, each in its own partition', async (t) => {
  const items = await (await openAccount(t)).container('things')
  await items.items.create({ id: 'taken', tenantId: 't1' })
  const outcomes = await items.items.executeBulkOperations([
    { operationType: 'Create', partitionKey: 't1', resourceBody: { id: 'taken', tenantId: 't1' } },
    { operationType: 'Create', partitionKey: 't2', resourceBody: { id: 'taken', tenantId: 't2' } },
    { operationType: 'Upsert', partitionKey: 't1', resourceBody: { id: 'wrong', tenantId: 't2' } },
    { operationType: 'Delete', partitionKey: 't3', id: 'none' },
  ])
  assert.deepEqual(
    outcomes.map(({ response, error }) => response?.statusCode ?? error?.code),
    [409, 201, 400, 404],
  )
})

describe('a patch in a batch', () => {
  const patch = (id: string, op: 'incr' | 'set', path: string, value: number, more: object = {}): OperationInput => ({
    ...{ operationType: 'Patch', id, resourceBody: { operations: [{ op, path, value }] } },
    ...more,
  })
  const incr = (id: string, path: string, value: number, more: object = {}) => patch(id, 'incr', path, value, more)

  it('adds to numbers of what is stored, also below an object, and creates a member that is missing', async (t) => {
    const items = await (await openAccount(t)).container('things')
    await items.items.create({ id: 'a', tenantId: 't1', n: 1, counts: { x: 2 }, other: 'kept' })
    const { code } = await items.items.batch([incr('a', '/n', 2), incr('a', '/counts/x', -3), incr('a', '/m', 4)], 't1')
    const { n, m, counts, other } = (await items.item('a', 't1').read()).resource as Record<string, unknown>
    assert.deepEqual([code, n, m, counts, other], [200, 3, 4, { x: -1 }, 'kept'])
  })

  it('fails with its batch for a missing document, another version, and what is no number', async (t) => {
    const items = await (await openAccount(t)).container('things')
    const { resource } = await items.items.create({ id: 'a', tenantId: 't1', text: 'x' })
    for (const [operation, status] of [
      [incr('b', '/n', 1), 404],
      [incr('a', '/n', 1, { ifMatch: '"other"' }), 412],
      [incr('a', '/text', 1), 400],
      [incr('a', '/missing/n', 1), 400],
      [patch('a', 'set', '/n', 1), 400],
    ] as const) {
      const { result } = await items.items.batch([create('new'), operation], 't1')
      assert.deepEqual(
        result?.map(({ statusCode }) => statusCode),
        [424, status],
      )
    }
    assert.deepEqual((await items.item('a', 't1').read()).resource, resource)
  })
})
