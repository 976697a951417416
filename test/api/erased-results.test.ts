import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { erasePersonalData } from '../../shared/domain/connectors/erase-personal-data.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { toTimestamp } from '../../shared/kernel/timestamp.ts'
import { approvedBy, faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, call, container, joinable, person, position, put, remove, requests, tenantId } = fixture

after(() => assert.deepEqual(faults, []))

const TTL_S = 86_400

async function erase(who: Person): Promise<void> {
  await remove('identity', who.identityId, { ttl: TTL_S })
  await erasePersonalData(tenantId, who.identityId, fixture.service.connectors)
}

type Prepared = { readonly sender: Person; readonly body: object; readonly change: () => Promise<unknown> }

/** All stored results, as text. */
async function results(): Promise<string> {
  const { resources } = await container('idempotencyKeys').items.readAll().fetchAll()
  return JSON.stringify(resources)
}

describe('The stored results of submissions', () => {
  it('have no name and notes of an erased requester, and the submission sent again returns the one request without them', async () => {
    const [manager, report] = [await person(), await person(['User'], { displayName: 'Erasable Name' })]
    const collectionId = await joinable(OPEN)
    await position(report, { manager: { objectId: manager.identityId } })
    const path = `${requests}/${collectionId}/submit-on-behalf`
    const body = { requesterId: report.identityId, notes: 'Erasable note' }
    const key = { 'idempotency-key': randomUUID() }
    const send = () => call<MembershipRequestDto>(manager.token, 'POST', path, body, key)
    const first = await send()
    assert.equal(first.status, 201)
    assert.match(await results(), /Erasable Name.*Erasable note|Erasable note.*Erasable Name/)
    await erase(report)
    assert.doesNotMatch(await results(), /Erasable/)
    const again = await send()
    const { id, requesterName, notes } = again.data
    assert.deepEqual([again.status, id, requesterName, notes], [201, first.data.id, null, null])
    assert.doesNotMatch(JSON.stringify(again.data) + (await results()), /Erasable/)
  })

  it('have no name of an erased approver, and the submission sent again returns the one request as it is', async () => {
    const [employee, other] = [await person(), await person()]
    const approver = await person(['User'], { displayName: 'Erasable Approver' })
    const approvers = [approver.identityId, other.identityId]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers }))
    const send = (key: string) =>
      call<MembershipRequestDto>(
        employee.token,
        'POST',
        `${requests}/${collectionId}/submit`,
        {},
        { 'idempotency-key': key },
      )
    const key = randomUUID()
    const first = await send(key)
    assert.deepEqual(first.data.approverNames, ['Erasable Approver', 'Somebody'])
    await erase(approver)
    assert.doesNotMatch(await results(), /Erasable/)
    const again = await send(key)
    assert.deepEqual([again.status, again.data.id, again.data.approverNames], [201, first.data.id, ['Somebody']])
    assert.equal(again.headers.location, first.headers.location)
    const all = await call<MembershipRequestDto[]>(admin, 'GET', `${requests}/${collectionId}`)
    assert.deepEqual(
      all.data.map(({ id }) => id),
      [first.data.id],
    )
    assert.equal((await send(key)).headers['idempotency-replayed'], 'true')
  })

  for (const [change, prepare] of [
    [
      'the position is deleted',
      async (me) => {
        const relationshipId = await position(me)
        return { sender: me, body: { relationshipId }, change: () => remove('relationship', relationshipId) }
      },
    ],
    [
      'the position has ended',
      async (me) => {
        const attributes = { identity: { objectId: me.identityId } }
        const relationshipId = await position(me)
        const end = () => put('relationship', { ...attributes, endDate: '2030-05-31' }, relationshipId)
        return { sender: me, body: { relationshipId }, change: end }
      },
    ],
    [
      'the membership has ended',
      async (me) => {
        const endsAt = toTimestamp(fixture.nowMs() + 60_000)
        return { sender: me, body: { endsAt }, change: async () => fixture.pass(120) }
      },
    ],
    [
      'the caller is not the manager any more',
      async (me) => {
        const manager = await person()
        const relationshipId = await position(me, { manager: { objectId: manager.identityId } })
        const leave = () => put('relationship', { identity: { objectId: me.identityId } }, relationshipId)
        return { sender: manager, body: { requesterId: me.identityId }, change: leave }
      },
    ],
  ] satisfies [string, (me: Person) => Promise<Prepared>][]) {
    it(`are erased with those of others, and the submission sent again returns its request after ${change}`, async () => {
      const [me, other, collectionId] = [await person(), await person(), await joinable(OPEN)]
      const { sender, body, change } = await prepare(me)
      const path = `${requests}/${collectionId}/submit${sender === me ? '' : '-on-behalf'}`
      const key = { 'idempotency-key': randomUUID() }
      const send = () => call<MembershipRequestDto>(sender.token, 'POST', path, body, key)
      const first = await send()
      await change()
      await erase(other)
      const again = await send()
      assert.deepEqual([first.status, again.status, again.codes], [201, 201, []])
      assert.equal(again.data.id, first.data.id)
    })
  }

  it('are the only ones that are erased: a collection that was deleted is not created again', async () => {
    const body = { objectType: 'Identity', name: 'Choir', joinPolicy: OPEN }
    const send = (key: string) =>
      call<string>(admin, 'POST', '/collections-joinable/beta', body, { 'idempotency-key': key })
    const key = randomUUID()
    const first = await send(key)
    await call(admin, 'DELETE', `/collections-joinable/beta/${first.data}`)
    await erase(await person())
    const again = await send(key)
    assert.deepEqual([again.status, again.data, again.headers['idempotency-replayed']], [201, first.data, 'true'])
    assert.equal((await call(admin, 'GET', `/collections-joinable/beta/${first.data}`)).status, 404)
  })
})
