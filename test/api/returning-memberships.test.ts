import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, tenantId, call, submit, act, results, joinable, person } = fixture

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
const change = (method: 'POST' | 'DELETE', collectionId: string, { identityId }: Person) =>
  call<Record<string, number>>(admin, method, `/collections-joinable/beta/${collectionId}/results/members`, {
    coreIdentityIds: [identityId],
  })

/** A person whose deletion has ended a membership. */
async function deletedMember(collectionId: string): Promise<Person> {
  const employee = await person()
  await submit(employee, collectionId)
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
