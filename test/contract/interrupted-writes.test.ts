import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/batch-item.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { type WriteDependencies, writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { CoreObject, ObjectType, Reference } from '../../shared/domain/core/core-object.ts'
import { interruptedWrites, writeDependencies } from './connector-writes.ts'
import { localDatabase } from './local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))

const person = (externalId: string, data: ObjectData = {}): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}
const post = (externalId: string, holder: string): ObjectWrite => {
  const data = { identity: { externalId: holder } }
  return { operation: 'upsert', objectType: 'relationship', externalId, data }
}
const gone = (externalId: string): ObjectWrite => ({ operation: 'delete', objectType: 'identity', externalId })

/** A tenant with two connectors, the first of which is the older one. */
async function newTenant() {
  const tenantId = randomUUID()
  const creations = ['2030-01-01T00:00:00.000+00:00', '2030-01-02T00:00:00.000+00:00']
  const [first, second] = await Promise.all(
    creations.map(async (createdAt) => {
      const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt }
      const connector = newConnector({ name: 'A source', clientId: randomUUID() }, creation)
      await deps.connectors.add(tenantId, connector)
      return async (writes: readonly ObjectWrite[], using: WriteDependencies = deps) =>
        (await writeObjects(tenantId, connector, writes, using)).map(({ outcome }) => outcome)
    }),
  )
  if (first === undefined || second === undefined) throw new Error('There have to be two connectors')
  const live = async (objectType: ObjectType): Promise<readonly CoreObject[]> =>
    (await coreObjects.page(tenantId, objectType, undefined, 5000)).items
  return {
    tenantId,
    first,
    second,
    people: () => live('identity'),
    holders: async () =>
      (await live('relationship')).map(({ attributes }) => (attributes.identity as Reference | undefined)?.objectId),
  }
}

/** The process ends once the connector objects are written, and before any core object is. */
const dying = () =>
  interruptedWrites(deps)('coreObjectsReferringTo', 'before', () => Promise.reject(new Error('The process died')))

describe('a write whose process died between connector objects and core objects is mended by the next of the same', () => {
  it('deletion, although there is nothing left to delete', async () => {
    const tenant = await newTenant()
    await tenant.first([person('p1'), post('r1', 'p1')])
    await assert.rejects(tenant.first([gone('p1')], dying()))
    assert.equal((await tenant.people()).length, 1)
    assert.deepEqual(await tenant.first([gone('p1')]), ['refused'])
    assert.deepEqual([await tenant.people(), await tenant.holders()], [[], [undefined]])
  })

  it('creation, for those who refer to the object as well', async () => {
    const tenant = await newTenant()
    await tenant.first([post('r1', 'p1')])
    await assert.rejects(tenant.first([person('p1')], dying()))
    assert.deepEqual(await tenant.first([person('p1')]), ['unchanged'])
    assert.deepEqual(
      await tenant.holders(),
      (await tenant.people()).map(({ id }) => id),
    )
  })

  it('joining of two people, for the one who is no more', async () => {
    const tenant = await newTenant()
    await tenant.first([person('hr')])
    await tenant.second([person('ad', { nin: '1' })])
    assert.equal((await tenant.people()).length, 2)
    await assert.rejects(tenant.first([person('hr', { nin: '1' })], dying()))
    assert.deepEqual(await tenant.second([person('ad', { nin: '1' })]), ['unchanged'])
    assert.deepEqual(await tenant.first([person('hr', { nin: '1' })]), ['unchanged'])
    const people = await tenant.people()
    assert.deepEqual(
      people.map(({ attributes }) => attributes.nin),
      ['1'],
    )
  })
})

describe('an object that once came to another core object', () => {
  it('says nothing of the former one when that is forgotten', async () => {
    const tenant = await newTenant()
    await tenant.first([person('hr')])
    await tenant.second([person('ad', { nin: '1' })])
    const before = (await tenant.people()).map(({ id }) => id)
    await tenant.first([person('hr', { nin: '1' })])
    const [only] = await tenant.people()
    const former = before.find((id) => id !== only?.id) ?? ''
    const item = database('coreObjects').item(former, tenant.tenantId)
    await item.delete()
    assert.deepEqual(await tenant.second([person('ad', { nin: '1' })]), ['unchanged'])
    assert.equal((await item.read()).statusCode, 404)
  })
})
