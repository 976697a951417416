import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, equals, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, tenantId, call, submit, act, read, results, joinable, person, position } = fixture

after(() => assert.deepEqual(faults, []))

const evaluate = () => fixture.evaluator.evaluate(tenantId)
const RELATIONSHIP = { objectType: 'Relationship' }
const DAY_S = 24 * 60 * 60

type Person = Awaited<ReturnType<typeof person>>
const handOver = (relationshipId: string, holder: Person) =>
  fixture.put('relationship', { identity: { objectId: holder.identityId }, title: 'Nurse' }, relationshipId)
const last = async (request: MembershipRequestDto) => {
  const { status, relationshipId, lifecycle } = (await read(admin, request)).data
  const { actorId, notes } = lifecycle.at(-1) ?? {}
  return { status, relationshipId, actorId, notes }
}

describe('a membership with a position', () => {
  for (const [claim, lose] of [
    ['is deleted', (id: string) => fixture.remove('relationship', id)],
    ['is handed to another person', async (id: string) => handOver(id, await person())],
  ] as const) {
    it(`stays in an Identity collection when the position ${claim}, and ends in a Relationship collection`, async () => {
      const employee = await person()
      const relationshipId = await position(employee)
      const [choir, posts] = [await joinable(OPEN), await joinable(OPEN, RELATIONSHIP)]
      const [guarded, guardedPosts] = [
        await joinable(await fixture.approvedBySomebody()),
        await joinable(await fixture.approvedBySomebody(), RELATIONSHIP),
      ]
      const [inChoir, inPosts, open, openInPosts] = await Promise.all(
        [choir, posts, guarded, guardedPosts].map(async (id) => (await submit(employee, id)).data),
      )
      assert.ok(inChoir && inPosts && open && openInPosts)
      assert.equal(inChoir.relationshipId, relationshipId)
      await evaluate()
      fixture.pass(2)
      await lose(relationshipId)
      await evaluate()
      const { status, relationshipId: now } = await last(inChoir)
      assert.deepEqual([status, now], ['Joined', null])
      const waiting = await last(open)
      assert.deepEqual([waiting.status, waiting.relationshipId], ['PendingApproval', null])
      const [left, cancelled] = [await last(inPosts), await last(openInPosts)]
      assert.deepEqual([left.status, left.actorId], ['Left', 'system'])
      assert.deepEqual([cancelled.status, cancelled.actorId], ['Cancelled', 'system'])
      assert.deepEqual(await results(choir), [{ objectId: employee.identityId, relationshipId: null }])
    })
  }

  it('stays when the position has an end date in the past, or no holder for a while', async () => {
    const employee = await person()
    const relationshipId = await position(employee)
    const posts = await joinable(OPEN, RELATIONSHIP)
    const { data } = await submit(employee, posts)
    await evaluate()
    for (const attributes of [{ identity: { objectId: employee.identityId }, endDate: '2020-01-01' }, {}]) {
      fixture.pass(2)
      await fixture.put('relationship', attributes, relationshipId)
      await evaluate()
      assert.equal((await last(data)).status, 'Joined')
    }
  })
})

describe('a membership that ended by a deletion', () => {
  for (const [claim, afterS, status] of [
    ['comes back when the person is restored in time', DAY_S, 'Joined'],
    ['does not come back later', 11 * DAY_S, 'Left'],
  ] as const) {
    for (const isNewProcess of [false, true]) {
      it(`${claim}${isNewProcess ? ', in a process that has just started' : ''}`, async () => {
        const employee = await person()
        const relationshipId = await position(employee)
        const [choir, posts] = [await joinable(OPEN), await joinable(OPEN, RELATIONSHIP)]
        const requests = [(await submit(employee, choir)).data, (await submit(employee, posts)).data]
        await evaluate()
        fixture.pass(2)
        await fixture.remove('identity', employee.identityId, { ttl: 10 * DAY_S })
        await fixture.remove('relationship', relationshipId, { ttl: 10 * DAY_S })
        await evaluate()
        for (const request of requests) assert.equal((await last(request)).status, 'Left')
        assert.deepEqual(await results(choir), [])
        fixture.pass(afterS)
        await fixture.put('identity', { directoryObjectId: employee.account }, employee.identityId)
        await handOver(relationshipId, employee)
        await (isNewProcess ? fixture.newService().evaluator : fixture.evaluator).evaluate(tenantId)
        for (const request of requests) {
          const now = await last(request)
          assert.deepEqual([now.status, now.actorId], [status, 'system'])
        }
        assert.equal((await results(choir)).length, status === 'Joined' ? 1 : 0)
      })
    }
  }

  it('comes back to an identity that was there before, when the person is restored as a part of it', async () => {
    const [employee, whole] = [await person(), await person()]
    const choir = await joinable(OPEN)
    const { data: membership } = await submit(employee, choir)
    await evaluate()
    fixture.pass(2)
    await fixture.remove('identity', employee.identityId, { ttl: 10 * DAY_S })
    await evaluate()
    assert.equal((await last(membership)).status, 'Left')
    fixture.pass(60)
    await fixture.remove('identity', employee.identityId, { ttl: 10 * DAY_S, mergedInto: whole.identityId })
    await evaluate()
    assert.deepEqual(await results(choir), [{ objectId: whole.identityId, relationshipId: null }])
    assert.equal((await last(membership)).status, 'Joined')
  })

  it('stays ended when the person has another one by then, and later changes are followed', async () => {
    const [employee, other] = [await person(), await person()]
    const choir = await joinable(OPEN)
    const [{ data: ended }, { data: moved }] = [await submit(employee, choir), await submit(other, choir)]
    await evaluate()
    fixture.pass(2)
    await fixture.remove('identity', employee.identityId, { ttl: 10 * DAY_S })
    await evaluate()
    fixture.pass(2)
    await fixture.put('identity', { directoryObjectId: employee.account }, employee.identityId)
    await fixture.remove('identity', other.identityId, { mergedInto: employee.identityId, ttl: DAY_S })
    await evaluate()
    assert.deepEqual([(await last(ended)).status, (await last(moved)).status], ['Left', 'Joined'])
    for (const isNewProcess of [false, true]) {
      const third = await person()
      await submit(third, choir)
      fixture.pass(2)
      await fixture.remove('identity', third.identityId, { ttl: DAY_S })
      await (isNewProcess ? fixture.newService().evaluator : fixture.evaluator).evaluate(tenantId)
      assert.deepEqual(await results(choir), [{ objectId: employee.identityId, relationshipId: null }])
    }
  })

  it('does not come back when the person had left, was removed, or the collection is gone', async () => {
    const employee = await person()
    const [left, gone] = [await joinable(OPEN), await joinable(OPEN)]
    const { data: membership } = await submit(employee, left)
    await submit(employee, gone)
    await act(employee.token, membership, 'leave')
    await evaluate()
    fixture.pass(2)
    await fixture.remove('identity', employee.identityId, { ttl: DAY_S })
    await evaluate()
    await call(admin, 'DELETE', `/collections-joinable/beta/${gone}`)
    fixture.pass(2)
    await fixture.put('identity', {}, employee.identityId)
    await evaluate()
    assert.deepEqual((await fixture.deps.requests.liveOf(tenantId, employee.identityId)).length, 0)
  })
})

describe('an identity that is merged into another', () => {
  const merge = async (from: Person, into: Person) => {
    fixture.pass(2)
    await fixture.remove('identity', from.identityId, { mergedInto: into.identityId, ttl: DAY_S })
  }

  for (const isNewProcess of [false, true]) {
    it(`leaves it its memberships and waiting requests${isNewProcess ? ', after an interruption' : ''}`, async () => {
      const [from, into] = [await person(), await person()]
      const relationshipId = await position(from)
      const [choir, posts] = [await joinable(OPEN), await joinable(OPEN, RELATIONSHIP)]
      const board = await joinable(await fixture.approvedBySomebody())
      const [inChoir, inPosts, open] = await Promise.all(
        [choir, posts, board].map(async (id) => (await submit(from, id)).data),
      )
      assert.ok(inChoir && inPosts && open)
      await evaluate()
      await handOver(relationshipId, into)
      await merge(from, into)
      await (isNewProcess ? fixture.newService().evaluator : fixture.evaluator).evaluate(tenantId)
      for (const [request, status] of [
        [inChoir, 'Joined'],
        [inPosts, 'Joined'],
        [open, 'PendingApproval'],
      ] as const) {
        const { data } = await read(admin, request)
        assert.deepEqual([data.requesterId, data.status], [into.identityId, status])
        assert.deepEqual(data.lifecycle, request.lifecycle)
      }
      assert.deepEqual(await results(posts), [{ objectId: into.identityId, relationshipId }])
      assert.equal((await submit(into, choir)).codes[0], 'AlreadyMember')
      assert.equal((await act(into.token, open, 'cancel')).data.status, 'Cancelled')
    })
  }

  it('leaves one of two memberships, the older, and one of two requests', async () => {
    const [from, into] = [await person(), await person()]
    const [choir, guild] = [await joinable(OPEN), await joinable(OPEN)]
    const board = await joinable(await fixture.approvedBySomebody())
    const [older] = [(await submit(from, choir)).data]
    const { data: olderOfInto } = await submit(into, guild)
    const { data: olderOpen } = await submit(from, board)
    fixture.pass(1)
    const { data: younger } = await submit(into, choir)
    const { data: youngerOfFrom } = await submit(from, guild)
    const { data: youngerOpen } = await submit(into, board)
    await evaluate()
    await merge(from, into)
    await evaluate()
    for (const [request, status] of [
      [older, 'Joined'],
      [olderOfInto, 'Joined'],
      [olderOpen, 'PendingApproval'],
    ] as const) {
      const { data } = await read(admin, request)
      assert.deepEqual([data.requesterId, data.status], [into.identityId, status])
    }
    for (const [request, status] of [
      [younger, 'Left'],
      [youngerOfFrom, 'Left'],
      [youngerOpen, 'Cancelled'],
    ] as const) {
      const { actorId, notes, ...now } = await last(request)
      assert.deepEqual([now.status, actorId, notes], [status, 'system', 'Merged'])
    }
    for (const id of [choir, guild]) assert.equal((await results(id)).length, 1)
  })

  it('is meant by a condition that is saved with its id afterwards, as the one that remains', async () => {
    const [first, from, into] = [await person(), await person(), await person()]
    const condition = {
      groupOperator: 'OR',
      conditions: [
        { id: 'identityId', field: 'identityId', operator: 'Equals', value: first.identityId.toUpperCase() },
        { id: 'identityId', field: 'identityId', operator: 'In', value: [from.identityId, into.identityId] },
      ],
    }
    const id = await fixture.criteria('Identity', condition)
    await evaluate()
    fixture.pass(1)
    await merge(first, from)
    await merge(from, into)
    await evaluate()
    const path = `/collections-criteria/beta/${id}`
    const before = await call<{ condition: object }>(admin, 'GET', path)
    const update = { objectType: 'Identity', condition }
    assert.equal((await call(admin, 'PUT', path, update)).status, 200)
    const after = await call<{ condition: object }>(admin, 'GET', path)
    assert.deepEqual(after.data.condition, before.data.condition)
    const copy = await fixture.criteria('Identity', condition)
    await evaluate()
    for (const each of [id, copy]) {
      const { data: members } = await call<{ memberIds: string[] }>(admin, 'GET', `/collections/beta/${each}/results`)
      assert.deepEqual(members.memberIds, [into.identityId])
    }
    const preview = { objectType: 'Identity', condition: equals('identityId', first.identityId) }
    const { data } = await call<{ counts: object }>(admin, 'POST', '/collections-criteria/beta/preview', { preview })
    assert.deepEqual(data.counts, { preview: 1, added: 1, removed: 0 })
  })

  it('is replaced in gates and conditions, and its approvals count', async () => {
    const [from, into, employee, second] = [await person(), await person(), await person(), await person()]
    const policy = approvedBy(
      { type: 'Identity', approvers: [from.identityId, second.identityId] },
      { type: 'Identity', approvers: [into.identityId, from.identityId] },
    )
    const board = await joinable(policy)
    const { data: request } = await submit(employee, board)
    await act(from.token, request, 'approve')
    const named = await fixture.criteria('Identity', equals('identityId', from.identityId))
    const unit = await fixture.put('orgUnit', { manager: { objectId: from.identityId } })
    const led = await fixture.criteria('OrgUnit', equals('orgUnitManager', from.identityId))
    await evaluate()
    fixture.pass(1)
    await fixture.put('orgUnit', { manager: { objectId: into.identityId } }, unit)
    await merge(from, into)
    await evaluate()
    const { data } = await call<{ joinPolicy: { approvalGates: { approvers: string[] }[] } }>(
      admin,
      'GET',
      `/collections-joinable/beta/${board}`,
    )
    assert.deepEqual(
      data.joinPolicy.approvalGates.map(({ approvers }) => approvers),
      [[into.identityId, second.identityId], [into.identityId]],
    )
    assert.deepEqual((await read(admin, request)).data.currentGate?.order, 2)
    for (const [id, member] of [
      [named, into.identityId],
      [led, unit],
    ] as const) {
      const { data: members } = await call<{ memberIds: string[] }>(admin, 'GET', `/collections/beta/${id}/results`)
      assert.deepEqual(members.memberIds, [member])
    }
    assert.equal((await act(into.token, request, 'approve')).data.status, 'Joined')
  })

  it('is replaced as the one approver of a gate, where requests and extensions wait as before', async () => {
    const [from, into, employee, member] = [await person(), await person(), await person(), await person()]
    const board = await joinable(approvedBy({ type: 'Identity', approvers: [from.identityId] }))
    const { data: request } = await submit(employee, board)
    const { data: membership } = await submit(member, board, { endsAt: '2031-01-01' })
    await act(from.token, membership, 'approve')
    const { data: asked } = await act(member.token, membership, 'extend', { endsAt: '2032-01-01' })
    await evaluate()
    await merge(from, into)
    await evaluate()
    assert.deepEqual((await read(admin, request)).data.lifecycle, request.lifecycle)
    assert.deepEqual((await read(admin, asked)).data.lifecycle, asked.lifecycle)
    assert.equal((await act(into.token, request, 'approve')).data.status, 'Joined')
    assert.equal((await act(into.token, asked, 'approve')).data.extension, null)
  })

  it('leaves everything to the last of several, and ends with it', async () => {
    const [first, next, final] = [await person(), await person(), await person()]
    const choir = await joinable(OPEN)
    const { data } = await submit(first, choir)
    await evaluate()
    await merge(first, next)
    await merge(next, final)
    await evaluate()
    assert.equal((await read(admin, data)).data.requesterId, final.identityId)
    fixture.pass(2)
    await fixture.remove('identity', final.identityId, { ttl: DAY_S })
    await evaluate()
    assert.equal((await last(data)).status, 'Left')
  })
})
