import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MembershipStore } from '../../shared/domain/collections/membership-store.ts'
import { CRITERIA, criteriaTenant, startCriteriaService, startsWith } from '../support/api/criteria-service.ts'

const service = await startCriteriaService({ databaseSharesClock: true })

type Tenant = ReturnType<typeof criteriaTenant>

/** Everything that is stored of a collection's members. */
async function storedMembers(tenant: Tenant, id: string): Promise<string[]> {
  const query = {
    query: 'SELECT VALUE c.id FROM c WHERE c.membersOf = @of',
    parameters: [{ name: '@of', value: `${tenant.tenantId}:${id}` }],
  }
  return (await service.database('members').items.query<string>(query).fetchAll()).resources
}

async function storedRemovals(tenant: Tenant): Promise<string[]> {
  const query = {
    query: 'SELECT VALUE c.id FROM c WHERE c.tenantId = @tenantId AND IS_DEFINED(c.removedCollectionId)',
    parameters: [{ name: '@tenantId', value: tenant.tenantId }],
  }
  return (await service.database('collections').items.query<string>(query).fetchAll()).resources
}

const deletion = (tenant: Tenant, id: string) => tenant.send('DELETE', `${CRITERIA}/${id}`)

/** A process whose writes of members have something happen first. */
function processWith(replace: MembershipStore['replace']) {
  return service.newProcess({ memberships: { ...service.process.memberships, replace } })
}

const pass = (minutes: number): void => {
  service.clock.nowMs += minutes * 60_000
}

describe('A collection deleted while it is evaluated', () => {
  for (const [claim, isEvaluatedBefore] of [
    ['for the first time', false],
    ['again', true],
  ] as const) {
    it(`leaves no members, evaluated ${claim}`, async () => {
      const tenant = criteriaTenant(service)
      await tenant.person('Ann')
      const [deleted, kept] = [await tenant.create(startsWith('A')), await tenant.create(startsWith('A'))]
      if (isEvaluatedBefore) await tenant.evaluate()
      await tenant.person('Anders')
      const { evaluator } = processWith(async (tenantId, id, ...rest) => {
        if (id === deleted) assert.equal((await deletion(tenant, id)).status, 200)
        return service.process.memberships.replace(tenantId, id, ...rest)
      })
      await evaluator.evaluate(tenant.tenantId)
      assert.deepEqual(await storedMembers(tenant, deleted), [])
      assert.equal((await tenant.members(kept)).length, 2)
    })
  }

  it('leaves none an hour later when the evaluator crashed right after writing them', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(startsWith('A'))
    const { evaluator } = processWith(async (...evaluation) => {
      await deletion(tenant, id)
      await service.process.memberships.replace(...evaluation)
      throw new Error('The process ends')
    })
    await assert.rejects(evaluator.evaluate(tenant.tenantId), /The process ends/)
    assert.notDeepEqual(await storedMembers(tenant, id), [])
    pass(59)
    await tenant.evaluate()
    assert.notDeepEqual(await storedMembers(tenant, id), [])
    pass(2)
    await tenant.evaluate()
    assert.deepEqual(await storedMembers(tenant, id), [])
    assert.deepEqual(await storedRemovals(tenant), [])
  })
})

describe('A deletion that cannot remove the members', () => {
  it('succeeds, and a later evaluation removes them', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(startsWith('A'))
    await tenant.evaluate()
    const { remove } = service.process.memberships
    service.process.memberships.remove = () => Promise.reject(new Error('The database is away'))
    assert.equal((await deletion(tenant, id)).status, 200)
    service.process.memberships.remove = remove
    assert.equal((await tenant.send('GET', `${CRITERIA}/${id}`)).status, 404)
    assert.notDeepEqual(await storedMembers(tenant, id), [])
    pass(30)
    await tenant.evaluate()
    assert.notDeepEqual(await storedMembers(tenant, id), [])
    pass(31)
    await tenant.evaluate()
    assert.deepEqual(await storedMembers(tenant, id), [])
    assert.deepEqual(await storedRemovals(tenant), [])
  })
})
