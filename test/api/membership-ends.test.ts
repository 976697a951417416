import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { HistoryEntry } from '../../shared/domain/insight/list-history.ts'
import { approvedBy, faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { call, admin, writer, person, joinable, submit, act, read, results, requests, put, position } = fixture
after(() => assert.deepEqual(faults, []))

const MINUTE_S = 60
const DAY_S = 24 * 60 * MINUTE_S
const DAY_MS = DAY_S * 1000

const MISSING_ID = '00000000-0000-4000-8000-000000000001'

const timestamp = (afterMs: number): string => new Date(fixture.nowMs() + afterMs).toISOString().replace('Z', '+00:00')

/** Handles the messages of deadlines that were enqueued, at the present time. */
async function deliverDeadlines(): Promise<void> {
  const { deadlines } = fixture.service.messages
  const due = fixture.enqueued.splice(0).filter(({ queue }) => queue === 'deadlines')
  for (const { message } of due) await deadlines.handle(message)
}

const addMembers = (collectionId: string, people: readonly Person[], more: object = {}, token = admin) =>
  call(token, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, {
    coreIdentityIds: people.map(({ identityId }) => identityId),
    ...more,
  })

const requestOf = async (collectionId: string, who: Person) => {
  const { data } = await call<{ requesterId: string; id: string; collectionId: string; endsAt: string | null }[]>(
    admin,
    'GET',
    `${requests}/${collectionId}`,
  )
  return data.find(({ requesterId }) => requesterId === who.identityId) ?? assert.fail('no request')
}

describe('a membership with an end', () => {
  it('ends within a minute of its end, not before, by the system with the note Expired', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data: request } = await submit(who, collectionId, { endsAt: timestamp(3_600_000) })
    assert.equal(request.endsAt, timestamp(3_600_000))
    const messages = fixture.enqueued.splice(0).filter(({ queue }) => queue === 'deadlines')
    assert.equal(messages.length, 1)
    fixture.pass(3_599)
    for (const { message } of messages) await fixture.service.messages.deadlines.handle(message)
    assert.equal((await read(admin, request)).data.status, 'Joined')
    fixture.pass(60)
    await deliverDeadlines()
    const { data: left } = await read(admin, request)
    assert.equal(left.status, 'Left')
    const { status, actorId, notes } = left.lifecycle.at(-1) ?? assert.fail()
    assert.deepEqual({ status, actorId, notes }, { status: 'Left', actorId: 'system', notes: 'Expired' })
    assert.deepEqual(await results(collectionId), [])
  })

  it('is in the history with the cause Expired, the actor system and the id of its request', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data: request } = await submit(who, collectionId, { endsAt: timestamp(MINUTE_S * 1000) })
    fixture.pass(2 * MINUTE_S)
    await deliverDeadlines()
    const { data } = await call<HistoryEntry[]>(admin, 'GET', `/collections/beta/${collectionId}/history`)
    assert.deepEqual(
      data.map(({ change, cause, actorId, requestId, until }) => ({ change, cause, actorId, requestId, until })),
      [
        { change: 'Removed', cause: 'Expired', actorId: 'system', requestId: request.id, until: null },
        {
          change: 'Added',
          cause: 'Request',
          actorId: who.identityId,
          requestId: request.id,
          until: request.endsAt,
        },
      ],
    )
  })

  it('ends on time when it was made long before', async () => {
    const [who, collectionId] = [await person(), await joinable({ ...OPEN, maxDays: 90 })]
    const { data: request } = await submit(who, collectionId)
    assert.equal(request.endsAt, timestamp(90 * DAY_MS))
    assert.equal(fixture.enqueued.splice(0).filter(({ queue }) => queue === 'deadlines').length, 0)
    fixture.pass(89.5 * DAY_S)
    await fixture.service.links.deadlines.enqueue(fixture.tenantId)
    fixture.pass(0.5 * DAY_S + MINUTE_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Left')
  })

  it('is told by explain and in the memberships of a person', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data: request } = await submit(who, collectionId, { endsAt: timestamp(5 * DAY_MS) })
    const explained = await call<{ until: string | null }>(
      admin,
      'GET',
      `/collections/beta/${collectionId}/explain?objectId=${who.identityId}`,
    )
    assert.equal(explained.data.until, request.endsAt)
    const path = `/collections/beta/memberships?identityId=${who.identityId}`
    const { data } = await call<{ collectionId: string; endsAt: string | null }[]>(admin, 'GET', path)
    assert.deepEqual(
      data.map((one) => [one.collectionId, one.endsAt]),
      [[collectionId, request.endsAt]],
    )
    await act(who.token, request, 'leave')
    const later = await call<{ until: string | null }>(
      admin,
      'GET',
      `/collections/beta/${collectionId}/explain?objectId=${who.identityId}`,
    )
    assert.equal(later.data.until, null)
  })

  it('takes a date for the midnight UTC with which it begins', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data } = await submit(who, collectionId, { endsAt: '2035-03-01' })
    assert.equal(data.endsAt, '2035-03-01T00:00:00.000+00:00')
  })

  it('takes a date for the midnight of the time zone of the tenant', async () => {
    await fixture.deps.linkSettings.register(fixture.tenantId)
    const { value, version } = await fixture.deps.linkSettings.find(fixture.tenantId)
    await fixture.deps.linkSettings.replace(fixture.tenantId, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    try {
      const { data } = await submit(await person(), await joinable(OPEN), { endsAt: '2035-07-01' })
      assert.equal(data.endsAt, '2035-06-30T22:00:00.000+00:00')
    } finally {
      const changed = await fixture.deps.linkSettings.find(fixture.tenantId)
      await fixture.deps.linkSettings.replace(fixture.tenantId, value, changed.version, undefined)
    }
  })

  for (const [claim, endsAt] of [
    ['a past time', '2020-01-01T00:00:00Z'],
    ['a date that the calendar does not have', '2031-02-30'],
    ['another text', 'next week'],
    ['a time in the year 10000', '9999-12-31T23:59:59-23:59'],
  ] as const) {
    it(`is refused with ${claim}`, async () => {
      const { status, codes, targets } = await submit(await person(), await joinable(OPEN), { endsAt })
      assert.deepEqual([status, codes, targets], [400, ['InvalidEnd'], ['/endsAt']])
    })
  }

  it('is refused with a text that is no time before a missing collection or request is', async () => {
    const [{ token, identityId }, collectionId] = [await person(), await joinable(OPEN)]
    const body = { endsAt: 'next week' }
    for (const [path, sent] of [
      [`${MISSING_ID}/submit`, body],
      [`${MISSING_ID}/submit-on-behalf`, { ...body, requesterId: identityId }],
      [`${MISSING_ID}/${MISSING_ID}/extend`, body],
      [`${collectionId}/${MISSING_ID}/extend`, body],
    ] as const) {
      const { status, codes, targets } = await call(token, 'POST', `${requests}/${path}`, sent)
      assert.deepEqual([status, codes, targets], [400, ['InvalidEnd'], ['/endsAt']], path)
    }
  })

  it('is refused with today as a date', async () => {
    const { codes } = await submit(await person(), await joinable(OPEN), { endsAt: timestamp(0).slice(0, 10) })
    assert.deepEqual(codes, ['InvalidEnd'])
  })

  it('is refused when it would last longer than maxDays', async () => {
    const collectionId = await joinable({ ...OPEN, maxDays: 30 })
    const refused = await submit(await person(), collectionId, { endsAt: timestamp(30 * DAY_MS + 1) })
    assert.deepEqual([refused.status, refused.codes, refused.targets], [400, ['EndTooLate'], ['/endsAt']])
    assert.equal((await submit(await person(), collectionId, { endsAt: timestamp(30 * DAY_MS) })).status, 201)
    const direct = await addMembers(collectionId, [await person()], { endsAt: timestamp(31 * DAY_MS) })
    assert.deepEqual(direct.codes, ['EndTooLate'])
  })

  it('that was asked for is null in a request that asked for none, until it is granted', async () => {
    const [who, approver] = [await person(), await person()]
    const gates = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const { data: request } = await submit(who, await joinable({ ...gates, maxDays: 10 }))
    assert.equal(request.endsAt, null)
    fixture.pass(DAY_S)
    const { data: joined } = await act(approver.token, request, 'approve')
    assert.deepEqual([joined.status, joined.endsAt], ['Joined', timestamp(10 * DAY_MS)])
  })

  it('stays as it is when a member is added directly, and when maxDays changes', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    await addMembers(collectionId, [who], { endsAt: timestamp(5 * DAY_MS) })
    const { endsAt } = await requestOf(collectionId, who)
    assert.equal(endsAt, timestamp(5 * DAY_MS))
    await addMembers(collectionId, [who], { endsAt: timestamp(9 * DAY_MS) })
    const body = { objectType: 'Identity', joinPolicy: { ...OPEN, maxDays: 1 } }
    assert.equal((await call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, body)).status, 200)
    assert.equal((await requestOf(collectionId, who)).endsAt, endsAt)
  })

  it('cancels a request that still waits at the end that it asked for', async () => {
    const [who, approver] = [await person(), await person()]
    const gates = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const { data: request } = await submit(who, await joinable(gates), { endsAt: timestamp(DAY_MS) })
    fixture.pass(DAY_S + MINUTE_S)
    assert.deepEqual((await act(approver.token, request, 'approve')).codes, ['InvalidRequestState'])
    await deliverDeadlines()
    const { data } = await read(admin, request)
    assert.deepEqual([data.status, data.lifecycle.at(-1)?.notes], ['Cancelled', 'Expired'])
  })

  it('does not come back with a person whose deletion it outlived', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data: ends } = await submit(who, collectionId, { endsAt: timestamp(2 * DAY_MS) })
    const { data: stays } = await submit(who, await joinable(OPEN), { endsAt: timestamp(20 * DAY_MS) })
    await fixture.remove('identity', who.identityId, { ttl: 30 * DAY_S })
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal((await read(admin, ends)).data.status, 'Left')
    fixture.pass(3 * DAY_S)
    await put('identity', { displayName: 'Somebody', directoryObjectId: who.account }, who.identityId)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal((await read(admin, ends)).data.status, 'Left')
    const { data: back } = await read(admin, stays)
    assert.deepEqual([back.status, back.endsAt], ['Joined', timestamp(17 * DAY_MS)])
  })

  it('is the later one when two people with a membership each turn out to be one', async () => {
    const [first, second] = [await person(), await person()]
    const collectionId = await joinable(OPEN)
    const { data: early } = await submit(first, collectionId, { endsAt: timestamp(2 * DAY_MS) })
    fixture.pass(1)
    const { data: late } = await submit(second, collectionId, { endsAt: timestamp(9 * DAY_MS) })
    await fixture.remove('identity', second.identityId, { ttl: 30 * DAY_S, mergedInto: first.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    const [{ data: kept }, { data: ended }] = [await read(admin, early), await read(admin, late)]
    assert.deepEqual([kept.status, kept.endsAt, ended.status], ['Joined', late.endsAt, 'Left'])
  })
})

describe('an extension', () => {
  const member = async (policy: object = OPEN) => {
    const [who, collectionId] = [await person(), await joinable(policy)]
    const { data: request } = await submit(who, collectionId, { endsAt: timestamp(5 * DAY_MS) })
    return { who, collectionId, request }
  }

  it('without gates changes the end at once: by the requester, their manager or a writer of collections', async () => {
    const { who, request } = await member()
    const manager = await person()
    await position(who, { manager: { objectId: manager.identityId } })
    for (const [index, token] of [who.token, manager.token, admin, writer].entries()) {
      const endsAt = timestamp((10 + index) * DAY_MS)
      const { status, data, codes } = await act(token, request, 'extend', { endsAt, notes: 'still here' })
      assert.deepEqual([status, data?.endsAt, data?.extension], [200, endsAt, null], codes.join())
      const entry = data.lifecycle.at(-1)
      assert.deepEqual([entry?.status, entry?.notes], ['Joined', 'still here'])
    }
    fixture.pass(6 * DAY_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Joined')
  })

  it('is refused for others, for an earlier end, for one beyond maxDays, and for what is no membership', async () => {
    const { who, request } = await member({ ...OPEN, maxDays: 20 })
    const extend = (token: string, endsAt: string) => act(token, request, 'extend', { endsAt })
    assert.deepEqual((await extend((await person()).token, timestamp(9 * DAY_MS))).codes, ['RequestNotFound'])
    assert.deepEqual((await extend(who.token, timestamp(4 * DAY_MS))).codes, ['EndNotLater'])
    assert.deepEqual((await extend(who.token, timestamp(21 * DAY_MS))).codes, ['EndTooLate'])
    assert.equal((await extend(who.token, timestamp(20 * DAY_MS))).status, 200)
    await act(who.token, request, 'leave')
    assert.deepEqual((await extend(who.token, timestamp(20 * DAY_MS))).codes, ['InvalidRequestState'])
  })

  const gated = async () => {
    const approver = await person()
    const policy = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const { who, collectionId, request } = await member(policy)
    await act(approver.token, request, 'approve')
    fixture.enqueued.splice(0)
    return { who, approver, collectionId, request }
  }

  it('with gates waits for them while the membership stays, whoever asks', async () => {
    const { who, approver, request } = await gated()
    const endsAt = timestamp(8 * DAY_MS)
    const { data: asked } = await act(admin, request, 'extend', { endsAt })
    assert.equal(asked.status, 'Joined')
    assert.deepEqual(asked.extension?.endsAt, endsAt)
    assert.deepEqual(asked.extension?.currentGate, { order: 1, type: 'Identity', approverCount: 1 })
    assert.deepEqual((await act(who.token, request, 'extend', { endsAt })).codes, ['InvalidRequestState'])
    const inbox = await call<{ id: string }[]>(approver.token, 'GET', `${requests}/inbox`)
    assert.deepEqual(
      inbox.data.map(({ id }) => id),
      [request.id],
    )
    assert.deepEqual((await act(who.token, request, 'approve')).codes, ['SelfApproval'])
    const { data: granted } = await act(approver.token, request, 'approve')
    assert.deepEqual([granted.status, granted.endsAt, granted.extension], ['Joined', endsAt, null])
    assert.deepEqual(
      granted.lifecycle.slice(-3).map(({ status }) => status),
      ['PendingApproval', 'Approved', 'Joined'],
    )
  })

  it('that waits at the end keeps the membership, which ends within a minute of a rejection', async () => {
    const { who, approver, request } = await gated()
    await act(who.token, request, 'extend', { endsAt: timestamp(30 * DAY_MS) })
    fixture.pass(6 * DAY_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Joined')
    const { data: rejected } = await act(approver.token, request, 'reject', { notes: 'no' })
    assert.deepEqual([rejected.status, rejected.extension], ['Joined', null])
    fixture.pass(MINUTE_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Left')
  })

  it('that nobody decides keeps the membership for 14 days after its end', async () => {
    const { who, request } = await gated()
    await act(who.token, request, 'extend', { endsAt: timestamp(90 * DAY_MS) })
    fixture.pass(19 * DAY_S - MINUTE_S)
    await fixture.service.links.deadlines.enqueue(fixture.tenantId)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Joined')
    await fixture.service.links.deadlines.enqueue(fixture.tenantId)
    fixture.pass(2 * MINUTE_S)
    await deliverDeadlines()
    assert.deepEqual(
      [(await read(admin, request)).data.status, (await read(admin, request)).data.extension],
      ['Left', null],
    )
  })

  it('follows the gates of a policy that changes meanwhile', async () => {
    const { who, approver, collectionId, request } = await gated()
    const other = await person()
    const endsAt = timestamp(8 * DAY_MS)
    await act(who.token, request, 'extend', { endsAt })
    const update = (joinPolicy: object) =>
      call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, { objectType: 'Identity', joinPolicy })
    await update(approvedBy({ type: 'Identity', approvers: [other.identityId] }))
    assert.deepEqual((await act(approver.token, request, 'approve')).codes, ['NotCurrentApprover'])
    await update(OPEN)
    const { data } = await read(who.token, request)
    assert.deepEqual([data.status, data.endsAt, data.extension], ['Joined', endsAt, null])
  })

  it('follows a person who is merged into another', async () => {
    const { who, approver, request } = await gated()
    await act(who.token, request, 'extend', { endsAt: timestamp(8 * DAY_MS) })
    const other = await person()
    await fixture.remove('identity', who.identityId, { ttl: 30 * DAY_S, mergedInto: other.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { data } = await read(other.token, request)
    assert.deepEqual([data.requesterId, data.status, data.extension !== null], [other.identityId, 'Joined', true])
    assert.equal((await act(approver.token, request, 'approve')).status, 200)
  })
})

describe('a request with a deadline', () => {
  it('is cancelled by the system after the requestDays of its policy', async () => {
    const approver = await person()
    const policy = { ...approvedBy({ type: 'Identity', approvers: [approver.identityId] }), requestDays: 7 }
    const { data: request } = await submit(await person(), await joinable(policy))
    await fixture.service.links.deadlines.enqueue(fixture.tenantId)
    fixture.pass(7 * DAY_S - MINUTE_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'PendingApproval')
    await fixture.service.links.deadlines.enqueue(fixture.tenantId)
    fixture.pass(2 * MINUTE_S)
    await deliverDeadlines()
    const { data } = await read(admin, request)
    const { status, actorId, notes } = data.lifecycle.at(-1) ?? assert.fail()
    assert.deepEqual({ status, actorId, notes }, { status: 'Cancelled', actorId: 'system', notes: 'Expired' })
  })

  it('has the deadline of the policy as it is changed', async () => {
    const approver = await person()
    const gates = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const collectionId = await joinable(gates)
    const { data: request } = await submit(await person(), collectionId)
    const body = { objectType: 'Identity', joinPolicy: { ...gates, requestDays: 1 } }
    await call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, body)
    fixture.pass(DAY_S + MINUTE_S)
    await deliverDeadlines()
    assert.equal((await read(admin, request)).data.status, 'Cancelled')
  })
})

describe('a rejection', () => {
  it('needs notes where the policy says so', async () => {
    const approver = await person()
    const policy = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
    const { data: request } = await submit(await person(), await joinable({ ...policy, rejectionNeedsReason: true }))
    const refused = await act(approver.token, request, 'reject', { notes: ' ' })
    assert.deepEqual([refused.status, refused.codes], [400, ['NotesRequired']])
    assert.equal((await act(approver.token, request, 'reject', { notes: 'full' })).data.status, 'Rejected')
  })
})
