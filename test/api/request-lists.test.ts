import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import {
  approvedBy,
  equals,
  faults,
  type JoinableFixture,
  joinableFixture,
  OPEN,
} from '../support/api/joinable-fixture.ts'
import { operationsDuring } from '../support/contract/local-database.ts'

after(() => assert.deepEqual(faults, []))

/** All items of a list, page by page. */
async function allPages(
  { call, requests }: JoinableFixture,
  token: string,
  path: string,
): Promise<MembershipRequestDto[]> {
  const items: MembershipRequestDto[] = []
  let cursor: string | undefined
  do {
    const next = cursor === undefined ? '' : `${path.includes('?') ? '&' : '?'}nextCursor=${cursor}`
    const page = await call<MembershipRequestDto[]>(token, 'GET', `${requests}/${path}${next}`)
    assert.equal(page.status, 200, page.codes.join())
    items.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

const ids = (requests: readonly { id: string }[]) => requests.map(({ id }) => id)

describe('the requests that are for the caller', () => {
  it('are listed newest first, decided ones included, with a filter by status', async () => {
    const fixture = await joinableFixture()
    const [me, other, approver] = [await fixture.person(), await fixture.person(), await fixture.person()]
    const gate = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const submitted: MembershipRequestDto[] = []
    for (const [policy, action] of [
      [OPEN, undefined],
      [OPEN, 'leave'],
      [gate, undefined],
      [gate, 'reject'],
      [gate, 'cancel'],
    ] as const) {
      fixture.pass(1)
      const { data } = await fixture.submit(me, await fixture.joinable(policy))
      const actor = action === 'reject' ? approver : me
      submitted.unshift(action === undefined ? data : (await fixture.act(actor.token, data, action)).data)
      await fixture.submit(other, data.collectionId)
    }
    assert.deepEqual(
      submitted.map(({ status }) => status),
      ['Cancelled', 'Rejected', 'PendingApproval', 'Left', 'Joined'],
    )
    assert.deepEqual(await allPages(fixture, me.token, 'mine'), submitted)
    assert.deepEqual(ids(await allPages(fixture, me.token, 'mine?pageSize=2')), ids(submitted))
    for (const [index, { status }] of submitted.entries()) {
      assert.deepEqual(
        ids(await allPages(fixture, me.token, `mine?status=${status}`)),
        ids(submitted.slice(index, index + 1)),
      )
    }
    assert.deepEqual(await allPages(fixture, me.token, 'mine?status=Requested'), [])
    assert.deepEqual(ids(await allPages(fixture, me.token, 'pending-approval')), ids(submitted.slice(2, 3)))
    const wrong = await fixture.call(me.token, 'GET', `${fixture.requests}/mine?status=Open`)
    assert.deepEqual([wrong.codes, wrong.targets], [['InvalidValue'], ['status']])
  })

  it('keep the names of what is there, and have none of a deleted collection', async () => {
    const fixture = await joinableFixture()
    const me = await fixture.person(['User'], { displayName: 'Kari' })
    const position = await fixture.position(me, { title: 'Nurse' })
    const collectionId = await fixture.joinable(OPEN, { name: 'Choir' })
    await fixture.submit(me, collectionId)
    const [named] = await allPages(fixture, me.token, 'mine')
    const { collectionName, requesterName, relationshipId, relationshipTitle, submittedByName } = named ?? {}
    assert.deepEqual(
      [collectionName, requesterName, relationshipId, relationshipTitle, submittedByName],
      ['Choir', 'Kari', position, 'Nurse', 'Kari'],
    )
    await fixture.call(fixture.admin, 'DELETE', `/collections-joinable/beta/${collectionId}`)
    const [left] = await allPages(fixture, me.token, 'mine')
    assert.deepEqual([left?.status, left?.collectionName, left?.requesterName], ['Left', null, 'Kari'])
  })

  it('that an application without a core identity submitted have no name of the submitter', async () => {
    const fixture = await joinableFixture()
    const me = await fixture.person(['User'], { displayName: 'Kari' })
    const added = { coreIdentityIds: [me.identityId] }
    const collectionId = await fixture.joinable(OPEN)
    await fixture.call(fixture.writer, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, added)
    const [request] = await allPages(fixture, me.token, 'mine')
    assert.deepEqual(
      [request?.requesterName, request?.submittedByName, request?.relationshipTitle],
      ['Kari', null, null],
    )
  })
})

describe('the requests that await the caller', () => {
  it('are those of all collections that the caller can decide, oldest first, without own ones', async () => {
    const fixture = await joinableFixture()
    const [approver, boss] = [await fixture.person(), await fixture.person()]
    const group = await fixture.criteria('Identity', equals('identityId', approver.identityId))
    const [named, collective, managed] = [
      await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId, boss.identityId] })),
      await fixture.joinable(approvedBy({ type: 'Collection', approvers: [group] })),
      await fixture.joinable(approvedBy({ type: 'Manager' })),
    ]
    const ofOthers = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [boss.identityId] }))
    const expected: string[] = []
    for (let count = 0; count < 4; count += 1) {
      const employee = await fixture.person()
      await fixture.position(employee, { manager: { objectId: count === 3 ? boss.identityId : approver.identityId } })
      for (const collectionId of [named, collective, managed, ofOthers]) {
        // Two requests in the same millisecond.
        if (collectionId !== collective) fixture.pass(1)
        const { data } = await fixture.submit(employee, collectionId)
        const isDue = collectionId !== ofOthers && !(collectionId === managed && count === 3)
        if (isDue) expected.push(`${data.createdAt} ${data.id}`)
      }
    }
    await fixture.submit(approver, named)
    const inOrder = expected.toSorted().map((key) => key.slice(key.indexOf(' ') + 1))
    assert.equal(inOrder.length, 11)
    assert.deepEqual(ids(await allPages(fixture, approver.token, 'inbox')), inOrder)
    for (const pageSize of [1, 2, 5]) {
      assert.deepEqual(
        ids(await allPages(fixture, approver.token, `inbox?pageSize=${pageSize}`)),
        inOrder,
        String(pageSize),
      )
    }
    const [first] = await allPages(fixture, approver.token, 'inbox')
    await fixture.act(approver.token, first as MembershipRequestDto, 'approve')
    assert.deepEqual(ids(await allPages(fixture, approver.token, 'inbox')), inOrder.slice(1))
  })

  it('are none for someone who approves nothing, and refused to applications', async () => {
    const fixture = await joinableFixture()
    const [stranger, other] = [await fixture.person(), await fixture.person()]
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [other.identityId] }))
    await fixture.submit(stranger, collectionId)
    assert.deepEqual(await allPages(fixture, stranger.token, 'inbox'), [])
    for (const path of ['inbox', 'mine']) {
      assert.deepEqual((await fixture.call(fixture.writer, 'GET', `${fixture.requests}/${path}`)).codes, ['UsersOnly'])
      const nobody = fixture.caller('user', ['User'])
      assert.deepEqual((await fixture.call(nobody, 'GET', `${fixture.requests}/${path}`)).codes, [
        'CallerHasNoIdentity',
      ])
    }
  })

  it('have cursors that are valid for one person, list and filter only', async () => {
    const fixture = await joinableFixture()
    const [first, second] = [await fixture.person(), await fixture.person()]
    for (let count = 0; count < 2; count += 1) {
      const collectionId = await fixture.joinable(OPEN)
      for (const person of [first, second]) await fixture.submit(person, collectionId)
    }
    const { nextCursor } = await fixture.call(first.token, 'GET', `${fixture.requests}/mine?pageSize=1`)
    const next = (token: string, path: string) =>
      fixture.call(token, 'GET', `${fixture.requests}/${path}nextCursor=${nextCursor}`)
    assert.equal((await next(first.token, 'mine?')).status, 200)
    for (const [token, path] of [
      [second.token, 'mine?'],
      [first.token, 'inbox?'],
      [first.token, 'mine?status=Joined&'],
    ] as const) {
      assert.deepEqual((await next(token, path)).codes, ['InvalidCursor'], path)
    }
    const approvers = [first.identityId, second.identityId]
    const toApprove = await fixture.joinable(approvedBy({ type: 'Identity', approvers }))
    for (let count = 0; count < 2; count += 1) await fixture.submit(await fixture.person(), toApprove)
    const inbox = await fixture.call(first.token, 'GET', `${fixture.requests}/inbox?pageSize=1`)
    const after = (token: string) =>
      fixture.call(token, 'GET', `${fixture.requests}/inbox?nextCursor=${inbox.nextCursor}`)
    assert.equal((await after(first.token)).status, 200)
    assert.deepEqual((await after(second.token)).codes, ['InvalidCursor'])
  })
})

describe('the requests for a collection', () => {
  it('come in pages with a filter by status, for who sees all of them and for the others', async () => {
    const fixture = await joinableFixture()
    const approver = await fixture.person()
    const collectionId = await fixture.joinable(
      approvedBy({ type: 'Identity', approvers: [approver.identityId] }, { type: 'Manager' }),
    )
    const people = [await fixture.person(), await fixture.person(), await fixture.person(), await fixture.person()]
    const submitted: MembershipRequestDto[] = []
    for (const person of people) {
      await fixture.position(person, { manager: { objectId: approver.identityId } })
      submitted.unshift((await fixture.submit(person, collectionId)).data)
    }
    submitted.sort((left, right) => (`${left.createdAt} ${left.id}` < `${right.createdAt} ${right.id}` ? 1 : -1))
    const [first, second] = submitted as [MembershipRequestDto, MembershipRequestDto]
    await fixture.act(approver.token, first, 'reject')
    await fixture.act(approver.token, second, 'approve')
    for (const token of [fixture.admin, approver.token]) {
      assert.deepEqual(ids(await allPages(fixture, token, collectionId)), ids(submitted))
      assert.deepEqual(ids(await allPages(fixture, token, `${collectionId}?pageSize=1`)), ids(submitted))
      assert.deepEqual(ids(await allPages(fixture, token, `${collectionId}?status=Rejected`)), [first.id])
      const pending = `${collectionId}?status=PendingApproval&pageSize=2`
      assert.deepEqual(ids(await allPages(fixture, token, pending)), ids(submitted.slice(1)))
    }
    const mine = people.find(({ identityId }) => identityId === second.requesterId)
    assert.deepEqual(ids(await allPages(fixture, mine?.token ?? '', collectionId)), [second.id])
    const scoped = await fixture.call(fixture.admin, 'GET', `${fixture.requests}/${collectionId}?pageSize=1`)
    const others = `${fixture.requests}/${collectionId}?nextCursor=${scoped.nextCursor}`
    assert.deepEqual((await fixture.call(approver.token, 'GET', others)).codes, ['InvalidCursor'])
  })

  it('stay readable to the approvers of the gate where they ended, and to no others', async () => {
    const fixture = await joinableFixture()
    const [requester, first, second, otherSecond, boss] = [
      await fixture.person(),
      await fixture.person(),
      await fixture.person(),
      await fixture.person(),
      await fixture.person(),
    ]
    await fixture.position(requester, { manager: { objectId: boss.identityId } })
    const collectionId = await fixture.joinable(
      approvedBy(
        { type: 'Identity', approvers: [first.identityId] },
        { type: 'Identity', approvers: [second.identityId, otherSecond.identityId] },
      ),
    )
    const managed = await fixture.joinable(approvedBy({ type: 'Manager' }))
    const { data: request } = await fixture.submit(requester, collectionId)
    assert.equal((await fixture.read(second.token, request)).status, 404)
    await fixture.act(first.token, request, 'approve')
    await fixture.act(second.token, request, 'reject')
    for (const [person, status] of [
      [otherSecond, 200],
      [second, 200],
      [first, 200],
      [boss, 404],
    ] as const) {
      assert.equal((await fixture.read(person.token, request)).status, status)
      assert.equal((await allPages(fixture, person.token, collectionId)).length, status === 200 ? 1 : 0)
    }
    const { data: withdrawn } = await fixture.submit(requester, managed)
    await fixture.act(requester.token, withdrawn, 'cancel')
    assert.equal((await fixture.read(boss.token, withdrawn)).status, 200)
    assert.deepEqual(ids(await allPages(fixture, boss.token, managed)), [withdrawn.id])
    assert.equal((await fixture.read(first.token, withdrawn)).status, 404)
    assert.deepEqual(await allPages(fixture, first.token, managed), [])
  })

  it('cost a number of store operations that depends on neither the page nor the list', async () => {
    const fixture = await joinableFixture()
    const people = await Promise.all(Array.from({ length: 120 }, () => fixture.person()))
    const collectionId = await fixture.joinable(OPEN)
    const added = { coreIdentityIds: people.map(({ identityId }) => identityId) }
    await fixture.call(fixture.admin, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, added)
    const list = (pageSize: number) => () =>
      fixture.call(fixture.admin, 'GET', `${fixture.requests}/${collectionId}?pageSize=${pageSize}`)
    await list(1)()
    fixture.pass(60)
    await fixture.deps.snapshots.fresh(fixture.tenantId)
    for (const pageSize of [10, 110, 120]) {
      const operations = await operationsDuring(fixture, list(pageSize))
      const count = Object.values(operations).reduce((sum, count) => sum + count, 0)
      // All requests are of one time, so the end of the page takes a query of its own.
      assert.ok(count <= 5, `${pageSize}: ${JSON.stringify(operations)}`)
    }
    assert.deepEqual(await allPages(fixture, fixture.admin, `${collectionId}?status=Left`), [])
    const nobodys = `${fixture.requests}/${randomUUID()}`
    assert.deepEqual((await fixture.call(fixture.admin, 'GET', nobodys)).codes, ['CollectionNotFound'])
  })
})
