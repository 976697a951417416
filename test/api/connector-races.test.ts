import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Body,
  coreDataServiceOfTests,
  newTenant,
  newTenantWithHr,
  remove,
  to,
  upsert,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

/** A small seeded random number generator. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function randomItem(next: (below: number) => number): unknown {
  const name = String(next(6))
  if (next(4) === 0) return remove(['identity', 'orgUnit', 'relationship'][next(3)] as string, name)
  switch (next(3)) {
    case 0:
      return upsert('identity', name, {
        displayName: String(next(100)),
        ...(next(2) === 0 ? { nin: String(next(4)) } : {}),
      })
    case 1:
      return upsert('orgUnit', name, { manager: to(String(next(6))), deputies: [to(String(next(6)))] })
    default:
      return upsert('relationship', name, { identity: to(String(next(6))), orgUnit: to(String(next(6))) })
  }
}

async function documents(container: 'connectorObjects' | 'coreObjects', tenantId: string): Promise<Body[]> {
  const query = service.database(container).items.query<Body>('SELECT * FROM c', { partitionKey: tenantId })
  return (await query.fetchAll()).resources
}

/** The references that every live core object must have, derived from the connector objects alone. */
async function assertConsistent(tenantId: string): Promise<void> {
  const objects = (await documents('connectorObjects', tenantId)).filter(
    ({ connectorId, deletedAtMs }) => connectorId !== undefined && deletedAtMs === undefined,
  )
  const cores = (await documents('coreObjects', tenantId)).filter(({ deleted }) => !deleted)
  const liveCoreIds = [...new Set(objects.map(({ coreObjectId }) => coreObjectId))].sort()
  assert.deepEqual(cores.map(({ id }) => id).sort(), liveCoreIds)
  const coreOf = new Map(objects.map(({ id, coreObjectId }) => [id, coreObjectId]))
  for (const { objectType, coreObjectId, references } of objects) {
    if (objectType === 'identity') continue
    const { attributes } = cores.find(({ id }) => id === coreObjectId)
    for (const [name, target] of Object.entries(references)) {
      const expected = [target].flat().flatMap((id) => coreOf.get(id as string) ?? [])
      const actual = [attributes[name] ?? []].flat().map(({ objectId }: Body) => objectId)
      assert.deepEqual(actual, expected, `${name} of ${coreObjectId}`)
    }
  }
}

describe('concurrent writes', () => {
  for (const seed of [1, 2, 3, 4]) {
    it(`leave every core object as the merge of its contributions (seed ${seed})`, async () => {
      const next = generator(seed)
      const tenant = await newTenant(service)
      const connectors = [await tenant.addConnector('HR'), await tenant.addConnector('Directory')]
      for (let round = 0; round < 6; round += 1) {
        await Promise.all(
          connectors.flatMap(({ batch }) =>
            Array.from({ length: 3 }, () => batch(...Array.from({ length: 5 }, () => randomItem(next)))),
          ),
        )
        await assertConsistent(tenant.tenantId)
      }
    })
  }
})

describe('concurrent batches that delete and create the same person', () => {
  const ROUNDS_COUNT = 15
  const person = (name: string) => upsert('identity', name, { nin: '0701', displayName: 'Ada' })
  const coreIds = async (tenantId: string) =>
    (await documents('coreObjects', tenantId)).filter(({ deleted }) => !deleted).map(({ id }) => id)

  it('leave what one order of them would, with the same core id', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(person('p1'))
    const [id] = await coreIds(tenant.tenantId)
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      const batches = [remove('identity', 'p1'), person('p1'), remove('identity', 'p1'), person('p1')]
      const results = await Promise.all(batches.map(async (item) => (await hr.batch(item))[0].status))
      assert.ok(
        results.every((status) => [200, 201, 204, 404].includes(status)),
        JSON.stringify(results),
      )
      await assertConsistent(tenant.tenantId)
      await hr.batch(person('p1'))
      assert.deepEqual(await coreIds(tenant.tenantId), [id], `round ${round}`)
    }
  })

  it('under another external id leave one person, while another source carries the person too', async () => {
    const tenant = await newTenant(service)
    const [hr, directory] = [await tenant.addConnector('HR'), await tenant.addConnector('Directory')]
    await hr.batch(person('0'))
    await directory.batch(person('d'))
    const before = await coreIds(tenant.tenantId)
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      const batches = [remove('identity', `${round}`), person(`${round + 1}`)]
      await Promise.all([...batches.map((item) => hr.batch(item)), directory.batch(person('d'))])
      await assertConsistent(tenant.tenantId)
      assert.deepEqual(await coreIds(tenant.tenantId), before, `round ${round}`)
    }
  })

  it('under another external id leave one person of a single source', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(person('0'))
    const before = await coreIds(tenant.tenantId)
    for (let round = 0; round < ROUNDS_COUNT; round += 1) {
      await Promise.all([remove('identity', `${round}`), person(`${round + 1}`)].map((item) => hr.batch(item)))
      await assertConsistent(tenant.tenantId)
      assert.deepEqual(await coreIds(tenant.tenantId), before, `round ${round}`)
    }
  })
})

describe('a write that was interrupted between connector objects and core objects', () => {
  it('is completed by repeating it', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const item = upsert('identity', 'p1', { displayName: 'Ada' })
    await hr.batch(item)
    const whole = await tenant.byExternalId('identities', 'p1')
    const core = service.database('coreObjects').item(whole.id, tenant.tenantId)
    const { resource } = await core.read()
    await core.replace({ ...resource, attributes: {} })
    const [result] = await hr.batch(item)
    assert.equal(result.status, 200)
    assert.equal((await tenant.byExternalId('identities', 'p1')).displayName, 'Ada')
    await core.delete()
    await hr.batch(item)
    assert.equal((await tenant.byExternalId('identities', 'p1')).displayName, 'Ada')
  })
})
