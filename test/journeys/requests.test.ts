import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { type ApiClient, type ApiReply, asPerson, everyCoreObject } from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const COLLECTIONS = '/collections-joinable/beta'
const REQUESTS = `${COLLECTIONS}/membership-requests`
const OPEN = { approvalRequired: false, approvalGates: [] }

type Person = 'admin' | 'manager' | 'employee' | 'colleague' | 'approver' | 'outsider'
type Member = { objectId: string; relationshipId: string | null }

describe('membership requests of the people of the demo', () => {
  let environment: StartedEnvironment
  const as = {} as Record<Person, ApiClient>
  const identityIds = {} as Record<Person, string>
  let positionsOfColleague: string[]
  let council: string

  before(async () => {
    environment = await sharedEnvironment()
    for (const name of ['admin', 'manager', 'employee', 'colleague', 'approver', 'outsider'] as const) {
      as[name] = await asPerson(environment, name)
    }
    const reader = await asPerson(environment, 'coreAdmin')
    const people = environment.demo.tenants[0]?.people ?? []
    for (const { id, directoryObjectId } of await everyCoreObject(reader, 'identities')) {
      const person = people.find(({ objectId }) => objectId === directoryObjectId)
      if (person !== undefined) identityIds[person.name as Person] = id
    }
    positionsOfColleague = (await everyCoreObject(reader, 'relationships'))
      .filter(({ identity }) => identity?.objectId === identityIds.colleague)
      .map(({ id }) => id)
    council = await newCollection('Council', OPEN)
    await direct('POST', council, 'approver')
  })

  async function newCollection(name: string, joinPolicy: object, objectType = 'Identity'): Promise<string> {
    const { status, json } = await as.admin<string>('POST', COLLECTIONS, { objectType, name, joinPolicy })
    assert.equal(status, 201, JSON.stringify(json))
    return json.data
  }

  /** First a member of the council, then the manager. */
  const twoGates = () => ({
    approvalRequired: true,
    approvalGates: [
      { order: 1, type: 'Collection', approvers: [council] },
      { order: 2, type: 'Manager', approvers: [] },
    ],
  })

  const direct = (method: 'POST' | 'DELETE', collectionId: string, name: Person) =>
    as.admin<object>(method, `${COLLECTIONS}/${collectionId}/results/members`, { coreIdentityIds: [identityIds[name]] })

  const submit = (name: Person, collectionId: string, body: object = {}) =>
    as[name]<MembershipRequestDto>('POST', `${REQUESTS}/${collectionId}/submit`, body)

  const act = (name: Person, request: { collectionId: string; id: string }, action: string, body: object = {}) =>
    as[name]<MembershipRequestDto>('POST', `${REQUESTS}/${request.collectionId}/${request.id}/${action}`, body)

  const members = async (collectionId: string) =>
    (await as.admin<{ memberIds: Member[] }>('GET', `${COLLECTIONS}/${collectionId}/results`)).json.data.memberIds

  const statuses = ({ lifecycle }: MembershipRequestDto) => lifecycle.map(({ status }) => status)

  /** Status and code of a refusal. */
  const refusal = ({ status, json }: ApiReply<unknown>) => [status, json.errors[0]?.code]

  it('let every user join and leave an open collection', async () => {
    const collectionId = await newCollection('Runners', OPEN)
    const joined = await submit('employee', collectionId, { notes: 'I run' })
    assert.deepEqual([joined.status, joined.json.data.status], [201, 'Joined'])
    assert.deepEqual(statuses(joined.json.data), ['Requested', 'Joined'])
    assert.deepEqual(
      (await members(collectionId)).map(({ objectId }) => objectId),
      [identityIds.employee],
    )
    assert.deepEqual(refusal(await submit('employee', collectionId)).at(0), 409)
    const left = await act('employee', joined.json.data, 'leave')
    assert.deepEqual([left.status, left.json.data.status], [200, 'Left'])
    assert.deepEqual(await members(collectionId), [])
    assert.deepEqual(refusal(await act('employee', joined.json.data, 'leave')), [409, 'InvalidRequestState'])
  })

  it('pass two gates, a collection and then the manager, and are visible to the approvers of the current gate only', async () => {
    const collectionId = await newCollection('Keys', twoGates())
    const { json } = await submit('employee', collectionId)
    const request = json.data
    assert.deepEqual(
      [request.status, request.currentGate],
      ['PendingApproval', { order: 1, type: 'Collection', approverCount: 1 }],
    )
    const toReview = async (name: Person) =>
      (await as[name]<unknown[]>('GET', `${REQUESTS}/pending-approval-review/${collectionId}`)).json.data.length
    assert.deepEqual([await toReview('approver'), await toReview('manager')], [1, 0])
    assert.deepEqual(refusal(await act('employee', request, 'approve')), [403, 'SelfApproval'])
    const early = await act('manager', request, 'approve')
    assert.ok([403, 404].includes(early.status), JSON.stringify(early.json))
    const first = await act('approver', request, 'approve', { notes: 'fine' })
    assert.deepEqual([first.json.data.status, first.json.data.currentGate?.type], ['PendingApproval', 'Manager'])
    assert.deepEqual([await toReview('approver'), await toReview('manager')], [0, 1])
    assert.deepEqual(refusal(await act('approver', request, 'approve')), [403, 'NotCurrentApprover'])
    const second = await act('manager', request, 'approve')
    assert.equal(second.json.data.status, 'Joined')
    assert.deepEqual(statuses(second.json.data), [
      'Requested',
      'PendingApproval',
      'Approved',
      'PendingApproval',
      'Approved',
      'Joined',
    ])
    assert.equal((await members(collectionId)).length, 1)
  })

  it('end with a rejection at the second gate', async () => {
    const collectionId = await newCollection('Safe', twoGates())
    const { json } = await submit('employee', collectionId)
    await act('approver', json.data, 'approve')
    const rejected = await act('manager', json.data, 'reject', { notes: 'not now' })
    assert.equal(rejected.json.data.status, 'Rejected')
    assert.equal(rejected.json.data.lifecycle.at(-1)?.actorId, identityIds.manager)
    assert.deepEqual(await members(collectionId), [])
    assert.deepEqual(refusal(await act('manager', json.data, 'approve')), [409, 'InvalidRequestState'])
  })

  it('can be cancelled only while they are pending, at either gate', async () => {
    const collectionId = await newCollection('Garage', twoGates())
    const atFirst = (await submit('employee', collectionId)).json.data
    assert.equal((await act('employee', atFirst, 'cancel')).json.data.status, 'Cancelled')
    assert.deepEqual(refusal(await act('employee', atFirst, 'cancel')), [409, 'InvalidRequestState'])
    const atSecond = (await submit('employee', collectionId)).json.data
    await act('approver', atSecond, 'approve')
    assert.equal((await act('employee', atSecond, 'cancel')).json.data.status, 'Cancelled')
    const rejected = (await submit('employee', collectionId)).json.data
    await act('approver', rejected, 'reject')
    assert.deepEqual(refusal(await act('employee', rejected, 'cancel')), [409, 'InvalidRequestState'])
    const joined = (await submit('employee', await newCollection('Lobby', OPEN))).json.data
    assert.deepEqual(refusal(await act('employee', joined, 'cancel')), [409, 'InvalidRequestState'])
    assert.equal((await act('employee', joined, 'leave')).json.data.status, 'Left')
    assert.deepEqual(refusal(await act('employee', joined, 'cancel')), [409, 'InvalidRequestState'])
  })

  it('can be submitted on behalf of a report by the manager only', async () => {
    const collectionId = await newCollection('Course', twoGates())
    const onBehalf = `${REQUESTS}/${collectionId}/submit-on-behalf`
    const refused = await as.colleague('POST', onBehalf, { requesterId: identityIds.employee })
    assert.deepEqual(refusal(refused), [403, 'NotManager'])
    const { status, json } = await as.manager<MembershipRequestDto>('POST', onBehalf, {
      requesterId: identityIds.employee,
      notes: 'for you',
    })
    assert.equal(status, 201, JSON.stringify(json))
    assert.deepEqual([json.data.requesterId, json.data.submittedBy], [identityIds.employee, identityIds.manager])
    const filed = (await as.manager<MembershipRequestDto[]>('GET', `${REQUESTS}/submitted-on-behalf`)).json.data
    assert.deepEqual(
      filed.map(({ id }) => id),
      [json.data.id],
    )
    const own = (await as.employee<MembershipRequestDto[]>('GET', `${REQUESTS}/pending-approval`)).json.data
    assert.ok(own.some(({ id }) => id === json.data.id))
    assert.equal((await act('manager', json.data, 'cancel')).json.data.status, 'Cancelled')
  })

  it('can be for one of two positions only', async () => {
    const [first, second] = positionsOfColleague
    assert.equal(positionsOfColleague.length, 2)
    const collectionId = await newCollection('Duty', OPEN, 'Relationship')
    assert.deepEqual(refusal(await submit('colleague', collectionId)), [400, 'RelationshipRequired'])
    const joined = await submit('colleague', collectionId, { relationshipId: first })
    assert.equal(joined.json.data.status, 'Joined')
    assert.deepEqual(await members(collectionId), [{ objectId: identityIds.colleague, relationshipId: first }])
    const filter = (ids: unknown[]) => as.admin('POST', `/collections/beta/${collectionId}/filter-members`, { ids })
    assert.deepEqual((await filter([first, second])).json.data, [first])
    assert.equal((await submit('colleague', collectionId, { relationshipId: second })).json.data.status, 'Joined')
    assert.deepEqual(refusal(await submit('employee', collectionId, { relationshipId: first })), [
      400,
      'RelationshipNotYours',
    ])
  })

  it('record a direct addition and removal as well, with the actor', async () => {
    const collectionId = await newCollection('Board', twoGates())
    assert.deepEqual((await direct('POST', collectionId, 'employee')).json.data, { added: 1, alreadyMembers: 0 })
    assert.deepEqual((await direct('POST', collectionId, 'employee')).json.data, { added: 0, alreadyMembers: 1 })
    const [request] = (await as.admin<MembershipRequestDto[]>('GET', `${REQUESTS}/${collectionId}`)).json.data
    assert.ok(request)
    assert.deepEqual([request.status, request.requesterId], ['Joined', identityIds.employee])
    assert.equal(request.lifecycle.at(-1)?.actorId, identityIds.admin)
    const own = (await as.employee<CollectionDto[]>('GET', `${COLLECTIONS}/member-of`)).json.data
    assert.ok(own.some(({ id }) => id === collectionId))
    assert.deepEqual((await direct('DELETE', collectionId, 'employee')).json.data, { removed: 1, notMembers: 0 })
    const ended = (await as.admin<MembershipRequestDto>('GET', `${REQUESTS}/${collectionId}/${request.id}`)).json.data
    assert.deepEqual([ended.status, ended.lifecycle.at(-1)?.actorId], ['Left', identityIds.admin])
    assert.equal(ended.lifecycle.length, request.lifecycle.length + 1)
  })

  it('are refused for a person without a role', async () => {
    assert.deepEqual(refusal(await as.outsider('GET', `${REQUESTS}/eligible`)), [403, 'RoleRequired'])
  })
})
