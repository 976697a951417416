import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, equals, faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const fixture = await joinableFixture()
const { admin, writer, call, requests, submit, act, read, results, joinable, person, position } = fixture

after(() => assert.deepEqual(faults, []))

const statuses = (request: { lifecycle: { status: string }[] }) => request.lifecycle.map(({ status }) => status)

describe('submit', () => {
  it('joins immediately when no approval is required, and returns the whole request', async () => {
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
      endsAt: null,
      extension: null,
      notes: 'Please',
      createdAt: at,
      updatedAt: at,
      lifecycle: [
        { status: 'Requested', actorId, at, notes: 'Please' },
        { status: 'Joined', actorId, at },
      ],
      collectionName: 'Choir',
      requesterName: 'Somebody',
      relationshipTitle: 'Nurse',
      submittedByName: 'Somebody',
      orgUnitName: null,
      managerNames: [],
      approverNames: [],
      actorNames: { [actorId]: 'Somebody' },
    })
    assert.deepEqual((await read(employee.token, data)).data, data)
    assert.deepEqual(await results(collectionId), [{ objectId: employee.identityId, relationshipId }])
  })

  it('waits at the first gate, whose approver count excludes the subject', async () => {
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

  it('refuses a second live request, and accepts one after the first has ended', async () => {
    const employee = await person()
    const collectionId = await joinable(await fixture.approvedBySomebody())
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

  it('uses the only active position, and requires relationshipId when there are several', async () => {
    const colleague = await person()
    const [first, second] = [await position(colleague), await position(colleague, { endDate: '2030-06-01' })]
    await position(colleague, { endDate: '2030-05-31' })
    const identities = await joinable(OPEN)
    const positions = await joinable(OPEN, { objectType: 'Relationship' })
    const unnamed = await submit(colleague, positions)
    assert.deepEqual(
      [unnamed.status, unnamed.codes, unnamed.targets],
      [400, ['RelationshipRequired'], ['/relationshipId']],
    )
    assert.equal((await submit(colleague, positions, { relationshipId: second })).data.relationshipId, second)
    assert.equal(
      (await submit(colleague, positions, { relationshipId: first.toUpperCase() })).data.relationshipId,
      first,
    )
    assert.equal((await submit(colleague, positions, { relationshipId: first })).status, 409)
    const members = [first, second].sort().map((relationshipId) => ({ objectId: colleague.identityId, relationshipId }))
    assert.deepEqual(await results(positions), members)
    assert.equal((await submit(colleague, identities)).data.relationshipId, null)
    assert.equal((await submit(colleague, identities, { relationshipId: first })).status, 409)
  })

  it('refuses an ended position, and in the same way one that is unknown or held by another identity', async () => {
    const [employee, other] = [await person(), await person()]
    const [ended, foreign] = [await position(employee, { endDate: '2030-05-31' }), await position(other)]
    const collectionId = await joinable(OPEN)
    for (const [relationshipId, code, message] of [
      [ended, 'RelationshipEnded', `Relationship ${ended} has ended`],
      [foreign, 'RelationshipNotYours', `Relationship ${foreign} is not a position of the caller`],
      [UNKNOWN_ID, 'RelationshipNotYours', `Relationship ${UNKNOWN_ID} is not a position of the caller`],
    ]) {
      const { status, codes, targets, messages } = await submit(employee, collectionId, { relationshipId })
      assert.deepEqual([status, codes, targets, messages], [400, [code], ['/relationshipId'], [message]])
    }
  })

  it('is limited by the policy to current members of a criteria or joinable collection', async () => {
    const [employee, other] = [await person(), await person()]
    await position(employee, { title: 'Teacher' })
    const teachers = await fixture.criteria('Relationship', equals('relationshipTitle', 'Teacher'))
    const choir = await joinable(OPEN)
    await submit(other, choir)
    const byTeachers = await joinable({ ...OPEN, joinableBy: { collectionIds: [teachers] } })
    const byEither = await joinable({ ...OPEN, joinableBy: { collectionIds: [teachers, choir] } })
    const refused = await submit(other, byTeachers)
    assert.deepEqual([refused.status, refused.codes], [403, ['NotEligible']])
    assert.ok(!refused.messages.join().includes(teachers), 'The refusal names a collection of the policy')
    assert.equal((await submit(employee, byTeachers)).status, 201)
    assert.equal((await submit(employee, byEither)).status, 201)
    assert.equal((await submit(other, byEither)).status, 201)
  })

  it('requires a body, an existing collection and a caller with an identity', async () => {
    const employee = await person()
    const collectionId = await joinable(OPEN)
    const path = `${requests}/${collectionId}/submit`
    assert.deepEqual((await call(employee.token, 'POST', path)).codes, ['BodyRequired'])
    assert.equal((await submit(employee, collectionId, { notes: 7 })).status, 400)
    assert.equal((await submit(employee, collectionId, { notes: 'x'.repeat(2049) })).status, 400)
    assert.deepEqual((await submit(employee, randomUUID())).codes, ['CollectionNotFound'])
    assert.deepEqual((await call(writer, 'POST', path, {})).codes, ['UsersOnly'])
    assert.deepEqual((await call(admin, 'POST', path, 'no object')).codes, ['CallerHasNoIdentity'])
    assert.deepEqual((await call(fixture.caller('user', []), 'POST', path, {})).codes, ['RoleRequired'])
  })
})

describe('submit-on-behalf', () => {
  const onBehalf = (token: string, collectionId: string, body: object) =>
    call<MembershipRequestDto>(token, 'POST', `${requests}/${collectionId}/submit-on-behalf`, body)

  it('is for the manager of the report, who is recorded as submitter and may cancel', async () => {
    const [manager, employee, stranger] = [await person(), await person(), await person()]
    const unit = await fixture.put('orgUnit', { displayName: 'Ward', manager: { objectId: manager.identityId } })
    const relationshipId = await position(employee, { orgUnit: { objectId: unit } })
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    assert.deepEqual((await onBehalf(manager.token, collectionId, {})).codes, ['RequesterRequired'])
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

  it('is what an administrator lists as submitted on behalf of others, not direct additions', async () => {
    const boss = await person(['User', 'collection_criteria_definition-administrator'])
    const [employee, other] = [await person(), await person()]
    await position(employee, { manager: { objectId: boss.identityId } })
    const [open, approved] = [await joinable(OPEN), await joinable(approvedBy({ type: 'Manager' }))]
    const add = (collectionId: string, who: Person) =>
      call(boss.token, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, {
        coreIdentityIds: [who.identityId],
      })
    await add(open, other)
    const joined = await onBehalf(boss.token, open, { requesterId: employee.identityId })
    assert.equal(joined.data.status, 'Joined')
    const waiting = await onBehalf(boss.token, approved, { requesterId: employee.identityId })
    await add(approved, employee)
    const { data } = await call<MembershipRequestDto[]>(boss.token, 'GET', `${requests}/submitted-on-behalf`)
    assert.deepEqual(
      new Map(data.map(({ id, status }) => [id, status])),
      new Map([
        [joined.data.id, 'Joined'],
        [waiting.data.id, 'Joined'],
      ]),
    )
  })

  it('refuses whatever is not a report of the caller in one way, so that it discloses nothing about other people', async () => {
    const [manager, report, stranger] = [await person(), await person(), await person()]
    const led = { manager: { objectId: manager.identityId } }
    const own = await position(report, led)
    const ended = await position(report, { ...led, endDate: '2030-05-31' })
    const unled = await position(report)
    const foreign = await position(stranger)
    const collectionId = await joinable(approvedBy({ type: 'Manager' }))
    const requesterId = report.identityId
    for (const [body, named] of [
      [{ requesterId: stranger.identityId }, stranger.identityId],
      [{ requesterId: UNKNOWN_ID }, UNKNOWN_ID],
      [{ relationshipId: UNKNOWN_ID }, UNKNOWN_ID],
      [{ relationshipId: foreign }, foreign],
      [{ relationshipId: ended }, ended],
      [{ relationshipId: unled }, unled],
      [{ requesterId, relationshipId: UNKNOWN_ID }, requesterId],
      [{ requesterId, relationshipId: foreign }, requesterId],
      [{ requesterId, relationshipId: ended }, requesterId],
      [{ requesterId: stranger.identityId, relationshipId: own }, stranger.identityId],
    ] as const) {
      const { status, codes, messages, targets } = await onBehalf(manager.token, collectionId, body)
      const expected = [403, ['NotManager'], [`The caller is not the manager of ${named}`], [undefined]]
      assert.deepEqual([status, codes, messages, targets], expected, JSON.stringify(body))
    }
    assert.equal((await onBehalf(manager.token, collectionId, { requesterId, relationshipId: own })).status, 201)
  })
})
