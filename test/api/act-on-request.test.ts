import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, equals, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, writer, call, requests, submit, act, read, results, joinable, person, position } = fixture

after(() => assert.deepEqual(faults, []))

const statuses = (request: { lifecycle: { status: string }[] }) => request.lifecycle.map(({ status }) => status)

describe('approve and reject', () => {
  it('pass all gates in order, each with its own approvers and lifecycle entry', async () => {
    const [employee, approver, manager, member] = [await person(), await person(), await person(), await person()]
    await position(employee, { manager: { objectId: manager.identityId } })
    const council = await joinable(OPEN)
    await submit(member, council)
    const collectionId = await joinable(
      approvedBy(
        { type: 'Identity', approvers: [approver.identityId] },
        { type: 'Manager' },
        { type: 'Collection', approvers: [council] },
      ),
    )
    const { data: request } = await submit(employee, collectionId)
    assert.deepEqual((await act(manager.token, request, 'approve')).codes, ['NotCurrentApprover'])
    assert.equal((await act(member.token, request, 'approve')).status, 404)
    const first = await act(approver.token, request, 'approve', { notes: 'Fine' })
    assert.equal(first.status, 200)
    assert.deepEqual(first.data.currentGate, { order: 2, type: 'Manager', approverCount: 1 })
    const again = await act(approver.token, request, 'approve')
    assert.deepEqual([again.status, again.codes], [403, ['NotCurrentApprover']])
    const second = await act(manager.token, request, 'approve')
    assert.deepEqual(second.data.currentGate, { order: 3, type: 'Collection', approverCount: 1 })
    const { data } = await act(member.token, request, 'approve')
    assert.equal(data.status, 'Joined')
    assert.equal(data.currentGate, null)
    assert.deepEqual(statuses(data), [
      'Requested',
      'PendingApproval',
      'Approved',
      'PendingApproval',
      'Approved',
      'PendingApproval',
      'Approved',
      'Joined',
    ])
    const approvals = data.lifecycle.filter(({ status }: { status: string }) => status === 'Approved')
    assert.deepEqual(
      approvals.map(({ actorId, gate, notes }: Record<string, unknown>) => ({ actorId, gate, notes })),
      [
        { actorId: approver.identityId, gate: { order: 1, type: 'Identity' }, notes: 'Fine' },
        { actorId: manager.identityId, gate: { order: 2, type: 'Manager' }, notes: undefined },
        { actorId: member.identityId, gate: { order: 3, type: 'Collection' }, notes: undefined },
      ],
    )
    assert.deepEqual((await results(collectionId))[0]?.objectId, employee.identityId)
    const late = await act(member.token, request, 'reject')
    assert.deepEqual([late.status, late.codes], [409, ['InvalidRequestState']])
  })

  it('end with a rejection', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    const { data } = await act(approver.token, request, 'reject', { notes: 'Full' })
    assert.equal(data.status, 'Rejected')
    assert.deepEqual(data.lifecycle.at(-1), {
      status: 'Rejected',
      actorId: approver.identityId,
      at: data.updatedAt,
      gate: { order: 1, type: 'Identity' },
      notes: 'Full',
    })
    assert.equal((await submit(employee, collectionId)).status, 201)
  })

  it('are refused for the subject, and the status is checked before the rights', async () => {
    const [employee, approver] = [await person(), await person()]
    const approvers = [employee.identityId, approver.identityId]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers }))
    const { data: request } = await submit(employee, collectionId)
    const own = await act(employee.token, request, 'approve')
    assert.deepEqual([own.status, own.codes], [403, ['SelfApproval']])
    await act(employee.token, request, 'cancel')
    assert.deepEqual((await act(employee.token, request, 'approve')).codes, ['InvalidRequestState'])
  })

  it('are for the next manager up when the manager of the unit is the subject', async () => {
    const [head, director] = [await person(), await person()]
    const top = await fixture.put('orgUnit', { manager: { objectId: director.identityId } })
    const middle = await fixture.put('orgUnit', { parent: { objectId: top } })
    const unit = await fixture.put('orgUnit', {
      parent: { objectId: middle },
      manager: { objectId: head.identityId },
    })
    await position(head, { orgUnit: { objectId: unit }, manager: { objectId: head.identityId } })
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    const { data: request } = await submit(head, collectionId)
    assert.deepEqual(request.currentGate, { order: 1, type: 'Manager', approverCount: 1 })
    const review = await call<CollectionDto[]>(director.token, 'GET', `${requests}/pending-approval-review`)
    assert.deepEqual(
      review.data.map(({ id }) => id),
      [collectionId],
    )
    assert.deepEqual((await call(head.token, 'GET', `${requests}/pending-approval-review`)).data, [])
    assert.equal((await act(director.token, request, 'approve')).data.status, 'Joined')
  })

  it('are for current members of an approver collection of either kind', async () => {
    const [employee, teacher, singer, first] = [await person(), await person(), await person(), await person()]
    const teachers = await fixture.criteria('Identity', equals('identityFirstName', 'Ada'))
    const choir = await joinable(OPEN)
    const collectionId = await joinable(approvedBy({ type: 'Collection', approvers: [teachers, choir] }))
    const { data: leaving } = await submit(first, choir)
    const { data: request } = await submit(employee, collectionId)
    assert.equal(request.currentGate?.approverCount, 1)
    assert.equal((await act(first.token, leaving, 'leave')).status, 200)
    assert.equal((await fixture.read(admin, request)).data.currentGate?.approverCount, 0)
    const review = async (token: string) =>
      (await call(token, 'GET', `${requests}/pending-approval-review/${collectionId}`)).data
    for (const who of [teacher, singer]) assert.deepEqual(await review(who.token), [])
    await fixture.put('identity', { directoryObjectId: teacher.account, firstName: 'Ada' }, teacher.identityId)
    const counted = async () => [
      (await call<MembershipRequestDto[]>(admin, 'GET', `${requests}/${collectionId}`)).data[0]?.currentGate
        ?.approverCount,
      (await fixture.read(admin, request)).data.currentGate?.approverCount,
    ]
    assert.deepEqual(await counted(), [1, 1])
    const { data: membership } = await submit(singer, choir)
    assert.deepEqual(await counted(), [2, 2])
    const recounted = { ...request, currentGate: { ...request.currentGate, approverCount: 2 } }
    for (const who of [teacher, singer]) assert.deepEqual(await review(who.token), [recounted])
    await act(singer.token, membership, 'leave')
    assert.deepEqual(await counted(), [1, 1])
    assert.equal((await act(singer.token, request, 'approve')).status, 404)
    assert.equal((await act(teacher.token, request, 'approve')).data.status, 'Joined')
  })

  it('are refused for a position that the request is not for', async () => {
    const [employee, approver] = [await person(), await person()]
    const relationshipId = await position(employee)
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    const other = await act(approver.token, request, 'approve', { relationshipId: await position(approver) })
    assert.deepEqual([other.status, other.codes], [400, ['RelationshipNotOfRequest']])
    const unknown = await act(approver.token, request, 'approve', { relationshipId: randomUUID() })
    assert.deepEqual([unknown.status, unknown.codes], [400, ['RelationshipUnknown']])
    assert.equal((await act(approver.token, request, 'approve', { relationshipId })).status, 200)
  })
})

describe('cancel and leave', () => {
  it('are for the subject: refused for others who see the request, not found for the rest', async () => {
    const [employee, approver, stranger] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    assert.deepEqual((await act(approver.token, request, 'cancel')).codes, ['NotRequester'])
    assert.deepEqual((await act(stranger.token, request, 'cancel')).codes, ['RequestNotFound'])
    const early = await act(employee.token, request, 'leave')
    assert.deepEqual([early.status, early.codes], [409, ['InvalidRequestState']])
    await act(approver.token, request, 'approve')
    assert.deepEqual((await act(employee.token, request, 'cancel')).codes, ['InvalidRequestState'])
    assert.deepEqual((await act(approver.token, request, 'leave')).codes, ['NotRequester'])
    const { data } = await act(employee.token, request, 'leave')
    assert.equal(data.status, 'Left')
    assert.deepEqual(await results(collectionId), [])
    assert.deepEqual((await act(employee.token, request, 'leave')).codes, ['InvalidRequestState'])
  })
})

describe('a request is visible', () => {
  it('to its subject, its current and past approvers, and callers who see all', async () => {
    const [employee, approver, second, stranger] = [await person(), await person(), await person(), await person()]
    const collectionId = await joinable(
      approvedBy(
        { type: 'Identity', approvers: [approver.identityId] },
        { type: 'Identity', approvers: [second.identityId] },
      ),
    )
    const { data: request } = await submit(employee, collectionId)
    const list = async (token: string) =>
      (await call<MembershipRequestDto[]>(token, 'GET', `${requests}/${collectionId}`)).data.map(({ id }) => id)
    const administrator = await person(['Administrator'])
    const reader = fixture.caller('application', ['collections-criteria.criteria.read.all'])
    for (const token of [employee.token, approver.token, admin, reader, writer]) {
      assert.equal((await read(token, request)).status, 200)
      assert.deepEqual(await list(token), [request.id])
    }
    assert.deepEqual((await read(administrator.token, request)).codes, ['RoleRequired'])
    for (const { token } of [second, stranger]) {
      assert.deepEqual((await read(token, request)).codes, ['RequestNotFound'])
      assert.deepEqual(await list(token), [])
    }
    await act(approver.token, request, 'approve')
    for (const { token } of [approver, second]) assert.equal((await read(token, request)).status, 200)
    const nobody = fixture.caller('user', ['User'])
    assert.deepEqual((await call(nobody, 'GET', `${requests}/${collectionId}`)).codes, ['CallerHasNoIdentity'])
    const elsewhere = await joinable(OPEN)
    assert.equal((await read(admin, { ...request, collectionId: elsewhere })).status, 404)
    assert.deepEqual((await call(admin, 'GET', `${requests}/${collectionId}/x`)).codes, ['InvalidId'])
  })
})
