import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connectors/connector-object-store.ts'
import { cosmosConnectorStore } from '../../shared/cosmos/connectors/connector-store.ts'
import { cosmosAccountHolders } from '../../shared/cosmos/core/account-holders.ts'
import { cosmosCoreObjectStore, cosmosDeletedCoreObjects } from '../../shared/cosmos/core/core-object-store.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ConnectorObject } from '../../shared/domain/connectors/connector-object.ts'
import type { ConnectorObjectWrite } from '../../shared/domain/connectors/connector-object-store.ts'
import type { MergedCoreObject } from '../../shared/domain/connectors/merged-core-object.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const connectors = cosmosConnectorStore(database('connectors'))
const objects = cosmosConnectorObjectStore(database('connectorObjects'))
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))

const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }

function object(more: Partial<ConnectorObject> = {}): ConnectorObject {
  const names = { connectorId: 'c1', objectType: 'identity', externalId: 'x' } as const
  return { id: randomUUID(), ...names, data: {}, coreObjectId: randomUUID(), references: {}, ...more }
}

function core(more: Partial<MergedCoreObject> = {}): MergedCoreObject {
  const names = { objectType: 'identity', externalId: 'x' } as const
  return { id: randomUUID(), ...names, attributes: {}, contributors: ['o'], deleted: false, ...more }
}

/** Writes to an open space. */
async function write(tenantId: string, writes: readonly ConnectorObjectWrite[]): Promise<ReadonlySet<string>> {
  await objects.open(tenantId, 'c1')
  return objects.write({ tenantId, connectorId: 'c1', softDeletionDays: 1, isDelivery: true }, writes)
}

const asNew = <T>(each: T) => ({ object: each, version: undefined })

describe('ConnectorStore', () => {
  it('refuses a replace or removal with an old version, and of a deleted connector', async () => {
    const tenantId = randomUUID()
    const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
    await connectors.add(tenantId, connector)
    const { version = '' } = (await connectors.find(tenantId, connector.id)) ?? {}
    const replaced = await connectors.replace(tenantId, { ...connector, name: 'New' }, version)
    await assert.rejects(connectors.replace(tenantId, connector, version), { code: 'StaleVersion' })
    await assert.rejects(connectors.remove(tenantId, connector.id, version), { code: 'StaleVersion' })
    assert.equal((await connectors.find(tenantId, connector.id))?.value.name, 'New')
    await connectors.remove(tenantId, connector.id, replaced.version)
    await assert.rejects(connectors.remove(tenantId, connector.id, replaced.version), { code: 'ConnectorNotFound' })
  })

  it('separates tenants', async () => {
    const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
    await connectors.add(randomUUID(), connector)
    assert.equal(await connectors.find(randomUUID(), connector.id), undefined)
    assert.deepEqual(await connectors.list(randomUUID()), [])
  })
})

describe('ConnectorObjectStore', () => {
  it('writes more than fits one transaction, by count and by size', async () => {
    const tenantId = randomUUID()
    const data = { displayName: 'x'.repeat(2000), email: 'y'.repeat(2000) }
    const many = Array.from({ length: 1000 }, () => object({ data }))
    assert.equal((await write(tenantId, many.map(asNew))).size, 0)
    const ids = many.map(({ id }) => id)
    assert.equal((await objects.ofIds(tenantId, ids)).length, 1000)
  })

  it('returns the ids that it did not write because of a conflict', async () => {
    const tenantId = randomUUID()
    const [first, second] = [object(), object()]
    await write(tenantId, [asNew(first)])
    assert.ok((await write(tenantId, [asNew(second), asNew(first)])).has(first.id))
    const [read] = await objects.ofIds(tenantId, [first.id])
    const change = { object: { ...first, data: { email: 'a' } }, version: read?.version }
    assert.equal((await write(tenantId, [change])).size, 0)
    assert.deepEqual([...(await write(tenantId, [change]))], [first.id])
  })

  it('finds the live objects that refer to an object, directly and in lists', async () => {
    const tenantId = randomUUID()
    const by = (references: ConnectorObject['references'], more: Partial<ConnectorObject> = {}) =>
      object({ objectType: 'orgUnit', references, ...more })
    const referring = [by({ manager: 'p1' }), by({ deputies: ['p0', 'p1'] })]
    const others = [
      by({ manager: 'p2', deputies: ['p2'] }),
      by({ manager: 'p1' }, { deletedAtMs: 1 }),
      by({ parent: 'p1' }),
    ]
    await write(tenantId, [...referring, ...others].map(asNew))
    assert.deepEqual(
      (await objects.coreObjectsReferringTo(tenantId, 'identity', ['p1', 'p9'])).sort(),
      referring.map(({ coreObjectId }) => coreObjectId).sort(),
    )
  })

  it('finds identities by their join keys, soft-deleted ones included', async () => {
    const tenantId = randomUUID()
    const [first, second] = [object({ data: { nin: '1' } }), object({ data: { nin: '2', directoryObjectId: 'a' } })]
    const deleted = object({ data: { nin: '1' }, deletedAtMs: 1 })
    await write(tenantId, [first, second, deleted].map(asNew))
    const ids = async (keys: Record<string, string[]>) =>
      (await objects.identitiesByKeys(tenantId, new Map(Object.entries(keys)))).map(({ value }) => value.id)
    assert.deepEqual((await ids({ nin: ['1'] })).sort(), [first.id, deleted.id].sort())
    assert.deepEqual(await ids({ nin: ['2'], directoryObjectId: ['a'] }), [second.id])
    assert.deepEqual(await ids({}), [])
  })

  it('lists live objects ordered by id, without a continuation on a full last page', async () => {
    const tenantId = randomUUID()
    const many = Array.from({ length: 4 }, () => object())
    const rest = [object({ deletedAtMs: 1 }), object({ connectorId: 'c2' }), object({ objectType: 'orgUnit' })]
    await write(tenantId, [...many, ...rest].map(asNew))
    const first = await objects.page(tenantId, 'c1', 'identity', undefined, 2)
    const second = await objects.page(tenantId, 'c1', 'identity', first.continueAfter, 2)
    const sorted = many.map(({ id }) => id).sort()
    assert.deepEqual(
      [...first.items, ...second.items].map(({ id }) => id),
      sorted,
    )
    assert.deepEqual([first.continueAfter, second.continueAfter], [sorted[1], undefined])
    assert.equal(await objects.hasLive(tenantId, 'c1'), true)
    assert.equal(await objects.hasLive(tenantId, 'c3'), false)
  })
})

describe('CoreObjectReader and CoreObjectWriter', () => {
  it('return objects as written, with the time of the last write in seconds', async () => {
    const tenantId = randomUUID()
    const written = core({ attributes: { displayName: 'Ada', 'custom/shoe size': '38' } })
    await coreObjects.write(tenantId, [asNew(written)], 1)
    const [read] = await coreObjects.ofIds(tenantId, 'identity', [written.id])
    assert.ok(read !== undefined && Math.abs(Date.now() / 1000 - read.lastUpdatedS) < 60)
    const [{ value } = { value: undefined }] = await coreObjects.mergedOfIds(tenantId, [written.id])
    assert.deepEqual(value, written)
  })

  it('return deleted objects only for merging', async () => {
    const tenantId = randomUUID()
    const gone = core({ deleted: true, attributes: {} })
    await coreObjects.write(tenantId, [asNew(gone)], 1)
    assert.deepEqual(await coreObjects.ofIds(tenantId, 'identity', [gone.id]), [])
    assert.deepEqual((await coreObjects.page(tenantId, 'identity', undefined, 10)).items, [])
    assert.equal((await coreObjects.mergedOfIds(tenantId, [gone.id])).length, 1)
  })

  it('keep a deleted object for the days of the connector, and longer while one of its sources can be restored', async () => {
    const tenantId = randomUUID()
    const [gone, sourced] = [core({ deleted: true, attributes: {} }), core({ deleted: true, attributes: {} })]
    const kept = [gone, sourced].map((object) => ({ ...asNew(object), keptS: object === sourced ? 200_000 : 10 }))
    await coreObjects.write(tenantId, kept, 1)
    const container = database('coreObjects')
    const ttlOf = async ({ id }: MergedCoreObject) => (await container.item(id, tenantId).read()).resource.ttl
    assert.deepEqual([await ttlOf(gone), await ttlOf(sourced)], [86_400, 200_000])
  })
})

describe('AccountHolders', () => {
  it('name the identity with the lower id for an account that two hold for a moment, whichever was written first', async () => {
    const holders = cosmosAccountHolders(database('coreObjects'))
    const tenantId = randomUUID()
    const [low, high] = [randomUUID(), randomUUID()].sort() as [string, string]
    const [lower, higher] = [randomUUID(), randomUUID()].sort() as [string, string]
    const accounts = { [low]: 'first', [high]: 'first', [higher]: 'second', [lower]: 'second' }
    for (const [id, directoryObjectId] of Object.entries(accounts)) {
      await coreObjects.write(tenantId, [asNew(core({ id, attributes: { directoryObjectId, displayName: id } }))], 1)
    }
    const found = await holders.ofAccounts(tenantId, ['first', 'second', 'third'])
    assert.deepEqual(Object.fromEntries(found), {
      first: { identityId: low, displayName: low },
      second: { identityId: lower, displayName: lower },
    })
  })
})

describe('a search in a large scope', () => {
  it('finds the matches beyond the first response of the database', async () => {
    const tenantId = randomUUID()
    const all = Array.from({ length: 2001 }, (_, index) =>
      core({ attributes: { displayName: `Person ${10_000 + index}` } }),
    )
    await coreObjects.write(tenantId, all.map(asNew), 1)
    const ids = [all[0]?.id ?? '', all[2000]?.id ?? '']
    const among = { count: 2001, has: (id: string) => ids.includes(id), isFoundByNin: () => false, ids: () => ids }
    const found = await coreObjects.search(tenantId, 'identity', 'person', among, 2)
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
    )
  })

  it('finds by national identity numbers only those whom the scope allows, beside others', async () => {
    const tenantId = randomUUID()
    const own = core({ attributes: { displayName: 'b', nin: '4712' } })
    const other = core({ attributes: { displayName: 'a', nin: '4712' } })
    const named = core({ attributes: { displayName: 'c 4712' } })
    await coreObjects.write(tenantId, [own, other, named].map(asNew), 1)
    const ids = [own.id, other.id, named.id].sort()
    for (const count of [3, 2001]) {
      const isFoundByNin = ({ id }: { readonly id: string }) => id === own.id
      const among = { count, has: (id: string) => ids.includes(id), isFoundByNin, ids: () => ids }
      const found = await coreObjects.search(tenantId, 'identity', '4712', among, 9)
      assert.deepEqual(
        found.map(({ id }) => id),
        [own.id, named.id],
      )
    }
  })

  it('finds at most as many as asked for, whichever conditions they fulfil', async () => {
    const tenantId = randomUUID()
    const byName = ['a', 'b'].map((name) => core({ externalId: name, attributes: { displayName: `${name} 4711` } }))
    const byNin = ['c', 'd'].map((name) => core({ externalId: name, attributes: { displayName: name, nin: '4711' } }))
    await coreObjects.write(tenantId, [...byNin, ...byName].map(asNew), 1)
    const namesOf = async (limit: number) => {
      const found = await coreObjects.search(tenantId, 'identity', '4711', undefined, limit)
      return found.map(({ attributes }) => attributes.displayName)
    }
    assert.deepEqual(await namesOf(3), ['a 4711', 'b 4711', 'c'])
    assert.deepEqual(await namesOf(9), ['a 4711', 'b 4711', 'c', 'd'])
  })
})

describe('a page of unusually large objects', () => {
  it('ends early, and the next pages have the rest', async () => {
    const tenantId = randomUUID()
    const attributes = { mobile: 'x'.repeat(1_000_000) }
    const all = Array.from({ length: 48 }, () => core({ attributes }))
    await coreObjects.write(tenantId, all.map(asNew), 1)
    const counts: number[] = []
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await coreObjects.page(tenantId, 'identity', after, 5000)
      counts.push(page.items.length)
      found.push(...page.items.map(({ id }) => id))
      after = page.continueAfter
    } while (after !== undefined)
    assert.deepEqual(found, all.map(({ id }) => id).sort())
    assert.ok(
      counts.every((count) => count <= 25),
      `pages of ${counts}`,
    )
  })
})

describe('Deleted core objects', () => {
  it('are found among more ids than one query can have', async () => {
    const deleted = cosmosDeletedCoreObjects(database('coreObjects'))
    const ids = Array.from({ length: 15_000 }, () => randomUUID())
    assert.deepEqual(await deleted.ofIds(randomUUID(), ids), [])
    assert.deepEqual(await deleted.mergedInto(randomUUID(), ids), [])
  })
})
