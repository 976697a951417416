import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { MemberEvent } from '../../../shared/domain/history/member-history.ts'
import { type AccountFixture, CALLER, gone, identity, openAccountFixture, position } from './account-fixture.ts'
import { SERVICE, TENANT, user } from './link-directory.ts'
import {
  type DeliveryEnd,
  INSTANCE_COUNT,
  linkedPlace,
  PERSON_COUNT,
  type Release,
  SeveralInstances,
} from './several-instances.ts'

/** Users of the test directory are enough for this many runs. */
const RUNS_PER_FIXTURE_COUNT = 15
/** Accounts of people who are members of both groups all the time, beyond those of places. */
const FIRST_STEADY_ACCOUNT = 2000
const HOUR_MS = 3_600_000

/** Changes of a person that leave every membership as it is. */
const STEADY_CHANGES = ['rename', 'end position', 'begin position', 'merge', 'part'] as const

type Action = { readonly instance: number } & (
  | { readonly kind: 'place' | 'choir'; readonly person: number; readonly isThere: boolean }
  | { readonly kind: 'steady'; readonly change: (typeof STEADY_CHANGES)[number] }
  /** `pick`: which of the messages, in any order. */
  | { readonly kind: 'deliver'; readonly pick: number; readonly end: DeliveryEnd }
)

/** What the instance meets during the action, this many calls after its beginning. */
type Fault = { readonly atCall: number } & (
  | { readonly kind: 'killed' | 'unanswered' }
  | { readonly kind: 'refused'; readonly count: number }
  | { readonly kind: 'interrupted'; readonly by: Action }
)
type Step = { readonly action: Action; readonly fault: Fault | undefined }

const instance = fc.nat({ max: INSTANCE_COUNT - 1 })
const person = fc.nat({ max: PERSON_COUNT - 1 })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('place' as const), instance, person, isThere: fc.boolean() }),
  fc.record({ kind: fc.constant('choir' as const), instance, person, isThere: fc.boolean() }),
  fc.record({ kind: fc.constant('steady' as const), instance, change: fc.constantFrom(...STEADY_CHANGES) }),
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      instance,
      pick: fc.nat({ max: 20 }),
      end: fc.oneof(
        { weight: 12, arbitrary: fc.constant('completed' as const) },
        { weight: 3, arbitrary: fc.constant('doubled' as const) },
        { weight: 1, arbitrary: fc.constant('lost' as const) },
      ),
    }),
  },
)
const atCall = fc.nat({ max: 40 })
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constantFrom('killed' as const, 'unanswered' as const), atCall }),
  fc.record({ kind: fc.constant('refused' as const), atCall, count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('interrupted' as const), atCall, by: action }),
)
const step: fc.Arbitrary<Step> = fc.record({ action, fault: fc.option(fault, { nil: undefined, freq: 3 }) })

/**
 * People of a place in one group, members of a choir in another: two of them come and go, and a third one belongs to
 * both all the time, while the person's positions, name and records change.
 */
class ChangingPeople {
  readonly #fixture: AccountFixture
  readonly #place: Awaited<ReturnType<typeof linkedPlace>>
  readonly #run: number
  readonly #account: string
  readonly #inChoir = new Set<number>()
  #second: Awaited<ReturnType<AccountFixture['newSource']>> | undefined
  #choirId = ''
  #singersId = ''
  #choirGroupId = ''
  #identityIds: readonly string[] = []
  #changesBefore = 0

  private constructor(fixture: AccountFixture, place: Awaited<ReturnType<typeof linkedPlace>>, run: number) {
    this.#fixture = fixture
    this.#place = place
    this.#run = run
    this.#account = user(FIRST_STEADY_ACCOUNT + run)
  }

  static async open(fixture: AccountFixture, run: number): Promise<ChangingPeople> {
    const place = await linkedPlace(fixture, run)
    const people = new ChangingPeople(fixture, place, run)
    await people.#begin()
    return people
  }

  async #begin(): Promise<void> {
    const fixture = this.#fixture
    const { source } = this.#place
    this.#second = await fixture.newSource()
    await fixture.write(source, this.#steadyRecord('Steady'), this.#steadyPosition())
    const names = [
      ...Array.from({ length: PERSON_COUNT }, (_, index) => this.#place.externalId(index)),
      this.#steadyName,
    ]
    this.#identityIds = await Promise.all(names.map((name) => fixture.coreIdOf(source, 'identity', name)))
    this.#choirId = await fixture.joinable([this.#identityIds[PERSON_COUNT] ?? ''])
    this.#singersId = await fixture.criteria('Identity', 'memberOfCollection', this.#choirId)
    this.#choirGroupId = await fixture.linkedGroup(this.#singersId)
    await fixture.followed()
    fixture.sentMessages.length = 0
    await this.assertConverged()
    this.#changesBefore = fixture.server.membershipChanges(0).at(-1)?.sequence ?? 0
  }

  get #steadyName(): string {
    return `Steady ${this.#run}`
  }

  #steadyRecord(firstName: string) {
    const { name } = this.#place
    const more = { firstName, nin: `nin ${this.#run}`, directoryObjectId: this.#account }
    return identity(this.#steadyName, { displayName: name, ...more })
  }

  #steadyPosition() {
    return position(`Position of ${this.#steadyName}`, this.#steadyName, { title: 'Singer' })
  }

  async perform(one: Action, instances: SeveralInstances): Promise<void> {
    switch (one.kind) {
      case 'deliver':
        await instances.deliver(one.instance, one.pick, one.end)
        return
      case 'place':
        await instances.write(one.instance, this.#place.source, this.#place.person(one.person, one.isThere))
        return this.#place.change(one.person, one.isThere)
      case 'choir':
        return this.#changeChoir(one.person, one.isThere, one.instance, instances)
      case 'steady':
        return this.#changeSteady(one.change, one.instance, instances)
    }
  }

  async #changeChoir(index: number, isThere: boolean, first: number, instances: SeveralInstances): Promise<void> {
    const actor = { id: CALLER.objectId, identityId: undefined }
    const input = { coreIdentityIds: [this.#identityIds[index] ?? ''] }
    await instances.untilAcknowledged(first, ({ service: { requests }, release }) => {
      const change = isThere ? release.addMembersDirectly : release.removeMembersDirectly
      return change(TENANT, this.#choirId, input, actor, requests)
    })
    if (isThere) this.#inChoir.add(index)
    else this.#inChoir.delete(index)
  }

  async #changeSteady(change: (typeof STEADY_CHANGES)[number], first: number, instances: SeveralInstances) {
    const second = this.#second
    const { source } = this.#place
    assert.ok(second !== undefined)
    const twin = `Twin of ${this.#steadyName}`
    switch (change) {
      case 'rename':
        return instances.write(first, source, this.#steadyRecord(`Name ${first}`))
      case 'begin position':
        return instances.write(first, source, this.#steadyPosition())
      case 'end position':
        return instances.write(first, source, gone('relationship', `Position of ${this.#steadyName}`))
      case 'merge':
        return instances.write(first, second, identity(twin, { nin: `nin ${this.#run}`, lastName: 'Twin' }))
      case 'part':
        return instances.write(first, second, gone('identity', twin))
    }
  }

  async assertConverged(): Promise<void> {
    const { groupId, there, accounts } = this.#place
    const choir = [...this.#inChoir].map((index) => accounts[index] ?? '')
    assert.deepEqual(await this.#fixture.membersOf(groupId), new Set([...there, this.#account]), 'the place')
    assert.deepEqual(await this.#fixture.membersOf(this.#choirGroupId), new Set([...choir, this.#account]), 'the choir')
  }

  /** The account of the person who belongs to both groups all the time was not removed, not even for a moment. */
  assertNeverRemoved(): void {
    const removals = this.#fixture.server
      .membershipChanges(this.#changesBefore)
      .filter(
        ({ kind, clientId, memberId }) => kind === 'removed' && clientId === SERVICE && memberId === this.#account,
      )
    assert.deepEqual(removals, [])
  }

  /** Each change of a version follows the one before, no member is added or removed twice, the last is stored. */
  async assertHistory(): Promise<void> {
    const { collections } = this.#fixture.coldProcess()
    for (const id of [this.#place.collectionId, this.#singersId]) {
      const events: MemberEvent[] = []
      for await (const page of collections.history.criteria.since(TENANT, id, 0)) events.push(...page)
      const members = new Set<string>()
      const versions = [...new Set(events.map(({ membershipVersion }) => membershipVersion))].sort((a, b) => a - b)
      assert.deepEqual(
        versions,
        Array.from(versions, (_, index) => (versions[0] ?? 1) + index),
        'versions',
      )
      const inOrder = events.toSorted((a, b) => a.membershipVersion - b.membershipVersion || a.index - b.index)
      for (const { objectId, change } of inOrder) {
        assert.equal(members.has(objectId), change === 'Removed', `${objectId} is ${change} twice`)
        if (change === 'Added') members.add(objectId)
        else members.delete(objectId)
      }
      const stored = await collections.memberships.members(TENANT, id)
      assert.deepEqual([...members].sort(), stored?.ids, 'history and members')
    }
  }

  /** Keeps the tenant small for later runs. */
  async remove(): Promise<void> {
    const { source } = this.#place
    await this.#fixture.removeLinked(this.#singersId)
    await this.#fixture.leave(this.#choirId, this.#identityIds)
    await this.#fixture.write(
      source,
      gone('relationship', `Position of ${this.#steadyName}`),
      gone('identity', this.#steadyName),
    )
    if (this.#second !== undefined)
      await this.#fixture.write(this.#second, gone('identity', `Twin of ${this.#steadyName}`))
    await this.#place.remove()
  }
}

async function converges(
  fixture: AccountFixture,
  { run, steps, releaseOf }: { run: number; steps: readonly Step[]; releaseOf: ReleaseOf | undefined },
): Promise<void> {
  const people = await ChangingPeople.open(fixture, run)
  const instances = new SeveralInstances(fixture, releaseOf)
  for (let index = 0; index < INSTANCE_COUNT; index += 1) await instances.at(index).service.evaluator.evaluate(TENANT)
  for (const { action: one, fault: met } of steps) {
    if (met !== undefined) prepare(instances, one, met, people)
    await people.perform(one, instances)
    await instances.endInterruptions()
  }
  instances.meetNoMoreFaults()
  await instances.endInterruptions()
  await instances.drain()
  if (instances.isSweepNeeded) {
    await fixture.clock.sleep(HOUR_MS)
    await instances.sweep()
    await instances.drain()
  }
  await people.assertConverged()
  people.assertNeverRemoved()
  await people.assertHistory()
  await people.remove()
}

function prepare(instances: SeveralInstances, one: Action, met: Fault, people: ChangingPeople): void {
  const { life } = instances.at(one.instance)
  if (met.kind === 'killed') life.endAfter(met.atCall)
  if (met.kind === 'unanswered') life.loseAnswerAfter(met.atCall)
  if (met.kind === 'refused') life.refuseAfter(met.atCall, met.count)
  if (met.kind === 'interrupted') {
    const by = withoutConflict(met.by, one)
    instances.interrupt(one.instance, met.atCall, () =>
      people.perform({ ...by, instance: one.instance + 1 + (by.instance % 2) }, instances),
    )
  }
}

/** The order of two concurrent writes of one person is not known: the one that interrupts concerns the next person. */
function withoutConflict(by: Action, one: Action): Action {
  const isSame = 'person' in by && 'person' in one && by.kind === one.kind && by.person === one.person
  return isSame ? { ...by, person: (by.person + 1) % PERSON_COUNT } : by
}

const endsPosition = (one: Action): boolean => one.kind === 'steady' && one.change === 'end position'

type ReleaseOf = (slot: number) => Release
type ConvergenceOptions = {
  readonly runs: number
  readonly seed: number
  /** The versions of the instances; by default, the present one. */
  readonly releaseOf?: ReleaseOf
  /** Whether the position of the person who belongs to both groups can end. Default: true. */
  readonly positionsEnd?: boolean
}

/**
 * Three instances whose clocks differ; messages are lost, doubled and reordered; processes are killed, lose an answer or
 * are refused at any call to the database, the directory or the queues, and are interrupted there by others. In the end
 * the groups have exactly the members that the acknowledged changes give them: by the messages alone unless one was
 * lost, or a process was killed before it enqueued one, and otherwise after the next sweep. An account that belongs to
 * the groups all the time is never removed.
 */
export async function checkConvergence({
  runs,
  seed,
  releaseOf,
  positionsEnd = true,
}: ConvergenceOptions): Promise<void> {
  const isPossible = ({ action: one, fault: met }: Step) =>
    positionsEnd || (!endsPosition(one) && !(met?.kind === 'interrupted' && endsPosition(met.by)))
  for (let from = 0; from < runs; from += RUNS_PER_FIXTURE_COUNT) {
    // A sweep finds what was written since an evaluation by the time of the database.
    const fixture = await openAccountFixture({ databaseSharesClock: true, isDirect: true })
    let run = 0
    try {
      const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        run += 1
        await converges(fixture, { run, steps: steps.filter(isPossible), releaseOf })
      })
      const numRuns = Math.min(RUNS_PER_FIXTURE_COUNT, runs - from)
      await fc.assert(property, { numRuns, seed: seed + from, endOnFailure: true })
    } finally {
      await fixture.close()
    }
  }
}
