import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import type { Overrides, Service } from '../../functions/app/service.ts'
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { readCollection } from '../../shared/domain/collections/read-collections.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import { actOnRequest } from '../../shared/domain/membership-requests/act-on-request.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import {
  createJoinableCollection,
  deleteJoinableCollection,
  updateJoinableCollection,
} from '../../shared/domain/membership-requests/joinable-collection.ts'
import type { RequestDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import { builtService } from '../api/built-service.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const OPEN = { approvalRequired: false } as const
const { cosmos, newInstance } = await databaseOfInstances()

const newService = (overrides: Overrides = {}): Service =>
  builtService(newInstance().container, { nowMs: () => NOW_MS, ...overrides })

/** Two instances that have seen a tenant with a person, an approver and a collection. Their reads lag from then on. */
async function laggingInstances(joinPolicy: (approver: string) => object = () => OPEN) {
  const tenantId = randomUUID()
  const coreObjects = newInstance().container('coreObjects')
  const write = (id: string, deleted: boolean) =>
    coreObjects.items.upsert({
      id,
      tenantId,
      objectType: 'identity',
      externalId: id,
      attributes: { displayName: 'A person' },
      deleted,
      contributors: [],
    })
  const [personId, approverId] = [randomUUID(), randomUUID()]
  for (const id of [personId, approverId]) await write(id, false)
  const caller: Caller = {
    kind: 'application',
    tenantId,
    objectId: randomUUID(),
    clientId: undefined,
    roles: new Set(),
  }
  const [one, other] = [newService(), newService()]
  const body = { objectType: 'Identity', name: 'Choir', joinPolicy: joinPolicy(approverId) } as Parameters<
    typeof createJoinableCollection
  >[0]
  const { id } = await createJoinableCollection(body, caller, one.requests)
  const evaluate = (service: Service) => service.evaluator.evaluate(tenantId)
  for (const service of [one, other]) await evaluate(service)
  cosmos.setReplicaLag(STOPPED)
  const members = { coreIdentityIds: [personId] }
  const actor = { id: caller.objectId, identityId: undefined }
  return {
    tenantId,
    personId,
    approverId,
    caller,
    id,
    one,
    other,
    evaluate,
    /** A collection of all people. */
    async criteria({ collections }: Service) {
      const field = 'identityDisplayName'
      const conditions = [{ id: field, field, operator: 'Equals', value: 'A person' }]
      const condition = { groupOperator: 'AND', conditions }
      const definition = { objectType: 'Identity', name: 'People', condition } as const
      return (await createCriteriaCollection(definition, caller, collections)).id
    },
    deletePerson: () => write(personId, true),
    submit: (requests: RequestDependencies) => submitRequest(id, {}, { tenantId, identityId: personId }, requests),
    join: (requests: RequestDependencies) => addMembersDirectly(tenantId, id, members, actor, requests),
    end: (requests: RequestDependencies) => removeMembersDirectly(tenantId, id, members, actor, requests),
    /** All requests, as they are. */
    async stored() {
      cosmos.setReplicaLag(undefined)
      return (await newService().requests.requests.page(tenantId, { newestFirst: false }, undefined, 50)).items
    },
  }
}

/** The same dependencies with an action right before a request is saved. */
function beforeSaving(requests: RequestDependencies, happening: () => Promise<unknown>): RequestDependencies {
  let isDue = true
  const save: RequestDependencies['requests']['save'] = async (changes) => {
    if (isDue) {
      isDue = false
      await happening()
    }
    return requests.requests.save(changes)
  }
  return { ...requests, requests: { ...requests.requests, save } }
}

const byIdentity = (approvers: readonly string[]) => ({
  approvalRequired: true,
  approvalGates: [{ order: 1, type: 'Identity' as const, approvers: [...approvers] }],
})

describe('Of two instances that write and then read what the other has written', () => {
  beforeEach(() => cosmos.setReplicaLag(undefined))

  it('the one that saves a request ends it when the other has deleted the collection before', async () => {
    const { one, other, id, caller, submit, stored } = await laggingInstances()
    await submit(beforeSaving(one.requests, () => deleteJoinableCollection(id, undefined, caller, other.requests)))
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Left'],
    )
  })

  it('the one that deletes a collection ends the requests that the other has saved before', async () => {
    const { one, other, id, caller, submit, stored } = await laggingInstances()
    await submit(one.requests)
    await deleteJoinableCollection(id, undefined, caller, other.requests)
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Left'],
    )
  })

  it('the one that saves a waiting request moves it by the policy that the other has written before', async () => {
    const { one, other, id, caller, submit, stored } = await laggingInstances((approver) => byIdentity([approver]))
    const update = { objectType: 'Identity', joinPolicy: OPEN } as const
    await submit(
      beforeSaving(one.requests, () => updateJoinableCollection(id, update, undefined, caller, other.requests)),
    )
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Joined'],
    )
  })

  it('the one that approves a request moves it by the policy that the other has written before it was interrupted', async () => {
    const gates = (approver: string) => ({
      approvalRequired: true,
      approvalGates: [1, 2].map((order) => ({ order, type: 'Identity' as const, approvers: [approver] })),
    })
    const { tenantId, approverId, one, other, id, caller, submit, stored } = await laggingInstances(gates)
    const request = (await submit(one.requests)).value
    const interrupted: RequestDependencies = {
      ...other.requests,
      requests: { ...other.requests.requests, save: () => Promise.reject(new Error('interrupted')) },
    }
    const update = { objectType: 'Identity', joinPolicy: OPEN } as const
    const deps = beforeSaving(one.requests, () =>
      assert.rejects(updateJoinableCollection(id, update, undefined, caller, interrupted), /interrupted/),
    )
    const approver = { identityId: approverId, seesAll: false }
    const name = { tenantId, collectionId: id, requestId: request.id }
    const { value } = await actOnRequest(name, 'approve', {}, approver, undefined, deps)
    assert.deepEqual([request.status, value.status], ['PendingApproval', 'Joined'])
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Joined'],
    )
  })

  it('the one that changes a policy moves the requests that the other has saved before', async () => {
    const { one, other, id, caller, submit, stored } = await laggingInstances((approver) => byIdentity([approver]))
    await submit(one.requests)
    const update = { objectType: 'Identity', joinPolicy: OPEN } as const
    await updateJoinableCollection(id, update, undefined, caller, other.requests)
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Joined'],
    )
  })

  it('the one that removes a member ends the membership that the other has saved before', async () => {
    const { one, other, join, end, stored } = await laggingInstances()
    await join(one.requests)
    assert.deepEqual(await end(other.requests), { removed: 1, notMembers: 0 })
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Left'],
    )
  })

  it('the one that adds a member does so when the other has ended the membership before', async () => {
    const { one, other, join, end, stored } = await laggingInstances()
    cosmos.setReplicaLag(undefined)
    await join(one.requests)
    cosmos.setReplicaLag(STOPPED)
    await end(one.requests)
    assert.deepEqual(await join(other.requests), { added: 1, alreadyMembers: 0 })
    assert.deepEqual((await stored()).map(({ status }) => status).sort(), ['Joined', 'Left'])
  })

  it('the one that adds a member ends the membership of a person who was deleted before', async () => {
    const { one, join, deletePerson, stored } = await laggingInstances()
    await join(beforeSaving(one.requests, deletePerson))
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Left'],
    )
  })

  it('the one that reads the deletion of a person ends the memberships that the other has saved before', async () => {
    const { one, other, join, deletePerson, evaluate, stored } = await laggingInstances()
    await join(one.requests)
    await deletePerson()
    await evaluate(other)
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Left'],
    )
  })

  it('the one that reads all requests does not take a collection that the other has created for deleted', async () => {
    const { one, caller, tenantId, personId, evaluate, stored } = await laggingInstances()
    const body = { objectType: 'Identity', name: 'New', joinPolicy: OPEN } as const
    const { id } = await createJoinableCollection(body, caller, one.requests)
    await submitRequest(id, {}, { tenantId, identityId: personId }, one.requests)
    // A process that has just started checks all requests.
    await evaluate(newService())
    assert.deepEqual(
      (await stored()).map(({ status }) => status),
      ['Joined'],
    )
  })

  it('the one that writes members removes them when the other has deleted the collection before', async () => {
    const { one, other, caller, tenantId, criteria, evaluate } = await laggingInstances()
    const id = await criteria(one)
    await other.collections.collections.catchUp(tenantId)
    const { memberships } = one.collections
    let isDue = true
    const replace: typeof memberships.replace = async (...evaluation) => {
      if (isDue) {
        isDue = false
        await deleteCollection('criteria', id, undefined, caller, other.collections)
      }
      return memberships.replace(...evaluation)
    }
    const interrupted = builtService(newInstance().container, {
      nowMs: () => NOW_MS,
      collections: { memberships: { ...memberships, replace } },
    })
    await evaluate(interrupted)
    cosmos.setReplicaLag(undefined)
    assert.equal(await newService().collections.memberships.head(tenantId, id), undefined)
  })

  it('the one that deletes a collection removes the members that the other has written before', async () => {
    const { one, other, caller, tenantId, criteria, evaluate } = await laggingInstances()
    const id = await criteria(one)
    await other.collections.collections.catchUp(tenantId)
    await evaluate(one)
    await deleteCollection('criteria', id, undefined, caller, other.collections)
    cosmos.setReplicaLag(undefined)
    assert.equal(await newService().collections.memberships.head(tenantId, id), undefined)
  })

  it('the one that deletes a collection is refused when the other has linked it before', async () => {
    const { one, other, caller, tenantId, id } = await laggingInstances()
    const link = { collectionId: id, directoryGroupId: randomUUID(), directoryGroupDisplayName: null }
    await one.links.links.add(newLink({ ...link, tenantId, id: randomUUID() }, NOW_MS))
    assert.equal(await one.links.collections.confirmReference(tenantId, id), true)
    await assert.rejects(deleteJoinableCollection(id, undefined, caller, other.requests), { code: 'CollectionInUse' })
  })

  it('the one that changes the members of a collection notifies a link that the other has created before', async () => {
    const { one, tenantId, criteria, deletePerson, evaluate } = await laggingInstances()
    cosmos.setReplicaLag(undefined)
    const queues: string[] = []
    const messageQueue = { enqueue: async ({ queue }: Message) => void queues.push(queue) }
    const notifying = newService({ messageQueue })
    const collectionId = await criteria(one)
    await evaluate(notifying)
    cosmos.setReplicaLag(STOPPED)
    const link = { collectionId, directoryGroupId: randomUUID(), directoryGroupDisplayName: null }
    await one.links.links.add(newLink({ ...link, tenantId, id: randomUUID() }, NOW_MS))
    await deletePerson()
    await evaluate(notifying)
    assert.deepEqual(queues, ['membership-changes'])
    cosmos.setReplicaLag(undefined)
  })

  it('the one that deletes or reads a collection finds it when the other has just created it', async () => {
    const { one, other, tenantId, caller, criteria } = await laggingInstances()
    const ids = [await criteria(one), await criteria(one)]
    assert.equal(
      (await readCollection(tenantId, ids[0] ?? '', 'criteria', newService().collections)).value.name,
      'People',
    )
    await deleteCollection('criteria', ids[1] ?? '', undefined, caller, other.collections)
    await assert.rejects(readCollection(tenantId, ids[1] ?? '', 'criteria', one.collections), {
      code: 'CollectionNotFound',
    })
  })

  it('the one that evaluates after the other starts from the members and objects that the other has left', async () => {
    const { one, other, tenantId, personId, approverId, criteria, deletePerson, evaluate } = await laggingInstances()
    cosmos.setReplicaLag(undefined)
    const id = await criteria(one)
    for (const service of [one, other]) await evaluate(service)
    const members = async () => (await newService().collections.memberships.members(tenantId, id))?.ids
    assert.deepEqual(await members(), [personId, approverId].sort())
    cosmos.setReplicaLag(STOPPED)
    await deletePerson()
    await evaluate(newService())
    await evaluate(other)
    cosmos.setReplicaLag(undefined)
    assert.deepEqual(await members(), [approverId])
  })
})
