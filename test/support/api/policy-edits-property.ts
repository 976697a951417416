import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { dispatcher } from '../../../shared/http/dispatch.ts'
import { startDirectAccount } from '../contract/local-database.ts'
import { faults, type JoinableFixture, joinableFixture, OPEN, type Person } from './joinable-fixture.ts'

/** A tenant slows down as it gets more collections. */
const RUNS_PER_FIXTURE_COUNT = 150

const GATE_NAMES = ['ann', 'both', 'choir', 'manager'] as const
type GateName = (typeof GATE_NAMES)[number]

const DECIDERS = ['ann', 'bo', 'manager', 'singer'] as const
type Decider = (typeof DECIDERS)[number]

const MAY_DECIDE: Readonly<Record<GateName, readonly Decider[]>> = {
  ann: ['ann'],
  both: ['ann', 'bo'],
  choir: ['singer'],
  manager: ['manager'],
}

type Policy = { readonly gates: readonly GateName[]; readonly onlyGuild: boolean }
type Step = { readonly approve: Decider } | { readonly edit: Policy } | { readonly eligible: boolean }

const policies: fc.Arbitrary<Policy> = fc.record({
  gates: fc.shuffledSubarray([...GATE_NAMES]),
  onlyGuild: fc.boolean(),
})
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ approve: fc.constantFrom(...DECIDERS) }) },
    { weight: 2, arbitrary: fc.record({ edit: policies }) },
    { weight: 2, arbitrary: fc.record({ eligible: fc.boolean() }) },
  ),
  { minLength: 1, maxLength: 9 },
)

/** The people and collections that the policies name, and one who asks to join. */
class Office {
  readonly fixture: JoinableFixture
  readonly #people: Readonly<Record<Decider, Person>>
  readonly #subject: Person
  readonly #choir: string
  readonly #guild: string

  private constructor(
    fixture: JoinableFixture,
    people: Readonly<Record<Decider, Person>>,
    subject: Person,
    collections: { readonly choir: string; readonly guild: string },
  ) {
    this.fixture = fixture
    this.#people = people
    this.#subject = subject
    this.#choir = collections.choir
    this.#guild = collections.guild
  }

  static async open(): Promise<Office> {
    const fixture = await joinableFixture(dispatcher, undefined, startDirectAccount)
    const { person, joinable, submit, position } = fixture
    const people = { ann: await person(), bo: await person(), manager: await person(), singer: await person() }
    const subject = await person()
    const [choir, guild] = [await joinable(OPEN), await joinable(OPEN)]
    await submit(people.singer, choir)
    await position(subject, { manager: { objectId: people.manager.identityId } })
    return new Office(fixture, people, subject, { choir, guild })
  }

  /** Orders leave gaps and differ from edit to edit, so that the same gate stands at different orders. */
  joinPolicyOf({ gates, onlyGuild }: Policy) {
    const { ann, bo } = this.#people
    const byName = {
      ann: { type: 'Identity', approvers: [ann.identityId] },
      both: { type: 'Identity', approvers: [bo.identityId, ann.identityId] },
      choir: { type: 'Collection', approvers: [this.#choir] },
      manager: { type: 'Manager', approvers: [] },
    }
    return {
      approvalRequired: gates.length > 0,
      approvalGates: gates.map((name, index) => ({ order: index * 2 + 1 + (gates.length % 2), ...byName[name] })),
      joinableBy: { collectionIds: onlyGuild ? [this.#guild] : [] },
    }
  }

  async setEligible(isEligible: boolean): Promise<void> {
    const path = `/collections-joinable/beta/${this.#guild}/results/members`
    const body = { coreIdentityIds: [this.#subject.identityId] }
    const { status } = await this.fixture.call(this.fixture.admin, isEligible ? 'POST' : 'DELETE', path, body)
    assert.equal(status, 200)
  }

  submit = (collectionId: string) => this.fixture.submit(this.#subject, collectionId)

  approve = (decider: Decider, request: MembershipRequestDto) =>
    this.fixture.act(this.#people[decider].token, request, 'approve')

  async edit(collectionId: string, policy: Policy): Promise<void> {
    const body = { objectType: 'Identity', joinPolicy: this.joinPolicyOf(policy) }
    const path = `/collections-joinable/beta/${collectionId}`
    assert.equal((await this.fixture.call(this.fixture.admin, 'PUT', path, body)).status, 200)
  }
}

/** @returns The status of the request at the end. */
async function decide(office: Office, first: Policy, series: readonly Step[]): Promise<MembershipRequestDto['status']> {
  const { fixture } = office
  await office.setEligible(true)
  const collectionId = await fixture.joinable(office.joinPolicyOf(first))
  const { data: request } = await office.submit(collectionId)
  let [policy, isEligible] = [first, true]
  const approved = new Set<GateName>()
  const remaining = () => policy.gates.filter((gate) => !approved.has(gate))
  let before: MembershipRequestDto = request
  for (const step of series) {
    if (before.status !== 'PendingApproval') break
    const standsAt = remaining()[0]
    if ('approve' in step) {
      const { status } = await office.approve(step.approve, request)
      const mayDecide = standsAt !== undefined && MAY_DECIDE[standsAt].includes(step.approve)
      assert.equal(status === 200, mayDecide, `${step.approve} at ${standsAt}: ${status}`)
      if (status === 200 && standsAt !== undefined) approved.add(standsAt)
    } else if ('edit' in step) {
      policy = step.edit
      await office.edit(collectionId, policy)
    } else {
      isEligible = step.eligible
      await office.setEligible(isEligible)
    }
    before = (await fixture.read(fixture.admin, request)).data
    const mayJoin = isEligible || !policy.onlyGuild
    if (before.status === 'Joined') assert.ok(mayJoin && remaining().length === 0, 'joined too early')
    else if (before.status === 'Cancelled') assert.ok(!mayJoin && before.lifecycle.at(-1)?.notes === 'NotEligible')
    else {
      assert.equal(before.status, 'PendingApproval')
      const { approvalGates } = office.joinPolicyOf(policy)
      const expected = approvalGates[policy.gates.indexOf(remaining()[0] as GateName)]
      assert.equal(before.currentGate?.order, expected?.order, 'not at the first remaining gate')
    }
  }
  return before.status
}

/**
 * Checks random edits of gates and eligibility between decisions: no person joins while not eligible, or without an
 * approval for every gate, by a person who could give it. @throws Error with the seed.
 */
export async function checkPolicyEdits({
  runs,
  seed,
}: {
  readonly runs: number
  readonly seed: number
}): Promise<void> {
  const seen: Record<string, number> = { Joined: 0, Cancelled: 0, PendingApproval: 0 }
  for (let from = 0; from < runs; from += RUNS_PER_FIXTURE_COUNT) {
    const office = await Office.open()
    try {
      const property = fc.asyncProperty(policies, steps, async (first, series) => {
        const status = await decide(office, first, series)
        seen[status] = (seen[status] ?? 0) + 1
      })
      await fc.assert(property, { numRuns: Math.min(RUNS_PER_FIXTURE_COUNT, runs - from), seed: seed + from })
    } finally {
      await office.fixture.cosmos.close()
    }
  }
  for (const [status, count] of Object.entries(seen)) assert.ok(count * 50 > runs, `${status} only ${count} times`)
  assert.deepEqual(faults, [])
}
