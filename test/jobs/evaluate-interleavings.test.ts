import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EVALUATION_LEASE_MS } from '../../shared/domain/evaluation/evaluation-lease.ts'
import { isConflict } from '../../shared/kernel/versioned.ts'
import { type CriteriaProcess, startCriteriaService } from '../support/api/criteria-service.ts'
import { isTrouble, Life, mortalProcess } from '../support/jobs/mortal-process.ts'
import { type Change, change, conditions, randomTenant, replayed } from '../support/jobs/random-tenant.ts'

const PROCESS_COUNT = 3
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** By how much their clocks are ahead. */
const AHEAD_MS = [0, MINUTE_MS, -MINUTE_MS]
/** After this time, every process considers an unreleased lease expired. */
const LEASE_EXPIRES_MS = EVALUATION_LEASE_MS + 4 * MINUTE_MS

/**
 * `evaluate` starts an evaluation, which runs concurrently with the steps that follow until one that is waited for.
 * `expire` lets the lease of a running evaluation expire, or that of a process that was killed.
 */
type Step =
  | { do: 'change'; change: Change }
  | { do: 'evaluate'; process: number; isWaitedFor: boolean }
  | { do: 'kill'; process: number; afterCalls: number }
  | { do: 'lose'; process: number; afterCalls: number }
  | { do: 'expire' }
  | { do: 'midnight' }

const process = fc.nat(PROCESS_COUNT - 1)
const afterCalls = fc.nat(40)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('change' as const), change }) },
  {
    weight: 16,
    arbitrary: fc.record({ do: fc.constant('evaluate' as const), process, isWaitedFor: fc.boolean() }),
  },
  fc.record({ do: fc.constant('kill' as const), process, afterCalls }),
  fc.record({ do: fc.constant('lose' as const), process, afterCalls }),
  { weight: 2, arbitrary: fc.constant({ do: 'expire' as const }) },
  fc.constant({ do: 'midnight' as const }),
)
const series = fc.array(step, { minLength: 5, maxLength: 30, size: 'max' })
const pausesMs = fc.array(fc.nat(3), { minLength: 1, maxLength: 5 })

const service = await startCriteriaService({ databaseSharesClock: true })

/** Three processes. A killed one is started anew, and its work is given to the next one. */
class Processes {
  readonly #pausesMs: readonly number[]
  readonly #running: { life: Life; process: CriteriaProcess }[]

  constructor(pausesMs: readonly number[]) {
    this.#pausesMs = pausesMs
    this.#running = AHEAD_MS.map((aheadMs) => this.#start(aheadMs))
  }

  life(index: number): Life {
    const { life } = this.#running[index] as { life: Life }
    return life
  }

  async evaluate(tenantId: string, index: number): Promise<void> {
    const { life, process } = this.#running[index] as { life: Life; process: CriteriaProcess }
    try {
      await process.evaluator.evaluate(tenantId)
    } catch (error) {
      if (!isTrouble(error) && !isConflict(error)) throw error
      const aheadMs = AHEAD_MS[index] ?? 0
      if (life.hasEnded && this.life(index) === life) this.#running[index] = this.#start(aheadMs)
      // It can have held the lease. The notification comes again until the lease has expired.
      service.clock.nowMs += LEASE_EXPIRES_MS
      await this.evaluate(tenantId, (index + 1) % PROCESS_COUNT)
    }
  }

  #start(aheadMs: number): { life: Life; process: CriteriaProcess } {
    const life = new Life(this.#pausesMs)
    return { life, process: mortalProcess(service, life, aheadMs) }
  }
}

type Course = {
  readonly begin: Parameters<typeof randomTenant>[1]
  readonly steps: readonly Step[]
  readonly pausesMs: readonly number[]
  readonly last: number
}

/** Runs the steps and then one evaluation. */
async function run({ begin, steps, pausesMs, last }: Course): Promise<void> {
  const tenant = await randomTenant(service, begin)
  const processes = new Processes(pausesMs)
  const midnightMs = Math.ceil(service.clock.nowMs / DAY_MS) * DAY_MS
  let running: Promise<void>[] = []
  for (const step of steps) {
    if (step.do === 'change') await tenant.apply(step.change)
    else if (step.do === 'evaluate') {
      running.push(processes.evaluate(tenant.tenantId, step.process))
      if (!step.isWaitedFor) continue
      await Promise.all(running)
      running = []
    } else if (step.do === 'kill') processes.life(step.process).endAfter(step.afterCalls)
    else if (step.do === 'lose') processes.life(step.process).loseAnswerAfter(step.afterCalls)
    else if (step.do === 'expire') service.clock.nowMs += LEASE_EXPIRES_MS
    else service.clock.nowMs = Math.max(midnightMs - 1, service.clock.nowMs)
  }
  await Promise.all(running)
  service.clock.nowMs = midnightMs + DAY_MS / 2
  await processes.evaluate(tenant.tenantId, last)
  assert.deepEqual(await tenant.differences(), [])
  for (const { collectionId, memberIds } of await tenant.membersNow()) {
    const members = [...replayed(await tenant.history(collectionId)).values()].at(-1)
    assert.deepEqual([...(members ?? [])].toSorted(), memberIds.toSorted())
  }
}

describe('three evaluators of one tenant', () => {
  it('leave every collection with the members that a preview finds, in any interleaving with kills, lost responses and expired leases', async () => {
    const course = fc.record({ begin: conditions, steps: series, pausesMs, last: process })
    await fc.assert(fc.asyncProperty(course, run), { numRuns: 12 })
  })
})
