import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connector-store.ts'
import type { CollectionKind } from '../../shared/domain/collections/collection.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'
import { operationsDuring } from './local-database.ts'

const { cosmos, newInstance } = await databaseOfInstances()
cosmos.setReplicaLag(STOPPED)
const newStore = () => cosmosConnectorStore(newInstance().container('connectors'))
const newHr = (name = 'HR') =>
  newConnector(
    { name, clientId: randomUUID() },
    { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' },
  )

const COLLECTION = {
  objectType: 'Identity',
  description: null,
  definition: {},
  definitionVersion: 1,
  definedBy: '5b0f3f2e-1c1d-4c56-9a70-3a0a1c6a3a01',
  metadata: { tags: [], attributes: {} },
  refersTo: [],
  createdBy: '5b0f3f2e-1c1d-4c56-9a70-3a0a1c6a3a01',
  createdAtMs: Date.parse('2030-01-01T00:00:00Z'),
  updatedAtMs: Date.parse('2030-01-01T00:00:00Z'),
} as const

describe('A kept list', () => {
  it('is read again only after a write, by whichever instance, and by one batch otherwise', async () => {
    const tenantId = randomUUID()
    const [one, other] = [newStore(), newStore()]
    await one.add(tenantId, newHr())
    const names = async () => (await one.list(tenantId)).map(({ name }) => name)
    assert.deepEqual(await names(), ['HR'])
    const operations = await operationsDuring({ cosmos }, async () => assert.deepEqual(await names(), ['HR']))
    assert.deepEqual(operations, { batch: 1 })
    const payroll = newHr('Payroll')
    await other.add(tenantId, payroll)
    assert.deepEqual((await names()).toSorted(), ['HR', 'Payroll'])
    const { version = '' } = (await other.find(tenantId, payroll.id)) ?? {}
    const { version: replaced } = await other.replace(tenantId, { ...payroll, name: 'Wages' }, version)
    assert.deepEqual((await names()).toSorted(), ['HR', 'Wages'])
    await other.remove(tenantId, payroll.id, replaced)
    assert.deepEqual(await names(), ['HR'])
  })

  it('has the collections of one kind or of both, those just created by another instance included', async () => {
    const tenantId = randomUUID()
    const [one, other] = [newInstance(), newInstance()].map((instance) =>
      cosmosCollectionStore(instance.container('collections')),
    )
    const names = async (kind?: CollectionKind) => (await one?.list(tenantId, kind))?.map(({ name }) => name)
    for (const [kind, name] of [
      ['criteria', 'Nurses'],
      ['joinable', 'Book club'],
    ] as const) {
      assert.deepEqual(await names(kind), [])
      await other?.add({ ...COLLECTION, id: randomUUID(), tenantId, kind, name }, undefined)
      assert.deepEqual(await names(kind), [name])
    }
    assert.deepEqual(await names(), ['Book club', 'Nurses'])
    const operations = await operationsDuring({ cosmos }, async () =>
      assert.deepEqual(await names('criteria'), ['Nurses']),
    )
    assert.deepEqual(operations, { batch: 1 })
  })

  it('that takes too much memory is read each time, and others stay in memory', async () => {
    const [small, large] = [randomUUID(), randomUUID()]
    const store = cosmosCollectionStore(newInstance().container('collections'))
    const add = (tenantId: string, definition: object) =>
      store.add({ ...COLLECTION, kind: 'criteria', name: 'Nurses', id: randomUUID(), tenantId, definition }, undefined)
    await add(small, {})
    for (let count = 0; count < 10; count += 1) await add(large, { text: 'x'.repeat(1_800_000) })
    const countOf = async (tenantId: string) => (await store.list(tenantId, 'criteria')).length
    assert.equal(await countOf(small), 1)
    for (const attempt of ['first', 'second']) {
      const { query = 0 } = await operationsDuring({ cosmos }, async () => assert.equal(await countOf(large), 10))
      assert.ok(query > 0, attempt)
    }
    const operations = await operationsDuring({ cosmos }, async () => assert.equal(await countOf(small), 1))
    assert.deepEqual(operations, { batch: 1 })
  })

  it('is not changed by its readers', async () => {
    const tenantId = randomUUID()
    const store = newStore()
    await store.add(tenantId, newHr())
    const list = await store.list(tenantId)
    list.pop()
    assert.equal((await store.list(tenantId)).length, 1)
  })

  it('is read again while the list before it was read during a write', async () => {
    const tenantId = randomUUID()
    const container = newInstance().container('connectors')
    const other = newStore()
    let happens = async (): Promise<void> => undefined
    const query = (...asked: Parameters<typeof container.items.query>) => {
      const pages = container.items.query(...asked)
      const fetchNext = async () => {
        const page = await pages.fetchNext()
        await happens()
        return page
      }
      return { hasMoreResults: () => pages.hasMoreResults(), fetchNext }
    }
    const items = { batch: container.items.batch.bind(container.items), query }
    const store = cosmosConnectorStore({ items } as unknown as typeof container)
    happens = () => other.add(tenantId, newHr())
    assert.deepEqual(await store.list(tenantId), [])
    happens = async () => undefined
    assert.equal((await store.list(tenantId)).length, 1)
  })
})
