import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createCriteriaCollection, updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { CRITERIA, criteriaTenant, memberOf, named, startCriteriaService } from '../support/api/criteria-service.ts'

const AT_ONCE = 30

const service = await startCriteriaService()

const times = <T>(run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(index)))

describe('concurrent changes all succeed', () => {
  it('when some create collections that refer to others and some rename these', async () => {
    const tenant = criteriaTenant(service)
    const base = await tenant.create(named('Ann'))
    const ids = await times(() => tenant.create(memberOf(base)))
    const renamed = await Promise.all(
      ids.map((id) => tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name: 'New' })),
    )
    assert.deepEqual(new Set(renamed.map(({ status }) => status)), new Set([200]))
    assert.equal((await tenant.send('DELETE', `${CRITERIA}/${base}`)).status, 409)
    const deleted = await Promise.all(ids.map((id) => tenant.send('DELETE', `${CRITERIA}/${id}`)))
    assert.deepEqual(new Set(deleted.map(({ status }) => status)), new Set([200]))
    assert.equal((await tenant.send('DELETE', `${CRITERIA}/${base}`)).status, 200)
  })

  it('when they change one collection, and none is lost', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'))
    const answers = await times((index) =>
      tenant.send('PUT', `${CRITERIA}/${id}`, {
        objectType: 'Identity',
        ...(index % 2 === 0 ? { condition: named(`Ann ${index}`) } : { description: String(index) }),
      }),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const stored = await service.process.collections.find(tenant.tenantId, id)
    assert.equal(stored?.value.definitionVersion, 1 + AT_ONCE / 2)
    assert.notEqual(stored?.value.description, null)
  })

  it('also in several processes', async () => {
    const caller: Caller = {
      kind: 'application',
      tenantId: randomUUID(),
      objectId: randomUUID(),
      clientId: randomUUID(),
      roles: new Set(),
    }
    const processes = [service.newProcess(), service.newProcess(), service.newProcess()]
    const body = { objectType: 'Identity' as const, name: 'Anns' }
    const base = await createCriteriaCollection({ ...body, condition: named('Ann') }, caller, service.process)
    const made = await Promise.all(
      processes.flatMap((process) =>
        Array.from({ length: 10 }, () =>
          createCriteriaCollection({ ...body, condition: memberOf(base.id) }, caller, process),
        ),
      ),
    )
    assert.equal(new Set(made.map(({ id }) => id)).size, AT_ONCE)
    const [first, second] = made
    assert.ok(first && second)
    const circle = await Promise.allSettled(
      [first, second].map(({ id }, index) =>
        updateCriteriaCollection(
          { id, body: { ...body, condition: memberOf((index === 0 ? second : first).id) }, ifMatch: undefined, caller },
          processes[index] ?? service.process,
        ),
      ),
    )
    assert.deepEqual(circle.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const [refused] = circle.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
    assert.equal(refused, 'CircularReference')
  })
})
