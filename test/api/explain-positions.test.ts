import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Explanation } from '../../shared/domain/insight/explanation.ts'
import { equals, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { call, admin, person, joinable, submit, act, position } = fixture
after(() => assert.deepEqual(faults, []))

const DAY_S = 24 * 60 * 60
const OF_POSITIONS = { objectType: 'Relationship' }

const explain = async (collectionId: string, objectId: string) =>
  (await call<Explanation>(admin, 'GET', `/collections/beta/${collectionId}/explain?objectId=${objectId}`)).data

describe('the explanation of a person with memberships by several positions', () => {
  it('tells when the membership of its request began, not one of another position that has ended', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN, OF_POSITIONS)]
    const [nurse, cook] = [await position(who), await position(who, { title: 'Cook' })]
    const { data: stays } = await submit(who, collectionId, { relationshipId: nurse })
    fixture.pass(30 * DAY_S)
    const { data: ends } = await submit(who, collectionId, { relationshipId: cook })
    fixture.pass(30 * DAY_S)
    await act(who.token, ends, 'leave')
    for (const objectId of [who.identityId, nurse]) {
      const { verdict, request, since, cause } = await explain(collectionId, objectId)
      assert.deepEqual([verdict, request?.id, since, cause], ['Member', stays.id, stays.createdAt, 'Request'])
    }
  })

  it('has the membership that ends last, in whatever order they began', async () => {
    const collectionId = await joinable(OPEN, OF_POSITIONS)
    const ends = ['2035-03-01T00:00:00.000+00:00', '2035-04-01T00:00:00.000+00:00', undefined]
    for (const until of ends.slice(1)) {
      const own = ends.slice(0, ends.indexOf(until) + 1)
      for (const order of [own, own.toReversed()]) {
        const who = await person()
        const submitted = new Map<string | undefined, string>()
        for (const endsAt of order) {
          const relationshipId = await position(who)
          const { data } = await submit(who, collectionId, { relationshipId, ...(endsAt && { endsAt }) })
          submitted.set(endsAt, data.id)
          fixture.pass(60)
        }
        const explained = await explain(collectionId, who.identityId)
        assert.deepEqual([explained.request?.id, explained.until], [submitted.get(until), until ?? null])
      }
    }
  })

  it('has the membership and not a request that waits at a gate, although that would end later', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN, OF_POSITIONS)]
    const endsAt = '2035-03-01T00:00:00.000+00:00'
    const { data: joined } = await submit(who, collectionId, { relationshipId: await position(who), endsAt })
    const { data: stored } = await call<{ name: string }>(admin, 'GET', `/collections-joinable/beta/${collectionId}`)
    const body = { ...OF_POSITIONS, name: stored.name, joinPolicy: await fixture.approvedBySomebody() }
    await call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, body)
    const { data: waiting } = await submit(who, collectionId, { relationshipId: await position(who) })
    assert.deepEqual([joined.status, waiting.status], ['Joined', 'PendingApproval'])
    const { verdict, request, until } = await explain(collectionId, who.identityId)
    assert.deepEqual([verdict, request?.id, until], ['Member', joined.id, endsAt])
  })

  it('has the membership that began first of those that end at the same time', async () => {
    const collectionId = await joinable(OPEN, OF_POSITIONS)
    for (let count = 0; count < 4; count += 1) {
      const who = await person()
      const { data: first } = await submit(who, collectionId, { relationshipId: await position(who) })
      fixture.pass(60)
      await submit(who, collectionId, { relationshipId: await position(who) })
      const { request, since } = await explain(collectionId, who.identityId)
      assert.deepEqual([request?.id, since], [first.id, first.createdAt])
    }
  })
})

describe('the explanation of a person with several positions in a criteria collection', () => {
  it('tells when the last of them was added', async () => {
    const who = await person()
    const nurses = await fixture.criteria('Relationship', equals('relationshipTitle', 'Nurse'))
    const evaluate = () => fixture.evaluator.evaluate(fixture.tenantId)
    for (const since of ['first', 'second', 'third']) {
      await position(who)
      fixture.pass(60)
      const addedAt = new Date(fixture.nowMs()).toISOString().replace('Z', '+00:00')
      await evaluate()
      const explained = await explain(nurses, who.identityId)
      assert.deepEqual([explained.verdict, explained.since], ['Member', addedAt], since)
    }
  })
})
