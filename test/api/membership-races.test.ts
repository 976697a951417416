import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { addMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import type { JoinDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import { approvedBy, faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const AT_ONCE = 50

const fixture = await joinableFixture()
const { call, admin, requests, submit, act, read, results, joinable, person } = fixture
const times = <T>(run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(index)))
const counted = (codes: readonly (readonly string[])[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(codes, (each) => each[0] ?? 'done')).map(([code, list]) => [code, list?.length]),
  )

after(() => assert.deepEqual(faults, []))

describe('fifty concurrent calls', () => {
  it('to submit for one membership create exactly one request', async () => {
    const employee = await person()
    const collectionId = await joinable(await fixture.approvedBySomebody())
    const answers = await times(() => submit(employee, collectionId))
    assert.deepEqual(counted(answers.map(({ codes }) => codes)), { done: 1, RequestAlreadyOpen: AT_ONCE - 1 })
    assert.equal((await call<MembershipRequestDto[]>(admin, 'GET', `${requests}/${collectionId}`)).data.length, 1)
  })

  it('to submit to an open collection create exactly one membership', async () => {
    const employee = await person()
    const collectionId = await joinable(OPEN)
    const answers = await times(() => submit(employee, collectionId))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(answers.filter(({ status }) => status === 409).length, AT_ONCE - 1)
    assert.equal((await results(collectionId)).length, 1)
    assert.equal((await fixture.deps.joined.versions(fixture.tenantId, [collectionId])).get(collectionId), 1)
  })

  it('to decide on a request make exactly one decision', async () => {
    const employee = await person()
    const approvers = await times(() => person())
    const approverIds = approvers.map(({ identityId }) => identityId)
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: approverIds }))
    const { data: request } = await submit(employee, collectionId)
    const answers = await Promise.all(
      approvers.map(({ token }, index) => act(token, request, index % 2 === 0 ? 'approve' : 'reject')),
    )
    assert.deepEqual(counted(answers.map(({ codes }) => codes)), { done: 1, InvalidRequestState: AT_ONCE - 1 })
    const { data } = await read(employee.token, request)
    const decisions = data.lifecycle.filter(({ gate, status }: { gate?: object; status: string }) => {
      return gate !== undefined && status !== 'PendingApproval'
    })
    assert.equal(decisions.length, 1)
  })

  it('to join one collection all succeed, and its version counts each', async () => {
    const people = await times(() => person())
    const collectionId = await joinable(OPEN)
    const answers = await Promise.all(people.map((person) => submit(person, collectionId)))
    assert.deepEqual(counted(answers.map(({ codes }) => codes)), { done: AT_ONCE })
    assert.equal((await results(collectionId)).length, AT_ONCE)
    const changes = await fixture.deps.joined.changesAfter(fixture.tenantId, collectionId, 0)
    assert.equal(changes?.length, AT_ONCE)
    assert.deepEqual(changes?.flatMap(({ added }) => added).sort(), people.map(({ identityId }) => identityId).sort())
  })

  it('to add identities directly and to submit for them make each a member once', async () => {
    const people = await times(() => person())
    const collectionId = await joinable(OPEN)
    const coreIdentityIds = people.map(({ identityId }) => identityId)
    const path = `/collections-joinable/beta/${collectionId}/results/members`
    const adds = Array.from({ length: 5 }, () => call<{ added: number }>(admin, 'POST', path, { coreIdentityIds }))
    const [added, submitted] = await Promise.all([
      Promise.all(adds),
      Promise.all(people.map((person) => submit(person, collectionId))),
    ])
    assert.deepEqual(
      (await results(collectionId)).map(({ objectId }) => objectId),
      coreIdentityIds.toSorted(),
    )
    assert.ok(added.every(({ status }) => status === 200))
    const byAdds = added.reduce((sum, { data }) => sum + data.added, 0)
    assert.equal(byAdds + submitted.filter(({ status }) => status === 201).length, AT_ONCE)
  })

  it('to cancel and approve have one outcome', async () => {
    const [employee, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    for (let round = 0; round < 10; round += 1) {
      const { data: request } = await submit(employee, collectionId)
      const answers = await Promise.all([
        act(employee.token, request, 'cancel'),
        act(approver.token, request, 'approve'),
      ])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
      const { data } = await read(employee.token, request)
      if (data.status === 'Joined') await act(employee.token, request, 'leave')
    }
  })
})

describe('an end that passes while the membership is made', () => {
  type Make = (collectionId: string, who: Person, endsAt: string, deps: JoinDependencies) => Promise<unknown>
  const add: Make = (collectionId, { identityId }, endsAt, deps) => {
    const actor = { id: 'somebody', identityId: undefined }
    return addMembersDirectly(fixture.tenantId, collectionId, { coreIdentityIds: [identityId], endsAt }, actor, deps)
  }
  const join: Make = (collectionId, { identityId }, endsAt, deps) =>
    submitRequest(collectionId, { endsAt }, { tenantId: fixture.tenantId, identityId }, deps)

  /** The service in a process that reads slowly. */
  function slow(): JoinDependencies {
    const { requests } = fixture.deps
    const liveIn: typeof requests.liveIn = (...args) => {
      fixture.pass(3)
      return requests.liveIn(...args)
    }
    const liveOrRestorableIn: typeof requests.liveOrRestorableIn = (...args) => {
      fixture.pass(3)
      return requests.liveOrRestorableIn(...args)
    }
    return { ...fixture.deps, requests: { ...requests, liveIn, liveOrRestorableIn } }
  }

  for (const [claim, make, isWaiting] of [
    ['by a submission', join, false],
    ['by a direct add', add, false],
    ['by a direct add of one who waits', add, true],
  ] as const) {
    it(`${claim} ends it within a minute`, async () => {
      const who = await person()
      const collectionId = await joinable(isWaiting ? await fixture.approvedBySomebody() : OPEN)
      if (isWaiting) await submit(who, collectionId)
      fixture.enqueued.length = 0
      const endsAt = new Date(fixture.nowMs() + 2000).toISOString()
      await make(collectionId, who, endsAt, slow())
      const { data } = await call<MembershipRequestDto[]>(admin, 'GET', `${requests}/${collectionId}`)
      assert.deepEqual(
        data.map((request) => [request.status, request.endsAt]),
        [['Joined', endsAt.replace('Z', '+00:00')]],
      )
      fixture.pass(60)
      for (const { queue, message } of fixture.enqueued.splice(0)) {
        if (queue === 'deadlines') await fixture.service.messages.deadlines.handle(message)
      }
      assert.deepEqual(await results(collectionId), [])
    })
  }
})
