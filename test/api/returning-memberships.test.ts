import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { removeMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import type { JoinDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, tenantId, call, submit, act, read, results, joinable, person } = fixture

after(() => assert.deepEqual(faults, []))

const DAY_S = 24 * 60 * 60
const RESTORABLE = { ttl: 90 * DAY_S }

const evaluate = () => fixture.evaluator.evaluate(tenantId)
const evaluateDayLater = () => {
  fixture.pass(DAY_S + 60)
  return evaluate()
}
const restore = ({ identityId, account }: Person) =>
  fixture.put('identity', { displayName: 'Back', directoryObjectId: account }, identityId)
const change = (method: 'POST' | 'DELETE', collectionId: string, { identityId }: Person, end: object = {}) =>
  call<Record<string, number>>(admin, method, `/collections-joinable/beta/${collectionId}/results/members`, {
    coreIdentityIds: [identityId],
    ...end,
  })

/** A person whose deletion has ended a membership. */
async function deletedMember(collectionId: string, end: object = {}): Promise<Person> {
  const employee = await person()
  await change('POST', collectionId, employee, end)
  await evaluate()
  fixture.pass(2)
  await fixture.remove('identity', employee.identityId, RESTORABLE)
  await evaluate()
  fixture.pass(60)
  return employee
}

describe('a membership that found its slot taken when its person came back', () => {
  for (const [claim, end] of [
    ['left', async (request, whole) => act(whole.token, request, 'leave')],
    ['was removed', async ({ collectionId }, whole) => change('DELETE', collectionId, whole)],
  ] satisfies [string, (request: { id: string; collectionId: string }, whole: Person) => Promise<unknown>][]) {
    it(`does not come back after the person, now a part of another one, ${claim}`, async () => {
      const [choir, whole] = [await joinable(OPEN), await person()]
      const { data: own } = await submit(whole, choir)
      const former = await deletedMember(choir)
      await fixture.remove('identity', former.identityId, { ...RESTORABLE, mergedInto: whole.identityId })
      await restore(whole)
      await evaluate()
      assert.equal((await results(choir)).length, 1)
      await end(own, whole)
      assert.deepEqual(await results(choir), [])
      await evaluateDayLater()
      assert.deepEqual(await results(choir), [])
    })
  }

  it('does not come back after the person, who had been added directly by then, was removed', async () => {
    const choir = await joinable(OPEN)
    const employee = await deletedMember(choir)
    await restore(employee)
    assert.deepEqual((await change('POST', choir, employee)).data, { added: 1, alreadyMembers: 0 })
    await evaluate()
    fixture.pass(10 * DAY_S)
    await evaluate()
    assert.deepEqual((await change('DELETE', choir, employee)).data, { removed: 1, notMembers: 0 })
    await evaluateDayLater()
    assert.deepEqual(await results(choir), [])
  })
})

describe('a membership that comes back', () => {
  const mergeInto = ({ identityId: mergedInto }: Person, { identityId }: Person) =>
    fixture.remove('identity', identityId, { ...RESTORABLE, mergedInto })
  const endsOf = async ({ identityId }: Person) =>
    (await fixture.deps.requests.liveOf(tenantId, identityId)).map(({ value }) => value.endsAt)

  for (const isMerged of [false, true]) {
    it(`replaces an open request of the person${isMerged ? ', now a part of another one' : ''}`, async () => {
      const choir = await joinable(await fixture.approvedBySomebody())
      const former = await deletedMember(choir)
      const whole = isMerged ? await person() : former
      if (isMerged) await mergeInto(whole, former)
      else await restore(former)
      const { data: open } = await submit(whole, choir)
      assert.equal(open.status, 'PendingApproval')
      await evaluate()
      const { actorId, notes, status } = (await read(whole.token, open)).data.lifecycle.at(-1) ?? assert.fail()
      assert.deepEqual({ actorId, notes, status }, { actorId: 'system', notes: 'Merged', status: 'Cancelled' })
      assert.deepEqual(await results(choir), [{ objectId: whole.identityId, relationshipId: null }])
      await evaluateDayLater()
      assert.equal((await results(choir)).length, 1)
    })
  }

  it('beside one that ends earlier leaves its end to it', async () => {
    for (const end of [{}, { endsAt: '2031-06-01T08:00:00.000+00:00' }]) {
      const choir = await joinable(OPEN)
      const employee = await deletedMember(choir, end)
      await restore(employee)
      await change('POST', choir, employee, { endsAt: '2031-05-01T08:00:00.000+00:00' })
      await evaluate()
      assert.deepEqual(await endsOf(employee), [end.endsAt])
    }
  })

  it('changes no end of another one that an earlier release has left it beside', async () => {
    const choir = await joinable(OPEN)
    const employee = await deletedMember(choir, { endsAt: '2031-05-01T08:00:00.000+00:00' })
    await restore(employee)
    await change('POST', choir, employee, { endsAt: '2030-12-01T08:00:00.000+00:00' })
    fixture.pass(25 * DAY_S)
    await evaluate()
    assert.deepEqual(await endsOf(employee), ['2030-12-01T08:00:00.000+00:00'])
    assert.deepEqual(await fixture.deps.requests.restorable(tenantId, fixture.deps.nowMs()), [])
  })

  it('leaves its end to the membership that the identity it was merged into has had for two days', async () => {
    const [choir, whole] = [await joinable(OPEN), await person()]
    const former = await deletedMember(choir)
    await change('POST', choir, whole, { endsAt: '2031-05-01T08:00:00.000+00:00' })
    await evaluate()
    fixture.pass(2 * DAY_S)
    await evaluate()
    await mergeInto(whole, former)
    await evaluate()
    assert.deepEqual(await endsOf(whole), [undefined])
  })

  it('ends with the last of several that come back to one person', async () => {
    const [choir, whole] = [await joinable(OPEN), await person()]
    const ends = ['2031-05-01T08:00:00.000+00:00', '2031-07-01T08:00:00.000+00:00', '2031-06-01T08:00:00.000+00:00']
    const parts: Person[] = []
    for (const endsAt of ends) parts.push(await deletedMember(choir, { endsAt }))
    for (const part of parts) await mergeInto(whole, part)
    await evaluate()
    assert.deepEqual(await endsOf(whole), [ends[1]])
  })
})

it('a direct removal ends the membership of a part of a part of the person before the evaluation moves it', async () => {
  const [choir, part, middle, whole] = [await joinable(OPEN), await person(), await person(), await person()]
  await submit(part, choir)
  await fixture.remove('identity', part.identityId, { ...RESTORABLE, mergedInto: middle.identityId })
  await fixture.remove('identity', middle.identityId, { ...RESTORABLE, mergedInto: whole.identityId })
  assert.deepEqual((await change('DELETE', choir, whole)).data, { removed: 1, notMembers: 0 })
  await evaluate()
  assert.deepEqual(await results(choir), [])
})

/** A position that is deleted, and whose deletion has ended the membership of its person in a collection of positions. */
async function deletedPosition(employee: Person) {
  const first = await fixture.position(employee)
  const posts = await joinable(OPEN, { objectType: 'Relationship' })
  await submit(employee, posts, { relationshipId: first })
  await evaluate()
  fixture.pass(2)
  await fixture.remove('relationship', first, RESTORABLE)
  await evaluate()
  fixture.pass(60)
  const restoreFor = async ({ identityId: objectId }: Person) => {
    await fixture.put('relationship', { identity: { objectId }, title: 'Nurse' }, first)
    await evaluate()
  }
  return { posts, first, restoreFor }
}

describe('a membership that ended by a deletion', () => {
  it('does not come back with its position after all memberships of the person were ended directly', async () => {
    const employee = await person()
    const [first, second] = [await fixture.position(employee), await fixture.position(employee)]
    const posts = await joinable(OPEN, { objectType: 'Relationship' })
    for (const relationshipId of [first, second]) await submit(employee, posts, { relationshipId })
    await evaluate()
    fixture.pass(2)
    await fixture.remove('relationship', first, RESTORABLE)
    await evaluate()
    assert.deepEqual((await change('DELETE', posts, employee)).data, { removed: 1, notMembers: 0 })
    fixture.pass(60)
    await fixture.put('relationship', { identity: { objectId: employee.identityId }, title: 'Nurse' }, first)
    await evaluate()
    assert.deepEqual(await results(posts), [])
  })

  it('does not come back with its position after the person, now a part of another one, was removed', async () => {
    const [former, whole] = [await person(), await person()]
    const { posts, restoreFor } = await deletedPosition(former)
    await submit(whole, posts, { relationshipId: await fixture.position(whole) })
    await fixture.remove('identity', former.identityId, { ...RESTORABLE, mergedInto: whole.identityId })
    await evaluate()
    assert.deepEqual((await change('DELETE', posts, whole)).data, { removed: 1, notMembers: 0 })
    fixture.pass(60)
    await restoreFor(whole)
    assert.deepEqual(await results(posts), [])
  })

  it('comes back with its position after its person was a part of another one for an hour', async () => {
    const [former, whole] = [await person(), await person()]
    const { posts, first, restoreFor } = await deletedPosition(former)
    await fixture.remove('identity', former.identityId, { ...RESTORABLE, mergedInto: whole.identityId })
    await evaluate()
    fixture.pass(3600)
    await restore(former)
    await evaluate()
    await restoreFor(former)
    assert.deepEqual(await results(posts), [{ objectId: former.identityId, relationshipId: first }])
  })

  it('comes back with its position to the person whose parts were deleted for good by then', async () => {
    const [former, middle, whole] = [await person(), await person(), await person()]
    const { posts, first, restoreFor } = await deletedPosition(former)
    await fixture.remove('identity', former.identityId, { ...RESTORABLE, mergedInto: middle.identityId })
    await fixture.remove('identity', middle.identityId, { ttl: 3600, mergedInto: whole.identityId })
    await evaluate()
    fixture.pass(2 * DAY_S)
    await evaluate()
    await restoreFor(whole)
    assert.deepEqual(await results(posts), [{ objectId: whole.identityId, relationshipId: first }])
  })

  it('does not come back with a person who was removed directly meanwhile, and comes back elsewhere', async () => {
    const [choir, guild, employee] = [await joinable(OPEN), await joinable(OPEN), await person()]
    await submit(employee, guild)
    await submit(employee, choir)
    await evaluate()
    fixture.pass(2)
    await fixture.remove('identity', employee.identityId, RESTORABLE)
    await evaluate()
    assert.deepEqual((await change('DELETE', choir, employee)).data, { removed: 0, notMembers: 1 })
    fixture.pass(60)
    await restore(employee)
    await evaluate()
    assert.deepEqual(await results(choir), [])
    assert.equal((await results(guild)).length, 1)
  })

  it('ends when it comes back at the moment of a direct removal', async () => {
    const choir = await joinable(OPEN)
    const employee = await deletedMember(choir)
    const { requests } = fixture.deps
    let isBack = false
    const save: JoinDependencies['requests']['save'] = async (changes) => {
      if (!isBack) {
        isBack = true
        await restore(employee)
        await evaluate()
        assert.equal((await results(choir)).length, 1)
      }
      return requests.save(changes)
    }
    const deps = { ...fixture.deps, requests: { ...requests, save } }
    const actor = { id: 'somebody', identityId: undefined }
    const body = { coreIdentityIds: [employee.identityId] }
    assert.deepEqual(await removeMembersDirectly(tenantId, choir, body, actor, deps), { removed: 1, notMembers: 0 })
    assert.deepEqual(await results(choir), [])
  })
})
