import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection, updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { EvaluationLease } from '../../shared/domain/evaluation/evaluation-lease.ts'
import { linkedAccounts } from '../../shared/domain/group-links/linked-collections.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { CRITERIA, criteriaTenant, memberOf, named, startCriteriaService } from '../support/api/criteria-service.ts'

const service = await startCriteriaService({ databaseSharesClock: true })

const NEW_COLLECTION = {
  objectType: 'Identity' as const,
  name: 'Everybody named Ann',
  condition: {
    groupOperator: 'AND',
    conditions: [{ id: 'identityFirstName', field: 'identityFirstName', operator: 'Equals', value: 'Ann' }],
  },
}

const down = async (): Promise<never> => {
  throw new Error('cannot be reached')
}

describe('a write of a collection while a dependency is down', () => {
  const caller = (): Caller => ({
    kind: 'application',
    tenantId: randomUUID(),
    objectId: randomUUID(),
    clientId: randomUUID(),
    roles: new Set(),
  })

  it('the queue: creation, change and deletion succeed, and the failure is logged', async () => {
    const events: string[] = []
    const log = { info() {}, warn() {}, error: (event: string) => void events.push(event) }
    const process = service.newProcess({ messageQueue: { enqueue: down }, log })
    const who = caller()
    const { id } = await createCriteriaCollection(NEW_COLLECTION, who, process)
    const body = { objectType: 'Identity', name: 'Anns' } as const
    await updateCriteriaCollection({ id, body, ifMatch: undefined, caller: who }, process)
    assert.equal((await process.collections.find(who.tenantId, id))?.value.name, 'Anns')
    await deleteCollection('criteria', id, undefined, who, process)
    assert.equal(await process.collections.find(who.tenantId, id), undefined)
    assert.deepEqual(events, ['collections.enqueue-failed', 'collections.enqueue-failed', 'collections.enqueue-failed'])
  })

  it('the list of tenants: no collection is created that the sweep would not find', async () => {
    const process = service.newProcess({ tenants: { register: down } })
    const who = caller()
    await assert.rejects(createCriteriaCollection(NEW_COLLECTION, who, process), /cannot be reached/)
    assert.deepEqual(await process.collections.list(who.tenantId), [])
  })
})

describe('an evaluation that cannot follow the requests', () => {
  it('evaluates nothing, and fails so that it is attempted again', async () => {
    const service = await startCriteriaService({ databaseSharesClock: true })
    try {
      const tenant = criteriaTenant(service)
      const [ann, left] = [await tenant.person('Ann'), await tenant.person('Ann')]
      const collection = await tenant.create(named('Ann'))
      await tenant.evaluate()
      await tenant.put('identity', { displayName: 'Bo' }, left)
      const process = service.newProcess({}, {}, { reconciler: { reconcile: down } })
      await assert.rejects(process.evaluator.evaluate(tenant.tenantId), /cannot be reached/)
      assert.deepEqual(await tenant.members(collection), [ann, left].sort())
      await tenant.evaluate()
      assert.deepEqual(await tenant.members(collection), [ann])
    } finally {
      await service.cosmos.close()
    }
  })
})

describe('the accounts of a collection whose condition has changed', () => {
  it('are those of the new condition, or not current while another process evaluates', async () => {
    const tenant = criteriaTenant(service)
    const [anns, bos] = [randomUUID(), randomUUID()]
    await tenant.person('Ann', { directoryObjectId: anns })
    await tenant.person('Bo', { directoryObjectId: bos })
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const changed = { objectType: 'Identity', name: 'A collection', condition: named('Bo') }
    assert.equal((await tenant.send('PUT', `${CRITERIA}/${id}`, changed)).status, 200)
    const { collections: links, evaluator, evaluationLeases } = service.newProcess()
    const { process, clock } = service
    const linked = linkedAccounts({ ...process, collections: links }, evaluator)
    const lease = await evaluationLeases.find(tenant.tenantId)
    const held = { ...lease?.value, holderId: randomUUID(), untilMs: clock.nowMs + 60_000 } as EvaluationLease
    await evaluationLeases.save(tenant.tenantId, held, lease?.version)
    const before = await linked.accountsOf(tenant.tenantId, id)
    assert.deepEqual([before.accounts, before.isCurrent], [new Set([anns]), false])
    clock.nowMs += 5 * 60_000
    const after = await linked.accountsOf(tenant.tenantId, id)
    assert.deepEqual([after.accounts, after.isCurrent], [new Set([bos]), true])
  })
})

describe('a collection with an invalid stored condition', () => {
  it('keeps its members until it is replaced, as do collections that refer to it; all others are evaluated', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const [faulty, sound] = [await tenant.create(named('Ann')), await tenant.create(named('Ann'))]
    const referring = await tenant.create(memberOf(faulty))
    const distant = await tenant.create(memberOf(referring))
    await tenant.evaluate()
    const stored = service.database('collections').item(faulty, tenant.tenantId)
    const { resource } = await stored.read()
    await stored.replace({ ...resource, definition: JSON.stringify({ groupOperator: 'AND', conditions: [{}] }) })

    const events = new Set<string>()
    const process = service.newProcess({ log: { info() {}, warn() {}, error: (event) => void events.add(event) } })
    const other = await tenant.person('Ann')
    await process.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(sound), [ann, other].sort())
    for (const id of [faulty, referring, distant]) assert.deepEqual(await tenant.members(id), [ann])
    assert.deepEqual([...events], ['collection.invalid'])

    await tenant.send('PUT', `${CRITERIA}/${faulty}`, { objectType: 'Identity', condition: named('Ann') })
    await process.evaluator.evaluate(tenant.tenantId)
    for (const id of [faulty, referring, distant]) assert.deepEqual(await tenant.members(id), [ann, other].sort())
  })
})
