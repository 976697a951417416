import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { FaultDefinition } from '../../../infra/local/directory/faults.ts'
import { type AccountFixture, openAccountFixture } from './account-fixture.ts'
import { TENANT, users } from './link-directory.ts'
import { linkedPlace, SeveralInstances } from './several-instances.ts'

const PERSON_COUNT = 2
const INSTANCE_COUNT = 3
const HOUR_MS = 3_600_000
/** Writes that were interrupted are found one after the other, and each is followed by two comparisons. */
const SETTLED_AFTER_HOURS = 8
/** Real time: longer than a run. */
const STALE_MS = 600_000
/** Users of the test directory are enough for this many runs. */
const RUNS_PER_FIXTURE_COUNT = 50

/** What reads of the directory return in an hour. */
const FLAWS: readonly FaultDefinition[] = [
  { path: '/members$', staleMs: STALE_MS },
  { path: '/delta$', staleMs: STALE_MS },
  { path: '/delta$', drop: true, times: 1 },
  { path: '/delta$', status: 403 },
  { path: '/delta$', delta: 'emptyPage', times: 2 },
  { path: '/delta$', delta: 'replay', times: 1 },
  { path: '/delta$', delta: 'reset', times: 1 },
]

type Action =
  | { readonly kind: 'write'; readonly person: number; readonly isThere: boolean }
  /** Another client of the directory changes the group. */
  | { readonly kind: 'drift'; readonly person: number; readonly isMember: boolean }
  | { readonly kind: 'deliver'; readonly pick: number; readonly isLost: boolean }
  /** An hour passes, and the tenant is swept. */
  | { readonly kind: 'hour'; readonly flaw: FaultDefinition | undefined }

type Fault = { readonly atCall: number } & (
  | { readonly kind: 'killed' | 'unanswered' }
  | { readonly kind: 'refused'; readonly count: number }
  | { readonly kind: 'interrupted'; readonly by: Action }
)
type Step = { readonly action: Action; readonly instance: number; readonly fault: Fault | undefined }

const person = fc.nat({ max: PERSON_COUNT })
const drift = fc.record({ kind: fc.constant('drift' as const), person, isMember: fc.boolean() })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    person: fc.nat({ max: PERSON_COUNT - 1 }),
    isThere: fc.boolean(),
  }),
  { weight: 2, arbitrary: drift },
  fc.record({
    kind: fc.constant('deliver' as const),
    pick: fc.nat({ max: 20 }),
    isLost: fc.nat({ max: 9 }).map((n) => n === 0),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('hour' as const),
      flaw: fc.option(fc.constantFrom(...FLAWS), { nil: undefined, freq: 2 }),
    }),
  },
)
const atCall = fc.nat({ max: 40 })
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constantFrom('killed' as const, 'unanswered' as const), atCall }),
  fc.record({ kind: fc.constant('refused' as const), atCall, count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('interrupted' as const), atCall, by: drift }),
)
const step: fc.Arbitrary<Step> = fc.record({
  action,
  instance: fc.nat({ max: INSTANCE_COUNT - 1 }),
  fault: fc.option(fault, { nil: undefined, freq: 3 }),
})

class DriftingGroup {
  readonly #fixture: AccountFixture
  readonly #instances: SeveralInstances
  readonly #place: Awaited<ReturnType<typeof linkedPlace>>
  readonly #accounts: readonly string[]
  #sweepCount = 0

  constructor(fixture: AccountFixture, place: Awaited<ReturnType<typeof linkedPlace>>, accounts: readonly string[]) {
    this.#fixture = fixture
    this.#place = place
    this.#accounts = accounts
    this.#instances = new SeveralInstances(fixture)
  }

  async run(steps: readonly Step[]): Promise<void> {
    const { server } = this.#fixture
    await this.#untilSweptUnchanged()
    for (const step of steps) {
      if (step.fault !== undefined) this.#prepare(step.instance, step.fault)
      await this.#perform(step.action, step.instance)
      await this.#instances.endInterruptions()
    }
    this.#instances.meetNoMoreFaults()
    await this.#instances.endInterruptions()
    server.setFaults([])
    await this.#passHour(0)
    assert.deepEqual(await this.#fixture.membersOf(this.#place.groupId), this.#place.there)
    await this.#untilSweptUnchanged()
    assert.deepEqual(await this.#fixture.membersOf(this.#place.groupId), this.#place.there)
  }

  async #untilSweptUnchanged(): Promise<void> {
    for (let hour = 0; !(await this.#isSweptUnchanged()); hour += 1) {
      assert.ok(hour < SETTLED_AFTER_HOURS, 'The link is compared each hour')
      await this.#passHour(0)
    }
  }

  async #perform(one: Action, instance: number): Promise<void> {
    switch (one.kind) {
      case 'write':
        await this.#instances.write(instance, this.#place.source, this.#place.person(one.person, one.isThere))
        return this.#place.change(one.person, one.isThere)
      case 'drift':
        return this.#drift(this.#accounts[one.person] ?? '', one.isMember)
      case 'deliver':
        await this.#instances.deliver(instance, one.pick, one.isLost ? 'lost' : 'completed')
        return
      case 'hour':
        this.#fixture.server.setFaults(one.flaw === undefined ? [] : [one.flaw])
        await this.#passHour(instance)
        return this.#fixture.server.setFaults([])
    }
  }

  async #passHour(instance: number): Promise<void> {
    const { clock, deps } = this.#fixture
    await clock.sleep(HOUR_MS)
    this.#sweepCount += 1
    const id = `${TENANT}:${this.#place.groupId}:${this.#sweepCount}`
    await deps.messageQueue.enqueue({ queue: 'sweeps', message: { tenantId: TENANT } }, { id })
    for (let turn = instance; await this.#instances.deliver(turn, 0); turn += 1) {
      assert.ok(turn < 500, 'The messages never end')
    }
  }

  async #drift(account: string, isMember: boolean): Promise<void> {
    const { asTester, server } = this.#fixture
    const path = `/groups/${this.#place.groupId}/members`
    const body = { '@odata.id': `${server.url}/v1.0/directoryObjects/${account}` }
    const call = isMember
      ? ({ method: 'POST', path: `${path}/$ref`, body } as const)
      : ({ method: 'DELETE', path: `${path}/${account}/$ref` } as const)
    const { status } = await asTester(call)
    assert.ok([204, 400, 404].includes(status), String(status))
  }

  #prepare(instance: number, met: Fault): void {
    const { life } = this.#instances.at(instance)
    if (met.kind === 'killed') life.endAfter(met.atCall)
    if (met.kind === 'unanswered') life.loseAnswerAfter(met.atCall)
    if (met.kind === 'refused') life.refuseAfter(met.atCall, met.count)
    if (met.kind === 'interrupted') {
      this.#instances.interrupt(instance, met.atCall, () => this.#perform(met.by, instance + 1))
    }
  }

  async #isSweptUnchanged(): Promise<boolean | undefined> {
    return (await this.#fixture.deps.links.ofGroup(TENANT, this.#place.groupId))?.value.isSweptUnchanged
  }
}

/**
 * A group that the sweeps know to be unchanged is changed by hand and by the service at any time, over instances
 * whose clocks differ and processes that die at any call; the directory loses, repeats and delays what it tells of
 * changes, and its reads lag. After the first hour without faults the group has exactly the members of the collection,
 * and some hours later the sweeps know it again.
 */
export async function checkDrift({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  for (let from = 0; from < runs; from += RUNS_PER_FIXTURE_COUNT) {
    // A sweep finds what was written since an evaluation by the time of the database.
    const fixture = await openAccountFixture({ databaseSharesClock: true, isDirect: true })
    let run = 0
    try {
      const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 15 }), async (steps) => {
        run += 1
        const place = await linkedPlace(fixture, run)
        await new DriftingGroup(fixture, place, users(run * PERSON_COUNT, PERSON_COUNT + 1)).run(steps)
        await place.remove()
      })
      const numRuns = Math.min(RUNS_PER_FIXTURE_COUNT, runs - from)
      await fc.assert(property, { numRuns, seed: seed + from, endOnFailure: true })
    } finally {
      await fixture.close()
    }
  }
}
