import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { approvedBy, equals, faults, joinableWorld, OPEN } from './joinable-world.ts'

const world = await joinableWorld()
const { admin, writer, call, requests, submit, act, read, results, joinable, person, position } = world

after(() => assert.deepEqual(faults, []))

const statuses = (request: { lifecycle: { status: string }[] }) => request.lifecycle.map(({ status }) => status)

describe('submit', () => {
  it('makes a member at once where no approval is required, and tells it with all its members', async () => {
    const employee = await person()
    const relationshipId = await position(employee)
    const collectionId = await joinable(OPEN)
    const { status, data, headers } = await submit(employee, collectionId, { notes: 'Please' })
    assert.equal(status, 201)
    assert.equal(headers.location, `${requests}/${collectionId}/${data.id}`)
    assert.ok(headers.etag)
    const at = '2030-06-01T08:00:00.000+00:00'
    const actorId = employee.identityId
    assert.deepEqual(data, {
      id: data.id,
      collectionId,
      requesterId: employee.identityId,
      submittedBy: employee.identityId,
      relationshipId,
      status: 'Joined',
      currentGate: null,
      notes: 'Please',
      createdAt: at,
      updatedAt: at,
      lifecycle: [
        { status: 'Requested', actorId, at, notes: 'Please' },
        { status: 'Joined', actorId, at },
      ],
    })
    assert.deepEqual((await read(employee.token, data)).data, data)
    assert.deepEqual(await results(collectionId), [{ objectId: employee.identityId, relationshipId }])
  })

  it('waits at the first gate, whose approvers are counted without the subject', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable({
      approvalRequired: true,
      approvalGates: [
        { order: 20, type: 'Manager' },
        { order: 10, type: 'Identity', approvers: [employee.identityId, approver.identityId] },
      ],
    })
    const { data } = await submit(employee, collectionId)
    assert.equal(data.status, 'PendingApproval')
    assert.deepEqual(data.currentGate, { order: 10, type: 'Identity', approverCount: 1 })
    assert.deepEqual(statuses(data), ['Requested', 'PendingApproval'])
    assert.deepEqual(await results(collectionId), [])
  })

  it('refuses a second one: open, joined, and never after an end', async () => {
    const employee = await person()
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    const first = await submit(employee, collectionId)
    const second = await submit(employee, collectionId)
    assert.deepEqual([second.status, second.codes], [409, ['RequestAlreadyOpen']])
    assert.equal((await act(employee.token, first.data, 'cancel')).data.status, 'Cancelled')
    const third = await submit(employee, collectionId)
    assert.equal(third.status, 201)
    await call(admin, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, {
      coreIdentityIds: [employee.identityId],
    })
    assert.equal((await read(employee.token, third.data)).data.status, 'Joined')
    assert.deepEqual((await submit(employee, collectionId)).codes, ['AlreadyMember'])
  })

  it('uses the only active position, and asks which one where there are several', async () => {
    const colleague = await person()
    const [one, other] = [await position(colleague), await position(colleague, { endDate: '2030-06-01' })]
    await position(colleague, { endDate: '2030-05-31' })
    const identities = await joinable(OPEN)
    const positions = await joinable(OPEN, { objectType: 'Relationship' })
    const unnamed = await submit(colleague, positions)
    assert.deepEqual(
      [unnamed.status, unnamed.codes, unnamed.targets],
      [400, ['RelationshipRequired'], ['/relationshipId']],
    )
    assert.equal((await submit(colleague, positions, { relationshipId: other })).data.relationshipId, other)
    assert.equal((await submit(colleague, positions, { relationshipId: one.toUpperCase() })).data.relationshipId, one)
    assert.equal((await submit(colleague, positions, { relationshipId: one })).status, 409)
    const members = [one, other].sort().map((relationshipId) => ({ objectId: colleague.identityId, relationshipId }))
    assert.deepEqual(await results(positions), members)
    assert.equal((await submit(colleague, identities)).data.relationshipId, null)
    assert.equal((await submit(colleague, identities, { relationshipId: one })).status, 409)
  })

  it("refuses a position that is unknown, ended or somebody else's", async () => {
    const [employee, other] = [await person(), await person()]
    const [ended, foreign] = [await position(employee, { endDate: '2030-05-31' }), await position(other)]
    const collectionId = await joinable(OPEN)
    for (const [relationshipId, code] of [
      [randomUUID(), 'RelationshipUnknown'],
      [ended, 'RelationshipEnded'],
      [foreign, 'RelationshipNotYours'],
    ]) {
      const { status, codes, targets } = await submit(employee, collectionId, { relationshipId })
      assert.deepEqual([status, codes, targets], [400, [code], ['/relationshipId']])
    }
  })

  it('lets in whom the policy names: members of a criteria or a joinable collection, as of now', async () => {
    const [employee, other] = [await person(), await person()]
    await position(employee, { title: 'Teacher' })
    const teachers = await world.criteria('Relationship', equals('relationshipTitle', 'Teacher'))
    const choir = await joinable(OPEN)
    await submit(other, choir)
    const byTeachers = await joinable({ ...OPEN, joinableBy: { collectionIds: [teachers] } })
    const byEither = await joinable({ ...OPEN, joinableBy: { collectionIds: [teachers, choir] } })
    const refused = await submit(other, byTeachers)
    assert.deepEqual([refused.status, refused.codes], [403, ['NotEligible']])
    assert.equal((await submit(employee, byTeachers)).status, 201)
    assert.equal((await submit(employee, byEither)).status, 201)
    assert.equal((await submit(other, byEither)).status, 201)
  })

  it('wants a body, a known collection and a person', async () => {
    const employee = await person()
    const collectionId = await joinable(OPEN)
    const path = `${requests}/${collectionId}/submit`
    assert.deepEqual((await call(employee.token, 'POST', path)).codes, ['BodyRequired'])
    assert.equal((await submit(employee, collectionId, { notes: 7 })).status, 400)
    assert.equal((await submit(employee, collectionId, { notes: 'x'.repeat(2049) })).status, 400)
    assert.deepEqual((await submit(employee, randomUUID())).codes, ['CollectionNotFound'])
    assert.deepEqual((await call(writer, 'POST', path, {})).codes, ['UsersOnly'])
    assert.deepEqual((await call(admin, 'POST', path, 'no object')).codes, ['CallerHasNoIdentity'])
    assert.deepEqual((await call(world.caller('user', []), 'POST', path, {})).codes, ['RoleRequired'])
  })
})

describe('submit-on-behalf', () => {
  const onBehalf = (token: string, collectionId: string, body: object) =>
    call(token, 'POST', `${requests}/${collectionId}/submit-on-behalf`, body)

  it('is for the manager of the report, who is then shown as submitter and may cancel', async () => {
    const [manager, employee, stranger] = [await person(), await person(), await person()]
    const unit = await world.put('orgUnit', { displayName: 'Ward', manager: { objectId: manager.identityId } })
    const relationshipId = await position(employee, { orgUnit: { objectId: unit } })
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    assert.deepEqual((await onBehalf(manager.token, collectionId, {})).codes, ['RequesterRequired'])
    const unknown = await onBehalf(manager.token, collectionId, { requesterId: randomUUID() })
    assert.deepEqual([unknown.codes, unknown.targets], [['IdentityUnknown'], ['/requesterId']])
    for (const by of [stranger, employee]) {
      const { status, codes } = await onBehalf(by.token, collectionId, { requesterId: employee.identityId })
      assert.deepEqual([status, codes], [403, ['NotManager']])
    }
    const { status, data } = await onBehalf(manager.token, collectionId, { relationshipId, notes: 'For the team' })
    assert.equal(status, 201)
    assert.equal(data.requesterId, employee.identityId)
    assert.equal(data.submittedBy, manager.identityId)
    assert.deepEqual(data.currentGate, { order: 1, type: 'Manager', approverCount: 1 })
    const list = await call(manager.token, 'GET', `${requests}/submitted-on-behalf`)
    assert.deepEqual(list.data, [data])
    assert.deepEqual((await call(employee.token, 'GET', `${requests}/submitted-on-behalf`)).data, [])
    assert.deepEqual((await call(employee.token, 'GET', `${requests}/pending-approval`)).data, [data])
    assert.deepEqual((await call(manager.token, 'GET', `${requests}/pending-approval`)).data, [])
    assert.equal((await act(manager.token, data, 'cancel')).data.status, 'Cancelled')
  })
})

describe('approve and reject', () => {
  it('passes all gates in turn, each with its own approvers and its own record', async () => {
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
    assert.equal((await act(manager.token, request, 'approve')).status, 404)
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

  it('ends with a rejection', async () => {
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

  it('is never done by the subject, and the state is told before the standing', async () => {
    const employee = await person()
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [employee.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    const own = await act(employee.token, request, 'approve')
    assert.deepEqual([own.status, own.codes], [403, ['SelfApproval']])
    await act(employee.token, request, 'cancel')
    assert.deepEqual((await act(employee.token, request, 'approve')).codes, ['InvalidRequestState'])
  })

  it('asks the next manager up where the manager of the unit is the subject', async () => {
    const [head, director] = [await person(), await person()]
    const top = await world.put('orgUnit', { manager: { objectId: director.identityId } })
    const middle = await world.put('orgUnit', { parent: { objectId: top } })
    const unit = await world.put('orgUnit', {
      parent: { objectId: middle },
      manager: { objectId: head.identityId },
    })
    await position(head, { orgUnit: { objectId: unit }, manager: { objectId: head.identityId } })
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    const { data: request } = await submit(head, collectionId)
    assert.deepEqual(request.currentGate, { order: 1, type: 'Manager', approverCount: 1 })
    const review = await call(director.token, 'GET', `${requests}/pending-approval-review`)
    assert.deepEqual(
      review.data.map(({ id }: { id: string }) => id),
      [collectionId],
    )
    assert.deepEqual((await call(head.token, 'GET', `${requests}/pending-approval-review`)).data, [])
    assert.equal((await act(director.token, request, 'approve')).data.status, 'Joined')
  })

  it('is for members of an approver collection as of the decision, of either kind', async () => {
    const [employee, teacher, singer] = [await person(), await person(), await person()]
    const teachers = await world.criteria('Identity', equals('identityFirstName', 'Ada'))
    const choir = await joinable(OPEN)
    const collectionId = await joinable(approvedBy({ type: 'Collection', approvers: [teachers, choir] }))
    const { data: request } = await submit(employee, collectionId)
    assert.equal(request.currentGate.approverCount, 0)
    const review = async (token: string) =>
      (await call(token, 'GET', `${requests}/pending-approval-review/${collectionId}`)).data
    for (const who of [teacher, singer]) assert.deepEqual(await review(who.token), [])
    await world.put('identity', { directoryObjectId: teacher.account, firstName: 'Ada' }, teacher.identityId)
    const { data: membership } = await submit(singer, choir)
    for (const who of [teacher, singer]) assert.deepEqual(await review(who.token), [request])
    await act(singer.token, membership, 'leave')
    assert.equal((await act(singer.token, request, 'approve')).status, 404)
    assert.equal((await act(teacher.token, request, 'approve')).data.status, 'Joined')
  })

  it('refuses a position that the request is not for', async () => {
    const [employee, approver] = [await person(), await person()]
    const relationshipId = await position(employee)
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    const other = await act(approver.token, request, 'approve', { relationshipId: randomUUID() })
    assert.deepEqual([other.status, other.codes], [400, ['RelationshipNotOfRequest']])
    assert.equal((await act(approver.token, request, 'approve', { relationshipId })).status, 200)
  })
})

describe('cancel and leave', () => {
  it('are for the subject: others who see the request are told so, the rest see nothing', async () => {
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

describe('who sees a request', () => {
  it('is its subject, who decides or decided, and those who see all', async () => {
    const [employee, approver, second, stranger] = [await person(), await person(), await person(), await person()]
    const collectionId = await joinable(
      approvedBy(
        { type: 'Identity', approvers: [approver.identityId] },
        { type: 'Identity', approvers: [second.identityId] },
      ),
    )
    const { data: request } = await submit(employee, collectionId)
    const list = async (token: string) =>
      (await call(token, 'GET', `${requests}/${collectionId}`)).data.map(({ id }: { id: string }) => id)
    const administrator = await person(['Administrator'])
    const reader = world.caller('application', ['collections-criteria.criteria.read.all'])
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
    const nobody = world.caller('user', ['User'])
    assert.deepEqual((await call(nobody, 'GET', `${requests}/${collectionId}`)).codes, ['CallerHasNoIdentity'])
    const elsewhere = await joinable(OPEN)
    assert.equal((await read(admin, { ...request, collectionId: elsewhere })).status, 404)
    assert.deepEqual((await call(admin, 'GET', `${requests}/${collectionId}/x`)).codes, ['InvalidId'])
  })
})

describe('eligible', () => {
  it('shows what is open to the person and not yet asked for', async () => {
    const [manager, employee, stranger] = [await person(), await person(), await person()]
    const first = await position(employee, { manager: { objectId: manager.identityId } })
    const second = await position(employee)
    const staff = await world.criteria('Identity', equals('identityId', employee.identityId))
    const mine = await joinable({ ...OPEN, joinableBy: { collectionIds: [staff] } }, { objectType: 'Relationship' })
    const ids = async (token: string, of = '') => {
      const { data } = await call(token, 'GET', `${requests}/eligible${of}`)
      return data.map(({ id }: { id: string }) => id)
    }
    assert.ok((await ids(employee.token)).includes(mine))
    assert.ok(!(await ids(stranger.token)).includes(mine))
    await submit(employee, mine, { relationshipId: first })
    assert.ok((await ids(employee.token)).includes(mine))
    await submit(employee, mine, { relationshipId: second })
    assert.ok(!(await ids(employee.token)).includes(mine))

    const other = await joinable({ ...OPEN, joinableBy: { collectionIds: [staff] } })
    for (const userId of [employee.identityId, employee.account]) {
      for (const token of [employee.token, manager.token, admin, writer]) {
        assert.ok((await ids(token, `/${userId}`)).includes(other))
      }
    }
    const refused = await call(stranger.token, 'GET', `${requests}/eligible/${employee.identityId}`)
    assert.deepEqual([refused.status, refused.codes], [403, ['NotManager']])
    assert.deepEqual((await call(manager.token, 'GET', `${requests}/eligible/${randomUUID()}`)).codes, ['NotManager'])
    assert.deepEqual((await call(admin, 'GET', `${requests}/eligible/${randomUUID()}`)).codes, ['IdentityNotFound'])
    assert.deepEqual((await call(writer, 'GET', `${requests}/eligible`)).codes, ['UsersOnly'])
  })
})
