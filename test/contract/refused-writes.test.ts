import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { criteriaRoutes } from '../../functions/routes/collections-criteria.ts'
import { joinableRoutes } from '../../functions/routes/collections-joinable.ts'
import { coreObjectRoutes } from '../../functions/routes/core-objects.ts'
import { groupLinkRoutes } from '../../functions/routes/group-link.ts'
import type { Directory } from '../../shared/domain/group-links/directory.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { builtService } from '../api/built-service.ts'
import { CORE, sendTo, user } from '../api/core-data-service.ts'
import { securityGroup } from '../domain/group-links/security-group.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const CRITERIA = '/collections-criteria/beta'
const JOINABLE = '/collections-joinable/beta'
const LINKS = '/group-link/beta/group-links'

const { cosmos, newInstance } = await databaseOfInstances()

/** Two instances of the service, and a client that sends requests to either. */
function newInstances() {
  cosmos.setReplicaLag(undefined)
  const tenantId = randomUUID()
  const client = user(tenantId, randomUUID(), 'collection_criteria_definition-administrator', 'Administrator')
  const directory = { readGroup: async (_tenantId: string, id: string) => securityGroup(id) } as unknown as Directory
  const newSend = () => {
    const service = builtService(newInstance().container, { nowMs: () => NOW_MS, directory })
    const groups = [
      criteriaRoutes(service.requests),
      joinableRoutes(service.requests),
      groupLinkRoutes(service.links),
      coreObjectRoutes(service.coreObjects),
    ]
    const as = (caller: Caller) => sendTo(groups, caller, service.dispatch)
    return Object.assign(as(client), { as })
  }
  const coreObjects = newInstance().container('coreObjects')
  return {
    tenantId,
    one: newSend(),
    other: newSend(),
    /** Replicas receive no writes from now on: an instance sees those of another only where it asks for them. */
    lag: () => cosmos.setReplicaLag(STOPPED),
    async addPerson(account: string = randomUUID()) {
      const id = randomUUID()
      const attributes = { displayName: 'Grace', directoryObjectId: account }
      const core = {
        id,
        tenantId,
        objectType: 'identity',
        externalId: id,
        attributes,
        deleted: false,
        contributors: [],
      }
      await coreObjects.items.create(core)
      return id
    },
  }
}

const people = (value: string, also: readonly object[] = []) => {
  const field = 'identityDisplayName'
  const conditions = [{ id: field, field, operator: 'Equals', value }, ...also]
  return { objectType: 'Identity', name: value, condition: { groupOperator: 'AND', conditions } }
}

const codesOf = ({ body }: { body: { errors?: { code: string }[] } }) => (body.errors ?? []).map(({ code }) => code)

describe('A client that sends each request to another instance', () => {
  it('refers to a collection that it has just created', async () => {
    const { one, other, lag } = newInstances()
    assert.equal((await other('POST', CRITERIA, people('Alan'))).status, 201)
    lag()
    const { data: id } = (await one('POST', CRITERIA, people('Ada'))).body
    const memberOf = { id: 'memberOfCollection', field: 'memberOfCollection', operator: 'Equals', value: id }
    const referring = await other('POST', CRITERIA, people('Grace', [memberOf]))
    assert.deepEqual([referring.status, codesOf(referring)], [201, []])
  })

  it('gives a collection to approvers that have just been imported', async () => {
    const { other, addPerson, lag } = newInstances()
    const create = async (approver: string) => {
      const gates = [{ order: 1, type: 'Identity', approvers: [approver] }]
      const joinPolicy = { approvalRequired: true, approvalGates: gates }
      return other('POST', JOINABLE, { objectType: 'Identity', name: 'Choir', joinPolicy })
    }
    assert.deepEqual(codesOf(await create(await addPerson())), [])
    lag()
    assert.deepEqual(codesOf(await create(await addPerson())), [])
    assert.deepEqual(codesOf(await create(randomUUID())), ['IdentityUnknown'])
  })

  it('acts for a person who has just been imported', async () => {
    const { tenantId, other, addPerson, lag } = newInstances()
    const [earlier, account] = [randomUUID(), randomUUID()]
    const eligible = (person: string) =>
      other.as(user(tenantId, person, 'User'))('GET', `${JOINABLE}/membership-requests/eligible`)
    await addPerson(earlier)
    assert.equal((await eligible(earlier)).status, 200)
    lag()
    await addPerson(account)
    assert.equal((await eligible(account)).status, 200)
    assert.deepEqual(codesOf(await eligible(randomUUID())), ['CallerHasNoIdentity'])
  })

  it('reads an object that has just been imported', async () => {
    const { other, addPerson, lag } = newInstances()
    const read = async (id: string) => (await other('GET', `${CORE}/identities/${id}`)).status
    assert.equal(await read(await addPerson()), 200)
    lag()
    assert.equal(await read(await addPerson()), 200)
    assert.equal(await read(randomUUID()), 404)
  })

  it('changes a collection with the version that its last change has returned', async () => {
    const { one, other, lag } = newInstances()
    const { data: id } = (await other('POST', CRITERIA, people('Ada'))).body
    const path = `${CRITERIA}/${id}`
    lag()
    assert.equal((await one('PUT', path, people('Grace'))).status, 200)
    const { etag = '' } = (await one('GET', path)).headers
    const again = await other('PUT', path, people('Alan'), { 'if-match': etag })
    assert.deepEqual([again.status, codesOf(again)], [200, []])
    assert.equal((await other('PUT', path, people('Alan'), { 'if-match': etag })).status, 412)
  })

  it('links a group again whose link it has just deleted', async () => {
    const { one, other, lag } = newInstances()
    const { data: collectionId } = (await other('POST', CRITERIA, people('Ada'))).body
    const body = { collectionId, directoryGroupId: randomUUID() }
    const { data: linkId } = (await other('POST', LINKS, body)).body
    lag()
    assert.equal((await one('DELETE', `${LINKS}/${linkId}`)).status, 200)
    const created = await other('POST', LINKS, body)
    assert.deepEqual([created.status, codesOf(created)], [201, []])
    assert.deepEqual(codesOf(await one('POST', LINKS, body)), ['GroupAlreadyLinked'])
  })

  it('reads the link of a collection that it has just created', async () => {
    const { one, other, lag } = newInstances()
    const { data: collectionId } = (await other('POST', CRITERIA, people('Ada'))).body
    assert.equal((await other('GET', `${LINKS}?collectionId=${collectionId}`)).status, 200)
    lag()
    const { data: id } = (await one('POST', LINKS, { collectionId, directoryGroupId: randomUUID() })).body
    assert.equal((await other('GET', `${LINKS}/by-collection/${collectionId}`)).body.data?.id, id)
  })
})
