import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { applyPlan } from '../../infra/definitions/apply-plan.ts'
import { planDefinitions } from '../../infra/definitions/plan-definitions.ts'
import { printOutcome } from '../../infra/definitions/print-plan.ts'
import type { DefinitionPlan } from '../../infra/definitions/step.ts'
import { readTenant } from '../../infra/definitions/tenant.ts'
import type { JoinPolicyDto } from '../../shared/domain/membership-requests/join-policy.ts'
import { callAs } from '../support/api/definitions-call.ts'
import { approvedBy, equals, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const SILENT = { done: () => undefined, plannedAgain: () => undefined }

/** Two joinable collections that refer to each other, and the plan that deletes all collections. */
async function circle() {
  const fixture = await joinableFixture()
  const [boss, employee, deputy] = [await fixture.person(), await fixture.person(), await fixture.person()]
  await fixture.position(employee, { manager: { objectId: boss.identityId } })
  const criteria = await fixture.criteria('Identity', equals('identityDisplayName', 'Somebody'))
  const [left, right] = [
    await fixture.joinable(OPEN, { name: 'Left' }),
    await fixture.joinable(OPEN, { name: 'Right' }),
  ]
  const setPolicy = async (id: string, joinPolicy: object): Promise<void> => {
    const body = { objectType: 'Identity', joinPolicy }
    assert.equal((await fixture.call(fixture.admin, 'PUT', `/collections-joinable/beta/${id}`, body)).status, 200)
  }
  const policyOf = async (id: string): Promise<JoinPolicyDto> =>
    (await fixture.call<{ joinPolicy: JoinPolicyDto }>(fixture.admin, 'GET', `/collections-joinable/beta/${id}`)).data
      .joinPolicy
  const call = callAs(fixture, fixture.admin)
  const plan = async () => planDefinitions([], await readTenant(call), true, call)
  /** Applies the steps of a plan up to the first deletion of one of the two. */
  const release = async ({ steps, ...rest }: DefinitionPlan): Promise<void> => {
    const updates = steps.filter(({ action }) => action === 'update')
    assert.equal((await applyPlan({ ...rest, steps: updates }, call, SILENT)).refused, undefined)
  }
  return { ...fixture, boss, employee, deputy, criteria, left, right, setPolicy, policyOf, call, plan, release }
}

it('A collection that another person changes after the plan is not deleted', async () => {
  const { criteria, call, ...tenant } = await circle()
  const plan = await tenant.plan()
  const path = `/collections-criteria/beta/${criteria}`
  await call('PUT', path, { objectType: 'Identity', description: 'In use' })
  const { refused } = await applyPlan(plan, call, SILENT)
  assert.equal(refused?.step.path, path)
  assert.equal(((await call('GET', path)).data as { readonly description: string }).description, 'In use')
})

describe('Joinable collections that refer to each other', () => {
  it('are deleted without granting a request that waits for a gate of the other collection', async () => {
    const { boss, employee, left, right, joinable, setPolicy, submit, act, read, results, ...tenant } = await circle()
    await setPolicy(left, approvedBy({ type: 'Manager' }, { type: 'Collection', approvers: [right] }))
    await setPolicy(right, approvedBy({ type: 'Collection', approvers: [left] }))
    const request = (await submit(employee, left)).data
    assert.equal((await act(boss.token, request, 'approve')).data.status, 'PendingApproval')
    const plan = await tenant.plan()
    await tenant.release(plan)
    assert.deepEqual([(await read(tenant.admin, request)).data.status, await results(left)], ['PendingApproval', []])
    const { refused } = await applyPlan(await tenant.plan(), tenant.call, SILENT)
    assert.equal(refused, undefined)
    assert.deepEqual((await readTenant(tenant.call)).collections, [])
    const ended = (await tenant.deps.requests.find(tenant.tenantId, request.id))?.value
    assert.deepEqual([ended?.status, ended?.lifecycle.at(-1)?.notes], ['Cancelled', 'The collection was deleted'])
  })

  it('keep in between what refers to no other of them, and who may ask', async () => {
    const { left, right, criteria, deputy, setPolicy, policyOf, ...tenant } = await circle()
    const fallback = { afterDays: 3, type: 'Identity', approvers: [deputy.identityId] }
    const gates = (other: string, own: string) => [
      { order: 1, type: 'Manager', approvers: [], reminderDays: 2, fallback },
      { order: 2, type: 'Identity', approvers: [deputy.identityId] },
      {
        order: 4,
        type: 'Collection',
        approvers: [own],
        fallback: { ...fallback, type: 'Collection', approvers: [other] },
      },
    ]
    const limits = { maxDays: 30, requestDays: 9, rejectionNeedsReason: true }
    const policy = (other: string, readers: string) => ({
      approvalRequired: true,
      approvalGates: gates(other, other),
      joinableBy: { collectionIds: [readers] },
      ...limits,
    })
    await setPolicy(left, policy(right, criteria))
    await setPolicy(right, policy(left, left))
    await tenant.release(await tenant.plan())
    for (const id of [left, right]) assert.deepEqual(await policyOf(id), policy(id, id))
  })

  it('are changed right before the first of them, or of what they refer to, is deleted', async () => {
    const { left, right, criteria, joinable, setPolicy, ...tenant } = await circle()
    await setPolicy(left, approvedBy({ type: 'Collection', approvers: [right, criteria] }))
    await setPolicy(right, approvedBy({ type: 'Collection', approvers: [left, right] }))
    await joinable({ approvalRequired: false, joinableBy: { collectionIds: [left] } }, { name: 'Outside' })
    const own = await joinable(OPEN, { name: 'Own' })
    await setPolicy(own, approvedBy({ type: 'Collection', approvers: [own] }))
    const plan = await tenant.plan()
    const steps = plan.steps.map(({ action, name }) => `${action} ${name}`)
    const releases = steps.findIndex((step) => step.startsWith('update'))
    assert.deepEqual(steps.slice(0, releases).sort(), ['delete Outside', 'delete Own'])
    assert.deepEqual(steps.slice(releases, releases + 3), ['update Right', 'update Left', 'delete Staff'])
    assert.deepEqual(steps.slice(releases + 3).sort(), ['delete Left', 'delete Right'])
    assert.equal((await applyPlan(plan, tenant.call, SILENT)).refused, undefined)
  })

  it('are named as changed when their deletion is refused after that, and deleted when it is run again', async () => {
    const { left, right, joinable, setPolicy, results, ...tenant } = await circle()
    await setPolicy(left, approvedBy({ type: 'Collection', approvers: [right] }))
    await setPolicy(right, approvedBy({ type: 'Collection', approvers: [left] }))
    const { steps, ...rest } = await tenant.plan()
    const [deletions, others] = [
      steps.filter(({ action, kind }) => action === 'delete' && kind === 'joinable'),
      steps.filter(({ action, kind }) => action !== 'delete' || kind !== 'joinable'),
    ]
    const [first, last] = deletions
    assert.ok(first !== undefined && last !== undefined)
    const plan = { ...rest, steps: [...others, { ...first, etag: '"0"' }, last] }
    const [said, errors]: [string[], string[]] = [[], []]
    const outcome = await applyPlan(plan, tenant.call, SILENT)
    printOutcome(outcome, { say: (line) => void said.push(line), sayError: (line) => void errors.push(line) })
    assert.match(errors[0] ?? '', new RegExp(`^refused: - delete joinable collection ${first.name}: `))
    const changed = (name: string) =>
      `not deleted, but changed: the join policy of ${name} refers to ${name} itself in place of other collections. ` +
      'Correct the cause and run it again: it deletes the collection'
    assert.deepEqual(errors.slice(1), [
      `not done: - delete joinable collection ${last.name}`,
      changed(first.name),
      changed(last.name),
    ])
    assert.deepEqual(said, [`${others.length} changes done, 2 not done`])
    assert.equal((await applyPlan(await tenant.plan(), tenant.call, SILENT)).refused, undefined)
    assert.deepEqual((await readTenant(tenant.call)).collections, [])
  })
})
