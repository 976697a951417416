import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCollectionStore } from '../../shared/cosmos/collections/collection-store.ts'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const container = await localDatabase()
const store = cosmosCollectionStore(container('collections'))

function collectionWith(changes: Partial<Collection>): Collection {
  return {
    id: randomUUID(),
    tenantId: '00000000-0000-4000-8000-000000000001',
    kind: 'criteria',
    objectType: 'Identity',
    name: 'Teachers',
    description: null,
    definition: { groupOperator: 'AND', conditions: [] },
    definitionVersion: 1,
    definedBy: randomUUID(),
    metadata: { tags: [], attributes: {} },
    refersTo: [],
    createdBy: randomUUID(),
    createdAtMs: 1_700_000_000_000,
    updatedAtMs: 1_700_000_000_000,
    ...changes,
  }
}

const namesOf = (collections: readonly Collection[]) => collections.map(({ name }) => name)

describe('CollectionStore on the local database', () => {
  it('finds a collection in its own tenant and by its own kind only', async () => {
    const collection = collectionWith({})
    await store.add(collection, undefined)
    assert.deepEqual((await store.find(collection.tenantId, collection.id))?.value, collection)
    assert.equal(await store.find(collection.tenantId, collection.id, 'joinable'), undefined)
    assert.equal(await store.find(randomUUID(), collection.id), undefined)
  })

  it('lists by name and finds by all of the tags and attributes, colons in keys included', async () => {
    const tenantId = randomUUID()
    const school = { tags: ['school', 'staff'], attributes: { 'a:b': 'c', level: '1' } }
    const [nurses, teachers] = [
      collectionWith({ tenantId, name: 'Nurses', metadata: { tags: ['staff'], attributes: { a: 'b:c' } } }),
      collectionWith({ tenantId, name: 'Teachers', metadata: school }),
    ]
    await store.add(teachers, undefined)
    await store.add(nurses, await store.referenceVersion(tenantId))
    assert.deepEqual(namesOf(await store.list(tenantId)), ['Nurses', 'Teachers'])
    const names = async (filter: Parameters<typeof store.search>[1]) => namesOf(await store.search(tenantId, filter))
    assert.deepEqual(await names({}), ['Nurses', 'Teachers'])
    assert.deepEqual(await names({ tags: [['staff']] }), ['Nurses', 'Teachers'])
    assert.deepEqual(await names({ tags: [['staff'], ['school']] }), ['Teachers'])
    assert.deepEqual(await names({ tags: [['school', 'nothing']] }), ['Teachers'])
    assert.deepEqual(await names({ attributes: [{ key: 'a:b', value: 'c' }] }), ['Teachers'])
    assert.deepEqual(await names({ attributes: [{ key: 'a', value: 'b:c' }] }), ['Nurses'])
  })

  it('finds the existing ones among very many ids, in their own tenant only', async () => {
    const tenantId = randomUUID()
    const one = collectionWith({ tenantId })
    await store.add(one, undefined)
    const strangers = Array.from({ length: 12_000 }, () => randomUUID())
    assert.deepEqual(await store.existing(tenantId, [...strangers, one.id]), [one])
    assert.deepEqual(await store.existing(randomUUID(), [one.id]), [])
  })

  it('refuses a replace and a removal that quote an old version', async () => {
    const collection = collectionWith({})
    const { version } = await store.add(collection, undefined)
    await store.replace({ ...collection, name: 'Nurses' }, version, undefined)
    await assert.rejects(store.replace(collection, version, undefined), { code: 'StaleVersion' })
    const guard = await store.referenceVersion(collection.tenantId)
    await assert.rejects(store.remove(collection.tenantId, collection.id, version, guard), { code: 'StaleVersion' })
    assert.equal((await store.find(collection.tenantId, collection.id))?.value.name, 'Nurses')
  })

  it('accepts one of two changes of references that read the same state, and writes nothing of the other', async () => {
    const tenantId = randomUUID()
    const guard = await store.referenceVersion(tenantId)
    const [first, second] = [collectionWith({ tenantId }), collectionWith({ tenantId })]
    const outcomes = await Promise.allSettled([store.add(first, guard), store.add(second, guard)])
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await store.list(tenantId)).length, 1)
    await assert.rejects(store.add(collectionWith({ tenantId }), guard), { code: 'StaleVersion' })
  })

  it('refuses a removal when a reference to the collection was added since it was read', async () => {
    const collection = collectionWith({})
    const { tenantId, id } = collection
    const { version } = await store.add(collection, undefined)
    for (const remark of ['the first there is', 'another one']) {
      const guard = await store.referenceVersion(tenantId)
      await store.invalidateReferenceVersions(tenantId)
      await assert.rejects(store.remove(tenantId, id, version, guard), { code: 'StaleVersion' }, remark)
    }
    await store.remove(tenantId, id, version, await store.referenceVersion(tenantId))
  })

  it('answers a hundred concurrent reads of a collection with two queries, each with everything written before', async () => {
    const collections = container('collections')
    let readCount = 0
    const counting = new Proxy(collections, {
      get(target, name) {
        if (name !== 'item') return Reflect.get(target, name)
        return (...item: Parameters<typeof target.item>) => {
          readCount += 1
          return target.item(...item)
        }
      },
    })
    const counted = cosmosCollectionStore(counting)
    const collection = collectionWith({})
    const { version } = await store.add(collection, undefined)
    const find = () => counted.find(collection.tenantId, collection.id)
    const names = (await Promise.all(Array.from({ length: 100 }, find))).map((found) => found?.value.name)
    assert.deepEqual([readCount, new Set(names)], [2, new Set([collection.name])])
    const early = find()
    await store.replace({ ...collection, name: 'Nurses' }, version, undefined)
    assert.equal((await find())?.value.name, 'Nurses')
    assert.equal((await early)?.value.id, collection.id)
  })

  it('records removed collections with their time until the record is deleted, and lists none of them', async () => {
    const tenantId = randomUUID()
    const collection = collectionWith({ tenantId })
    const { version } = await store.add(collection, undefined)
    await store.remove(tenantId, collection.id, version, await store.referenceVersion(tenantId))
    assert.deepEqual(await store.list(tenantId), [])
    const [removal, ...others] = await store.removals(tenantId)
    assert.deepEqual([removal?.collectionId, others], [collection.id, []])
    assert.ok(Math.abs((removal?.removedAtMs ?? 0) - Date.now()) < 60_000)
    assert.deepEqual(await store.removals(randomUUID()), [])
    await store.deleteRemovalRecord(tenantId, collection.id)
    await store.deleteRemovalRecord(tenantId, collection.id)
    assert.deepEqual(await store.removals(tenantId), [])
  })
})
