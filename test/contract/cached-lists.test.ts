import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cachedLists } from '../../shared/cosmos/cached-lists.ts'
import { cosmosCollectionStore } from '../../shared/cosmos/collections/collection-store.ts'
import type { CollectionKind } from '../../shared/domain/collections/collection.ts'
import { localAccount, operationsDuring } from '../support/contract/local-database.ts'

const { cosmos, container } = await localAccount()
const newStore = () => cosmosCollectionStore(container('collections'))

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

describe('A cached list', () => {
  it('is read again only after a write, by whichever instance, and by one point read otherwise', async () => {
    const tenantId = randomUUID()
    const [first, second] = [newStore(), newStore()]
    const nurses = { ...COLLECTION, kind: 'criteria', name: 'Nurses', id: randomUUID(), tenantId } as const
    const { version } = await first.add(nurses, undefined)
    const names = async () => (await first.list(tenantId)).map(({ name }) => name)
    assert.deepEqual(await names(), ['Nurses'])
    const operations = await operationsDuring({ cosmos }, async () => assert.deepEqual(await names(), ['Nurses']))
    assert.deepEqual(operations, { read: 1 })
    const replaced = await second.replace({ ...nurses, name: 'Doctors' }, version, undefined)
    assert.deepEqual(await names(), ['Doctors'])
    await second.remove(tenantId, nurses.id, replaced.version, await second.referenceVersion(tenantId))
    assert.deepEqual(await names(), [])
  })

  it('has the collections of one kind or of both, those just created by another instance included', async () => {
    const tenantId = randomUUID()
    const [first, second] = [newStore(), newStore()]
    const names = async (kind?: CollectionKind) => (await first.list(tenantId, kind)).map(({ name }) => name)
    for (const [kind, name] of [
      ['criteria', 'Nurses'],
      ['joinable', 'Book club'],
    ] as const) {
      assert.deepEqual(await names(kind), [])
      await second.add({ ...COLLECTION, id: randomUUID(), tenantId, kind, name }, undefined)
      assert.deepEqual(await names(kind), [name])
    }
    assert.deepEqual(await names(), ['Book club', 'Nurses'])
    const operations = await operationsDuring({ cosmos }, async () =>
      assert.deepEqual(await names('criteria'), ['Nurses']),
    )
    assert.deepEqual(operations, { read: 1 })
  })

  it('that takes too much memory is read each time, and others stay in memory', async () => {
    const [small, large] = [randomUUID(), randomUUID()]
    const store = newStore()
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
    assert.deepEqual(operations, { read: 1 })
  })

  it('is not changed by its readers', async () => {
    const tenantId = randomUUID()
    const store = newStore()
    await store.add({ ...COLLECTION, kind: 'criteria', name: 'Nurses', id: randomUUID(), tenantId }, undefined)
    const list = await store.list(tenantId)
    list.pop()
    assert.equal((await store.list(tenantId)).length, 1)
  })

  it('is read again when it was read during a write', async () => {
    const tenantId = randomUUID()
    const other = newStore()
    let happens = async (): Promise<void> => undefined
    const reader = cachedLists(container('collections'), {
      maxBytes: 1_000_000,
      async read(partition) {
        const items = await other.list(partition)
        await happens()
        return { items, sizeBytes: 1 }
      },
    })
    happens = async () => {
      await other.add({ ...COLLECTION, kind: 'criteria', name: 'Nurses', id: randomUUID(), tenantId }, undefined)
    }
    assert.deepEqual(await reader(tenantId), [])
    happens = async () => undefined
    assert.equal((await reader(tenantId)).length, 1)
  })
})
