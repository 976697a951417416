import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { propertyRuns } from '../property-runs.ts'
import { faults, joinableWorld, OPEN } from './joinable-world.ts'

const world = await joinableWorld()
const { admin, call, act, submit, joinable, person, position } = world

after(() => assert.deepEqual(faults, []))

const [ann, bo, manager, singer] = [await person(), await person(), await person(), await person()]
const choir = await joinable(OPEN)
await submit(singer, choir)
const guild = await joinable(OPEN)

/** Gates by name, each with the person who can approve there. */
const GATES = {
  ann: { type: 'Identity', approvers: [ann.identityId] },
  both: { type: 'Identity', approvers: [bo.identityId, ann.identityId] },
  choir: { type: 'Collection', approvers: [choir] },
  manager: { type: 'Manager', approvers: [] },
} as const
type GateName = keyof typeof GATES
const DECIDERS = { ann, bo, manager, singer } as const
const MAY_DECIDE: Readonly<Record<GateName, readonly (keyof typeof DECIDERS)[]>> = {
  ann: ['ann'],
  both: ['ann', 'bo'],
  choir: ['singer'],
  manager: ['manager'],
}

type Policy = { readonly gates: readonly GateName[]; readonly onlyGuild: boolean }
const policies: fc.Arbitrary<Policy> = fc.record({
  gates: fc.shuffledSubarray(Object.keys(GATES) as GateName[]),
  onlyGuild: fc.boolean(),
})
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ approve: fc.constantFrom(...(Object.keys(DECIDERS) as (keyof typeof DECIDERS)[])) }),
    },
    { weight: 2, arbitrary: fc.record({ edit: policies }) },
    { weight: 2, arbitrary: fc.record({ eligible: fc.boolean() }) },
  ),
  { minLength: 1, maxLength: 9 },
)

/** Orders leave gaps and differ from edit to edit, so that the same gate stands at different orders. */
const joinPolicyOf = ({ gates, onlyGuild }: Policy) => ({
  approvalRequired: gates.length > 0,
  approvalGates: gates.map((name, index) => ({ order: index * 2 + 1 + (gates.length % 2), ...GATES[name] })),
  joinableBy: { collectionIds: onlyGuild ? [guild] : [] },
})

const subject = await person()
await position(subject, { manager: { objectId: manager.identityId } })
const setEligible = (isEligible: boolean) =>
  call(admin, isEligible ? 'POST' : 'DELETE', `/collections-joinable/beta/${guild}/results/members`, {
    coreIdentityIds: [subject.identityId],
  })

it('nobody joins without an approval, by somebody who could give it, for every gate, or while not eligible', async () => {
  const seen = { Joined: 0, Cancelled: 0, PendingApproval: 0 }
  const property = fc.asyncProperty(policies, steps, async (first, series) => {
    await setEligible(true)
    const collectionId = await joinable(joinPolicyOf(first))
    const { data: request } = await submit(subject, collectionId)
    const read = async () => (await world.read(admin, request)).data
    let [policy, isEligible] = [first, true]
    const approved = new Set<GateName>()
    const remaining = () => policy.gates.filter((gate) => !approved.has(gate))
    let before: MembershipRequestDto = request
    for (const step of series) {
      if (before.status !== 'PendingApproval') break
      const standsAt = remaining()[0]
      if ('approve' in step) {
        const { status } = await act(DECIDERS[step.approve].token, request, 'approve')
        const mayDecide = standsAt !== undefined && MAY_DECIDE[standsAt].includes(step.approve)
        assert.equal(status === 200, mayDecide, `${step.approve} at ${standsAt}: ${status}`)
        if (status === 200 && standsAt !== undefined) approved.add(standsAt)
      } else if ('edit' in step) {
        policy = step.edit
        const body = { objectType: 'Identity', joinPolicy: joinPolicyOf(policy) }
        assert.equal((await call(admin, 'PUT', `/collections-joinable/beta/${collectionId}`, body)).status, 200)
      } else {
        isEligible = step.eligible
        assert.equal((await setEligible(isEligible)).status, 200)
      }
      before = await read()
      const mayJoin = isEligible || !policy.onlyGuild
      if (before.status === 'Joined') assert.ok(mayJoin && remaining().length === 0, 'joined too early')
      else if (before.status === 'Cancelled') assert.ok(!mayJoin && before.lifecycle.at(-1)?.notes === 'NotEligible')
      else {
        assert.equal(before.status, 'PendingApproval')
        const [gate] = remaining()
        const orders = new Map(
          joinPolicyOf(policy).approvalGates.map(({ order }, index) => [policy.gates[index], order]),
        )
        assert.equal(before.currentGate?.order, gate && orders.get(gate), 'not at the first remaining gate')
      }
    }
    seen[before.status as keyof typeof seen] += 1
  })
  const { runs, seed } = propertyRuns()
  await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
  for (const [status, count] of Object.entries(seen)) assert.ok(count * 50 > runs, `${status} only ${count} times`)
})
