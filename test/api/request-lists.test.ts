import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, equals, faults, type JoinableWorld, joinableWorld, OPEN } from '../support/api/joinable-world.ts'
import { operationsDuring } from '../support/contract/local-database.ts'

after(() => assert.deepEqual(faults, []))

/** All items of a list, page by page. */
async function allPages(
  { call, requests }: JoinableWorld,
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
    const world = await joinableWorld()
    const [me, other, approver] = [await world.person(), await world.person(), await world.person()]
    const gate = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const submitted: MembershipRequestDto[] = []
    for (const [policy, action] of [
      [OPEN, undefined],
      [OPEN, 'leave'],
      [gate, undefined],
      [gate, 'reject'],
      [gate, 'cancel'],
    ] as const) {
      world.pass(1)
      const { data } = await world.submit(me, await world.joinable(policy))
      const actor = action === 'reject' ? approver : me
      submitted.unshift(action === undefined ? data : (await world.act(actor.token, data, action)).data)
      await world.submit(other, data.collectionId)
    }
    assert.deepEqual(
      submitted.map(({ status }) => status),
      ['Cancelled', 'Rejected', 'PendingApproval', 'Left', 'Joined'],
    )
    assert.deepEqual(await allPages(world, me.token, 'mine'), submitted)
    assert.deepEqual(ids(await allPages(world, me.token, 'mine?pageSize=2')), ids(submitted))
    for (const [index, { status }] of submitted.entries()) {
      assert.deepEqual(
        ids(await allPages(world, me.token, `mine?status=${status}`)),
        ids(submitted.slice(index, index + 1)),
      )
    }
    assert.deepEqual(await allPages(world, me.token, 'mine?status=Requested'), [])
    assert.deepEqual(ids(await allPages(world, me.token, 'pending-approval')), ids(submitted.slice(2, 3)))
    const wrong = await world.call(me.token, 'GET', `${world.requests}/mine?status=Open`)
    assert.deepEqual([wrong.codes, wrong.targets], [['InvalidValue'], ['status']])
  })

  it('keep the names of what is there, and have none of a deleted collection', async () => {
    const world = await joinableWorld()
    const me = await world.person(['User'], { displayName: 'Kari' })
    const position = await world.position(me, { title: 'Nurse' })
    const collectionId = await world.joinable(OPEN, { name: 'Choir' })
    await world.submit(me, collectionId)
    const [named] = await allPages(world, me.token, 'mine')
    const { collectionName, requesterName, relationshipId, relationshipTitle, submittedByName } = named ?? {}
    assert.deepEqual(
      [collectionName, requesterName, relationshipId, relationshipTitle, submittedByName],
      ['Choir', 'Kari', position, 'Nurse', 'Kari'],
    )
    await world.call(world.admin, 'DELETE', `/collections-joinable/beta/${collectionId}`)
    const [left] = await allPages(world, me.token, 'mine')
    assert.deepEqual([left?.status, left?.collectionName, left?.requesterName], ['Left', null, 'Kari'])
  })

  it('that an application without a core identity submitted have no name of the submitter', async () => {
    const world = await joinableWorld()
    const me = await world.person(['User'], { displayName: 'Kari' })
    const added = { coreIdentityIds: [me.identityId] }
    const collectionId = await world.joinable(OPEN)
    await world.call(world.writer, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, added)
    const [request] = await allPages(world, me.token, 'mine')
    assert.deepEqual(
      [request?.requesterName, request?.submittedByName, request?.relationshipTitle],
      ['Kari', null, null],
    )
  })
})

describe('the requests that await the caller', () => {
  it('are those of all collections that the caller can decide, oldest first, without own ones', async () => {
    const world = await joinableWorld()
    const [approver, boss] = [await world.person(), await world.person()]
    const group = await world.criteria('Identity', equals('identityId', approver.identityId))
    const [named, collective, managed] = [
      await world.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId, boss.identityId] })),
      await world.joinable(approvedBy({ type: 'Collection', approvers: [group] })),
      await world.joinable(approvedBy({ type: 'Manager' })),
    ]
    const ofOthers = await world.joinable(approvedBy({ type: 'Identity', approvers: [boss.identityId] }))
    const expected: string[] = []
    for (let count = 0; count < 4; count += 1) {
      const employee = await world.person()
      await world.position(employee, { manager: { objectId: count === 3 ? boss.identityId : approver.identityId } })
      for (const collectionId of [named, collective, managed, ofOthers]) {
        // Two requests in the same millisecond.
        if (collectionId !== collective) world.pass(1)
        const { data } = await world.submit(employee, collectionId)
        const isDue = collectionId !== ofOthers && !(collectionId === managed && count === 3)
        if (isDue) expected.push(`${data.createdAt} ${data.id}`)
      }
    }
    await world.submit(approver, named)
    const inOrder = expected.toSorted().map((key) => key.slice(key.indexOf(' ') + 1))
    assert.equal(inOrder.length, 11)
    assert.deepEqual(ids(await allPages(world, approver.token, 'inbox')), inOrder)
    for (const pageSize of [1, 2, 5]) {
      assert.deepEqual(
        ids(await allPages(world, approver.token, `inbox?pageSize=${pageSize}`)),
        inOrder,
        String(pageSize),
      )
    }
    const [first] = await allPages(world, approver.token, 'inbox')
    await world.act(approver.token, first as MembershipRequestDto, 'approve')
    assert.deepEqual(ids(await allPages(world, approver.token, 'inbox')), inOrder.slice(1))
  })

  it('are none for someone who approves nothing, and refused to applications', async () => {
    const world = await joinableWorld()
    const [stranger, other] = [await world.person(), await world.person()]
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [other.identityId] }))
    await world.submit(stranger, collectionId)
    assert.deepEqual(await allPages(world, stranger.token, 'inbox'), [])
    for (const path of ['inbox', 'mine']) {
      assert.deepEqual((await world.call(world.writer, 'GET', `${world.requests}/${path}`)).codes, ['UsersOnly'])
      const nobody = world.caller('user', ['User'])
      assert.deepEqual((await world.call(nobody, 'GET', `${world.requests}/${path}`)).codes, ['CallerHasNoIdentity'])
    }
  })

  it('have cursors that are valid for one person, list and filter only', async () => {
    const world = await joinableWorld()
    const [first, second] = [await world.person(), await world.person()]
    for (let count = 0; count < 2; count += 1) {
      const collectionId = await world.joinable(OPEN)
      for (const person of [first, second]) await world.submit(person, collectionId)
    }
    const { nextCursor } = await world.call(first.token, 'GET', `${world.requests}/mine?pageSize=1`)
    const next = (token: string, path: string) =>
      world.call(token, 'GET', `${world.requests}/${path}nextCursor=${nextCursor}`)
    assert.equal((await next(first.token, 'mine?')).status, 200)
    for (const [token, path] of [
      [second.token, 'mine?'],
      [first.token, 'inbox?'],
      [first.token, 'mine?status=Joined&'],
    ] as const) {
      assert.deepEqual((await next(token, path)).codes, ['InvalidCursor'], path)
    }
    const approvers = [first.identityId, second.identityId]
    const toApprove = await world.joinable(approvedBy({ type: 'Identity', approvers }))
    for (let count = 0; count < 2; count += 1) await world.submit(await world.person(), toApprove)
    const inbox = await world.call(first.token, 'GET', `${world.requests}/inbox?pageSize=1`)
    const after = (token: string) => world.call(token, 'GET', `${world.requests}/inbox?nextCursor=${inbox.nextCursor}`)
    assert.equal((await after(first.token)).status, 200)
    assert.deepEqual((await after(second.token)).codes, ['InvalidCursor'])
  })
})

describe('the requests for a collection', () => {
  it('come in pages with a filter by status, for who sees all of them and for the others', async () => {
    const world = await joinableWorld()
    const approver = await world.person()
    const collectionId = await world.joinable(
      approvedBy({ type: 'Identity', approvers: [approver.identityId] }, { type: 'Manager' }),
    )
    const people = [await world.person(), await world.person(), await world.person(), await world.person()]
    const submitted: MembershipRequestDto[] = []
    for (const person of people) {
      await world.position(person, { manager: { objectId: approver.identityId } })
      submitted.unshift((await world.submit(person, collectionId)).data)
    }
    submitted.sort((left, right) => (`${left.createdAt} ${left.id}` < `${right.createdAt} ${right.id}` ? 1 : -1))
    const [first, second] = submitted as [MembershipRequestDto, MembershipRequestDto]
    await world.act(approver.token, first, 'reject')
    await world.act(approver.token, second, 'approve')
    for (const token of [world.admin, approver.token]) {
      assert.deepEqual(ids(await allPages(world, token, collectionId)), ids(submitted))
      assert.deepEqual(ids(await allPages(world, token, `${collectionId}?pageSize=1`)), ids(submitted))
      assert.deepEqual(ids(await allPages(world, token, `${collectionId}?status=Rejected`)), [first.id])
      const pending = `${collectionId}?status=PendingApproval&pageSize=2`
      assert.deepEqual(ids(await allPages(world, token, pending)), ids(submitted.slice(1)))
    }
    const mine = people.find(({ identityId }) => identityId === second.requesterId)
    assert.deepEqual(ids(await allPages(world, mine?.token ?? '', collectionId)), [second.id])
    const scoped = await world.call(world.admin, 'GET', `${world.requests}/${collectionId}?pageSize=1`)
    const others = `${world.requests}/${collectionId}?nextCursor=${scoped.nextCursor}`
    assert.deepEqual((await world.call(approver.token, 'GET', others)).codes, ['InvalidCursor'])
  })

  it('stay readable to the approvers of the gate where they ended, and to no others', async () => {
    const world = await joinableWorld()
    const [requester, first, second, otherSecond, boss] = [
      await world.person(),
      await world.person(),
      await world.person(),
      await world.person(),
      await world.person(),
    ]
    await world.position(requester, { manager: { objectId: boss.identityId } })
    const collectionId = await world.joinable(
      approvedBy(
        { type: 'Identity', approvers: [first.identityId] },
        { type: 'Identity', approvers: [second.identityId, otherSecond.identityId] },
      ),
    )
    const managed = await world.joinable(approvedBy({ type: 'Manager' }))
    const { data: request } = await world.submit(requester, collectionId)
    assert.equal((await world.read(second.token, request)).status, 404)
    await world.act(first.token, request, 'approve')
    await world.act(second.token, request, 'reject')
    for (const [person, status] of [
      [otherSecond, 200],
      [second, 200],
      [first, 200],
      [boss, 404],
    ] as const) {
      assert.equal((await world.read(person.token, request)).status, status)
      assert.equal((await allPages(world, person.token, collectionId)).length, status === 200 ? 1 : 0)
    }
    const { data: withdrawn } = await world.submit(requester, managed)
    await world.act(requester.token, withdrawn, 'cancel')
    assert.equal((await world.read(boss.token, withdrawn)).status, 200)
    assert.deepEqual(ids(await allPages(world, boss.token, managed)), [withdrawn.id])
    assert.equal((await world.read(first.token, withdrawn)).status, 404)
    assert.deepEqual(await allPages(world, first.token, managed), [])
  })

  it('cost a number of store operations that depends on neither the page nor the list', async () => {
    const world = await joinableWorld()
    const people = await Promise.all(Array.from({ length: 120 }, () => world.person()))
    const collectionId = await world.joinable(OPEN)
    const added = { coreIdentityIds: people.map(({ identityId }) => identityId) }
    await world.call(world.admin, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, added)
    const list = (pageSize: number) => () =>
      world.call(world.admin, 'GET', `${world.requests}/${collectionId}?pageSize=${pageSize}`)
    await list(1)()
    world.pass(60)
    await world.deps.snapshots.fresh(world.tenantId)
    for (const pageSize of [10, 110, 120]) {
      const operations = await operationsDuring(world, list(pageSize))
      const count = Object.values(operations).reduce((sum, count) => sum + count, 0)
      // All requests are of one time, so the end of the page takes a query of its own.
      assert.ok(count <= 5, `${pageSize}: ${JSON.stringify(operations)}`)
    }
    assert.deepEqual(await allPages(world, world.admin, `${collectionId}?status=Left`), [])
    const nobodys = `${world.requests}/${randomUUID()}`
    assert.deepEqual((await world.call(world.admin, 'GET', nobodys)).codes, ['CollectionNotFound'])
  })
})
