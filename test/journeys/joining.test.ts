import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import {
  type ApiClient,
  asApplication,
  asPerson,
  eventually,
  groupMembers,
  type ListedObject,
} from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const REQUESTS = '/collections-joinable/beta/membership-requests'

describe('joining a collection, end to end', () => {
  let environment: StartedEnvironment
  let writer: ApiClient
  let manager: ApiClient
  let employee: ApiClient
  let collectionId: string
  let requestId: string
  const groupId = () => environment.demo.tenants[0]?.groups.filter(({ kind }) => kind === 'security')[3]?.id ?? ''
  const accountOf = (name: string) =>
    environment.demo.tenants[0]?.people.find((person) => person.name === name)?.objectId ?? ''
  const groupIs = (expected: readonly string[]) =>
    eventually(`a group of ${expected.length}`, async () => {
      const members = await groupMembers(environment, groupId())
      return members.length === expected.length ? members : undefined
    })

  before(async () => {
    environment = await sharedEnvironment(60)
    writer = await asApplication(environment, 'writer')
    manager = await asPerson(environment, 'manager')
    employee = await asPerson(environment, 'employee')
  })

  it('links an empty collection to a group', async () => {
    const joinPolicy = { approvalRequired: true, approvalGates: [{ order: 1, type: 'Manager' }] }
    const body = { objectType: 'Identity', name: 'First aiders', joinPolicy }
    const created = await writer<string>('POST', '/collections-joinable/beta', body)
    assert.equal(created.status, 201, JSON.stringify(created.json))
    collectionId = created.json.data
    const link = { collectionId, directoryGroupId: groupId() }
    assert.equal((await writer('POST', '/group-link/beta/group-links', link)).status, 201)
    await eventually('the first job', async () => {
      const { json } = await writer<SyncJobDto[]>('GET', `/group-link/beta/sync-jobs?collectionId=${collectionId}`)
      return json.data[0]?.status === 'Succeeded' ? true : undefined
    })
  })

  it('lets the employee submit a request, and the manager find and approve it', async () => {
    const eligible = await employee<CollectionDto[]>('GET', `${REQUESTS}/eligible`)
    assert.ok(eligible.json.data.some(({ id }) => id === collectionId))
    const submitted = await employee<MembershipRequestDto>('POST', `${REQUESTS}/${collectionId}/submit`, {
      notes: 'I took the course',
    })
    assert.equal(submitted.status, 201, JSON.stringify(submitted.json))
    requestId = submitted.json.data.id
    const review = await manager('GET', `${REQUESTS}/pending-approval-review/${collectionId}`)
    assert.deepEqual(review.json.data, [submitted.json.data])
    const stranger = await asPerson(environment, 'colleague')
    assert.equal((await stranger('POST', `${REQUESTS}/${collectionId}/${requestId}/approve`, {})).status, 404)
    const newcomer = await asPerson(environment, 'newcomer')
    const refused = await newcomer('POST', `${REQUESTS}/${collectionId}/submit`, {})
    assert.equal(refused.json.errors[0]?.code, 'CallerHasNoIdentity')
    const approved = await manager<MembershipRequestDto>('POST', `${REQUESTS}/${collectionId}/${requestId}/approve`, {})
    assert.equal(approved.json.data.status, 'Joined')
  })

  it('writes the member, and a member who is added directly, to the group without a job', async () => {
    assert.deepEqual(await groupIs([accountOf('employee')]), [accountOf('employee')])
    const self = await manager<ListedObject[]>('GET', '/iamcore/beta/sync/coreobjects/identities?pageSize=100')
    const own = self.json.data.find(({ directoryObjectId }) => directoryObjectId === accountOf('manager'))
    const added = await writer('POST', `/collections-joinable/beta/${collectionId}/results/members`, {
      coreIdentityIds: [own?.id],
    })
    assert.deepEqual(added.json.data, { added: 1, alreadyMembers: 0 })
    const both = [accountOf('employee'), accountOf('manager')].sort()
    assert.deepEqual(await groupIs(both), both)
    const jobs = await writer<SyncJobDto[]>('GET', `/group-link/beta/sync-jobs?collectionId=${collectionId}`)
    assert.equal(jobs.json.data.length, 1)
  })

  it('removes a member who leaves', async () => {
    const left = await employee<MembershipRequestDto>('POST', `${REQUESTS}/${collectionId}/${requestId}/leave`, {})
    assert.equal(left.json.data.status, 'Left')
    assert.deepEqual(await groupIs([accountOf('manager')]), [accountOf('manager')])
  })
})
