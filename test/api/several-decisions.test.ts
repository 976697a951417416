import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, faults, joinableFixture, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { call, person, joinable, submit, act, read, requests } = fixture
after(() => assert.deepEqual(faults, []))

type Decision = { readonly collectionId: string; readonly requestId: string; readonly decision: 'Approve' | 'Reject' }
type Result = {
  readonly index: number
  readonly status: number
  readonly errors?: readonly { readonly code: string }[]
}

const identity = (...people: Person[]) => ({ type: 'Identity', approvers: people.map(({ identityId }) => identityId) })

const decide = ({ token }: Person, decisions: readonly object[]) =>
  call<Result[]>(token, 'POST', `${requests}/decide`, { decisions })

/** The status of each result, with its code. */
const outcomes = ({ data }: { readonly data: readonly Result[] }) =>
  data.map(({ index, status, errors }) => [index, status, errors?.[0]?.code])

const approvalOf = ({ collectionId, id: requestId }: MembershipRequestDto): Decision => {
  return { collectionId, requestId, decision: 'Approve' }
}

describe('several decisions at once', () => {
  it('have a result each, in order, and fail alone', async () => {
    const [approver, stranger] = [await person(), await person()]
    const collectionId = await joinable({ ...approvedBy(identity(approver)), rejectionNeedsReason: true })
    const decided = await submit(await person(), collectionId)
    await act(approver.token, decided.data, 'approve')
    const waiting = [await submit(await person(), collectionId), await submit(await person(), collectionId)]
    const [first, second] = waiting.map(({ data }) => data.id)
    const other = await submit(await person(), await joinable(approvedBy(identity(stranger))))
    const answer = await decide(approver, [
      { collectionId, requestId: first, decision: 'Approve' },
      { collectionId, requestId: second, decision: 'Reject' },
      approvalOf(other.data),
      approvalOf(decided.data),
    ])
    assert.equal(answer.status, 200)
    assert.deepEqual(outcomes(answer), [
      [0, 200, undefined],
      [1, 400, 'NotesRequired'],
      [2, 404, 'RequestNotFound'],
      [3, 409, 'InvalidRequestState'],
    ])
    const corrected = await decide(approver, [{ collectionId, requestId: second, decision: 'Reject', notes: 'full' }])
    assert.deepEqual(outcomes(corrected), [[0, 200, undefined]])
  })

  it('are refused when there are none, or more than 100', async () => {
    const approver = await person()
    const decision = { collectionId: await joinable({ approvalRequired: false }), requestId: crypto.randomUUID() }
    for (const count of [0, 101]) {
      const decisions = Array.from({ length: count }, () => ({ ...decision, decision: 'Approve' }))
      assert.equal((await decide(approver, decisions)).status, 400)
    }
  })

  it('decide on a request once, whatever the case of its id', async () => {
    const [approver, other, subject] = [await person(), await person(), await person()]
    const policy = approvedBy(identity(approver, other), identity(approver))
    const { data: request } = await submit(subject, await joinable(policy))
    const approval = approvalOf(request)
    const answer = await decide(approver, [approval, { ...approval, requestId: request.id.toUpperCase() }])
    assert.deepEqual(outcomes(answer), [
      [0, 200, undefined],
      [1, 400, 'DuplicateItem'],
    ])
    assert.equal((await read(approver.token, request)).data.currentGate?.order, 2)
  })
})

describe('a decision that names what the caller has seen', () => {
  const approvedTwice = async (approver: Person, more: object = {}) => {
    const policy = { ...approvedBy(identity(approver, await person()), identity(approver)), ...more }
    return (await submit(await person(), await joinable(policy))).data
  }

  it('passes one gate, however often it is sent', async () => {
    const approver = await person()
    const request = await approvedTwice(approver)
    const decisions = [{ ...approvalOf(request), updatedAt: request.updatedAt }]
    fixture.pass(1)
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 200, undefined]])
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 412, 'PreconditionFailed']])
    const { data } = await read(approver.token, request)
    assert.deepEqual([data.status, data.currentGate?.order], ['PendingApproval', 2])
    const next = { ...approvalOf(request), updatedAt: data.updatedAt.replace('+00:00', 'Z') }
    assert.deepEqual(outcomes(await decide(approver, [next])), [[0, 200, undefined]])
    assert.equal((await read(approver.token, request)).data.status, 'Joined')
  })

  it('does not approve an extension that was asked for after it', async () => {
    const [approver, subject] = [await person(), await person()]
    const collectionId = await joinable({ ...approvedBy(identity(approver)), maxDays: 30 })
    const { data: request } = await submit(subject, collectionId, { endsAt: '2030-06-10' })
    const decisions = [{ ...approvalOf(request), updatedAt: request.updatedAt }]
    fixture.pass(1)
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 200, undefined]])
    fixture.pass(1)
    const { data: extended } = await act(subject.token, request, 'extend', { endsAt: '2030-06-20' })
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 412, 'PreconditionFailed']])
    assert.notEqual((await read(approver.token, request)).data.extension, null)
    const ofExtension = { ...approvalOf(request), updatedAt: extended.updatedAt }
    assert.deepEqual(outcomes(await decide(approver, [ofExtension])), [[0, 200, undefined]])
    assert.equal((await read(approver.token, request)).data.extension, null)
  })

  it('does not pass a gate that has taken the place of the one it was for', async () => {
    const approver = await person()
    const request = await approvedTwice(approver)
    const decisions = [{ ...approvalOf(request), updatedAt: request.updatedAt }]
    fixture.pass(1)
    await decide(approver, decisions)
    fixture.pass(1)
    const body = { objectType: 'Identity', joinPolicy: approvedBy(identity(approver)) }
    const path = `/collections-joinable/beta/${request.collectionId}`
    assert.equal((await call(fixture.admin, 'PUT', path, body)).status, 200)
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 412, 'PreconditionFailed']])
  })

  it('is as it is in the inbox', async () => {
    const approver = await person()
    const request = await approvedTwice(approver)
    const inbox = await call<MembershipRequestDto[]>(approver.token, 'GET', `${requests}/inbox`)
    const decisions = inbox.data.map((shown) => ({ ...approvalOf(shown), updatedAt: shown.updatedAt }))
    assert.deepEqual(outcomes(await decide(approver, decisions)), [[0, 200, undefined]])
    assert.equal((await read(approver.token, request)).data.currentGate?.order, 2)
  })
})
