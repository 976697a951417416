import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { approvedBy, faults, joinableFixture, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { call, admin, person, joinable, submit, act, read } = fixture
after(() => assert.deepEqual(faults, []))

const DAY_S = 24 * 60 * 60

const identity = ({ identityId }: Person) => ({ type: 'Identity', approvers: [identityId] })

/** The person becomes a part of another one, who is returned. */
async function merged({ identityId }: Person): Promise<Person> {
  const whole = await person()
  await fixture.remove('identity', identityId, { ttl: 30 * DAY_S, mergedInto: whole.identityId })
  await fixture.evaluator.evaluate(fixture.tenantId)
  return whole
}

describe('An approver who becomes a part of another person', () => {
  it('is replaced by that one where they are a fallback', async () => {
    const [approver, fallback] = [await person(), await person()]
    const policy = approvedBy({ ...identity(approver), fallback: { afterDays: 3, ...identity(fallback) } } as never)
    const { data: request } = await submit(await person(), await joinable(policy))
    const whole = await merged(fallback)
    fixture.pass(3 * DAY_S + 60)
    assert.equal((await act(whole.token, request, 'approve')).data.status, 'Joined')
  })

  it('has approved what they have approved: the request waits at the same gate', async () => {
    const [first, second] = [await person(), await person()]
    const { data: request } = await submit(
      await person(),
      await joinable(approvedBy(identity(first), identity(second))),
    )
    await act(first.token, request, 'approve')
    await merged(first)
    assert.equal((await read(admin, request)).data.currentGate?.order, 2)
  })

  it('has approved a later end that they have approved: it waits at the same gate', async () => {
    const [who, first, second] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy(identity(first), identity(second)))
    await call(admin, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, {
      ...{ coreIdentityIds: [who.identityId], endsAt: '2030-09-01' },
    })
    const [stored] = await fixture.deps.requests.liveOf(fixture.tenantId, who.identityId)
    const request = stored?.value ?? assert.fail()
    await act(who.token, request, 'extend', { endsAt: '2030-10-01' })
    await act(first.token, request, 'approve')
    await merged(first)
    assert.equal((await read(admin, request)).data.extension?.currentGate?.order, 2)
  })
})

describe('A condition that names a deputy of units', () => {
  it('names the person of whom that one becomes a part', async () => {
    const deputy = await person()
    const [id, field] = ['orgUnitDeputies', 'orgUnitDeputies']
    const contains = { id, field, operator: 'Contains', value: deputy.identityId }
    const collectionId = await fixture.criteria('OrgUnit', { groupOperator: 'AND', conditions: [contains] })
    const whole = await merged(deputy)
    const { data } = await call<{ condition: object }>(admin, 'GET', `/collections-criteria/beta/${collectionId}`)
    assert.ok(JSON.stringify(data.condition).includes(whole.identityId))
  })
})
