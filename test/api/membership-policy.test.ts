import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { JoinableCollectionUpdate } from '../../shared/domain/membership-requests/joinable-collection.ts'
import { updateJoinableCollection } from '../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, call, requests, submit, act, read, results, joinable, person } = fixture

after(() => assert.deepEqual(faults, []))

const change = (collectionId: string, joinPolicy: object) =>
  call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, { objectType: 'Identity', joinPolicy })
const gates = (...approvalGates: object[]) => ({ approvalRequired: true, approvalGates })

const DAY_S = 24 * 60 * 60

const CALLER: Caller = {
  kind: 'application',
  tenantId: fixture.tenantId,
  objectId: '',
  clientId: '',
  roles: new Set(),
}

describe('a changed join policy', () => {
  it('keeps requests at their gate, with its new approvers', async () => {
    const [employee, before, now] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [before.identityId] }))
    const { data: request } = await submit(employee, collectionId)
    const approvers = [before.identityId, now.identityId]
    await change(collectionId, approvedBy({ type: 'Identity', approvers }))
    const { data } = await read(employee.token, request)
    assert.deepEqual(data.currentGate, { order: 1, type: 'Identity', approverCount: 2 })
    assert.deepEqual(data.lifecycle, request.lifecycle)
    assert.equal((await act(now.token, request, 'approve')).data.status, 'Joined')
  })

  it('has requests wait anew at a gate put before theirs: its fallback decides only after the days there', async () => {
    const [employee, anna, bo] = [await person(), await person(), await person()]
    const [cara, dan] = [await person(), await person()]
    const of = ({ identityId }: { identityId: string }) => ({ type: 'Identity', approvers: [identityId] })
    const collectionId = await joinable(approvedBy(of(anna), of(bo)))
    const { data: request } = await submit(employee, collectionId)
    await act(anna.token, request, 'approve')
    fixture.pass(5 * DAY_S)
    const second = { ...of(cara), fallback: { afterDays: 3, ...of(dan) } }
    await change(collectionId, approvedBy(of(anna), second, of(bo)))
    const { data } = await read(admin, request)
    assert.deepEqual(data.currentGate, { order: 2, type: 'Identity', approverCount: 1 })
    const { status, gate, at } = data.lifecycle.at(-1) ?? assert.fail('There is no entry')
    assert.deepEqual(
      [status, gate, Date.parse(at)],
      ['PendingApproval', { order: 2, type: 'Identity' }, fixture.nowMs()],
    )
    assert.deepEqual((await act(dan.token, request, 'approve')).codes, ['RequestNotFound'])
    fixture.pass(3 * DAY_S)
    assert.equal((await act(dan.token, request, 'approve')).data.currentGate?.order, 3)
    assert.equal((await act(bo.token, request, 'approve')).data.status, 'Joined')
  })

  it('has extensions wait anew at a gate whose approver is another one', async () => {
    const [employee, anna, cara] = [await person(), await person(), await person()]
    const of = ({ identityId }: { identityId: string }) => ({ type: 'Identity', approvers: [identityId] })
    const collectionId = await joinable(approvedBy(of(anna)))
    const { data: request } = await submit(employee, collectionId, { endsAt: '2031-01-01' })
    await act(anna.token, request, 'approve')
    const { data: asked } = await act(employee.token, request, 'extend', { endsAt: '2032-01-01' })
    fixture.pass(60)
    await change(collectionId, approvedBy(of(cara)))
    const { data } = await read(admin, request)
    assert.deepEqual(data.lifecycle.slice(0, -1), asked.lifecycle)
    assert.deepEqual(data.lifecycle.at(-1)?.gate, { order: 1, type: 'Identity' })
    const expected = { ...asked.extension, currentGate: { order: 1, type: 'Identity', approverCount: 1 } }
    assert.deepEqual(data.extension, expected)
    assert.equal((await act(cara.token, request, 'approve')).data.extension, null)
  })

  it('moves requests whose gate was removed, with a lifecycle note', async () => {
    const [employee, first, second, third] = [await person(), await person(), await person(), await person()]
    const at = (order: number, approver: { identityId: string }) => ({
      order,
      type: 'Identity',
      approvers: [approver.identityId],
    })
    const collectionId = await joinable(gates(at(1, first), at(2, second)))
    const { data: request } = await submit(employee, collectionId)
    await act(first.token, request, 'approve')
    await change(collectionId, gates(at(2, first), at(3, third)))
    const { data } = await read(employee.token, request)
    assert.deepEqual(data.currentGate, { order: 3, type: 'Identity', approverCount: 1 })
    assert.deepEqual(data.lifecycle.at(-1), {
      status: 'PendingApproval',
      actorId: 'system',
      at: data.updatedAt,
      gate: { order: 3, type: 'Identity' },
      notes: 'The join policy has changed',
    })
    const review = (token: string) => call(token, 'GET', `${requests}/pending-approval-review/${collectionId}`)
    assert.deepEqual((await review(second.token)).data, [])
    assert.deepEqual((await review(third.token)).data, [data])
    assert.equal((await act(third.token, request, 'approve')).data.status, 'Joined')
  })

  it('admits all waiting requests when approval is no longer required', async () => {
    const people = await Promise.all(Array.from({ length: 90 }, () => person()))
    const collectionId = await joinable(await fixture.approvedBySomebody())
    for (const person of people) await submit(person, collectionId)
    fixture.enqueued.length = 0
    await change(collectionId, OPEN)
    assert.equal((await results(collectionId)).length, 90)
    assert.ok(fixture.enqueued.some(({ queue }) => queue === 'evaluations'))
  })

  it('moves a request submitted concurrently, in any interleaving', async () => {
    const [approver, other] = [await person(), await person()]
    const policy = (approvers: string[], order: number) => gates({ order, type: 'Identity', approvers })
    for (let round = 0; round < 8; round += 1) {
      const people = await Promise.all(Array.from({ length: 6 }, () => person()))
      const collectionId = await joinable(policy([approver.identityId], 1))
      const [, ...submitted] = await Promise.all([
        change(collectionId, policy([other.identityId], 2)),
        ...people.map((person) => submit(person, collectionId)),
      ])
      for (const { status } of submitted) assert.equal(status, 201)
      const { data } = await call<MembershipRequestDto[]>(
        other.token,
        'GET',
        `${requests}/pending-approval-review/${collectionId}`,
      )
      assert.equal(data.length, 6)
    }
  })

  it('moves requests to its last version, whichever concurrent update ends last', async () => {
    const [employee, first, second, third] = [await person(), await person(), await person(), await person()]
    const policy = (approver: { identityId: string }, order: number) =>
      gates({ order, type: 'Identity', approvers: [approver.identityId] })
    const collectionId = await joinable(policy(first, 1))
    const { data: request } = await submit(employee, collectionId)
    let hasConflict = false
    const save: typeof fixture.deps.requests.save = async (changes) => {
      if (!hasConflict) {
        hasConflict = true
        assert.equal((await change(collectionId, policy(third, 3))).status, 200)
      }
      return fixture.deps.requests.save(changes)
    }
    const deps = { ...fixture.deps, requests: { ...fixture.deps.requests, save } }
    const body = { objectType: 'Identity', joinPolicy: policy(second, 2) } as JoinableCollectionUpdate
    await updateJoinableCollection(collectionId, body, undefined, CALLER, deps)
    const list = (token: string, path: string) => call<MembershipRequestDto[]>(token, 'GET', `${requests}/${path}`)
    assert.equal((await list(admin, collectionId)).data[0]?.currentGate?.order, 3)
    const { data } = await list(third.token, `pending-approval-review/${collectionId}`)
    assert.deepEqual(
      data.map(({ id }) => id),
      [request.id],
    )
  })

  it('moves its requests when an update interrupted after the policy is repeated', async () => {
    const [employee, first, second] = [await person(), await person(), await person()]
    const policy = (approver: { identityId: string }, order: number) =>
      gates({ order, type: 'Identity', approvers: [approver.identityId] })
    const collectionId = await joinable(policy(first, 1))
    const { data: request } = await submit(employee, collectionId)
    const allWaitingIn = async (): Promise<never> => {
      throw new Error('The process ends here')
    }
    const deps = { ...fixture.deps, requests: { ...fixture.deps.requests, allWaitingIn } }
    const body = { objectType: 'Identity', joinPolicy: policy(second, 2) } as JoinableCollectionUpdate
    await assert.rejects(updateJoinableCollection(collectionId, body, undefined, CALLER, deps), /ends here/)
    assert.equal((await change(collectionId, policy(second, 2))).status, 200)
    const path = `${requests}/pending-approval-review/${collectionId}`
    const { data } = await call<MembershipRequestDto[]>(second.token, 'GET', path)
    assert.deepEqual(
      data.map(({ id }) => id),
      [request.id],
    )
  })

  it('moves its requests after a crash: at the next action, or at the next evaluation of a new process', async () => {
    const [employee, other, approver] = [await person(), await person(), await person()]
    const collectionId = await joinable(await fixture.approvedBySomebody())
    const { data: request } = await submit(employee, collectionId)
    const { data: left } = await submit(other, collectionId)
    const found = await fixture.deps.collections.find(fixture.tenantId, collectionId)
    assert.ok(found)
    const definition = {
      approvalRequired: true,
      approvalGates: [{ order: 4, type: 'Identity', approvers: [approver.identityId] }],
      joinableBy: { collectionIds: [] },
    }
    await fixture.deps.collections.replace(
      { ...found.value, definition, definitionVersion: found.value.definitionVersion + 1 },
      found.version,
      undefined,
    )
    assert.equal((await act(approver.token, request, 'approve')).data.status, 'Joined')
    const review = () =>
      call<MembershipRequestDto[]>(approver.token, 'GET', `${requests}/pending-approval-review/${collectionId}`)
    assert.deepEqual((await review()).data, [])
    await fixture.newService().evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(
      (await review()).data.map(({ id }) => id),
      [left.id],
    )
  })
})
