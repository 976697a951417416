import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { startCriteriaService } from '../support/api/criteria-service.ts'
import { change, conditions, randomTenant, replayed } from '../support/jobs/random-tenant.ts'

/** `HISTORY_RUNS` and `HISTORY_SEED` set the number of runs and the seed. */
const { HISTORY_RUNS = '3', HISTORY_SEED } = process.env

const HOUR_MS = 3_600_000

const service = await startCriteriaService()

const step = fc.record({ change, isCold: fc.boolean(), hours: fc.integer({ min: 1, max: 30 }) })

describe('The history of members', () => {
  it('gives the members at each version and time of any run, each change with one cause', async () => {
    const run = fc.asyncProperty(
      conditions,
      fc.array(step, { minLength: 3, maxLength: 6, size: 'max' }),
      async (begin, steps) => {
        const tenant = await randomTenant(service, begin)
        const seen: { collectionId: string; membershipVersion: number; memberIds: readonly string[]; atMs: number }[] =
          []
        for (const { change, isCold, hours } of steps) {
          service.clock.nowMs += hours * HOUR_MS
          await tenant.apply(change)
          await (isCold ? service.newProcess() : service.process).evaluator.evaluate(tenant.tenantId)
          const atMs = service.clock.nowMs
          seen.push(...(await tenant.membersNow()).map((members) => ({ ...members, atMs })))
        }
        service.clock.nowMs += HOUR_MS
        for (const { collectionId } of await tenant.membersNow()) {
          const byVersion = replayed(await tenant.history(collectionId))
          for (const { membershipVersion, memberIds, atMs } of seen.filter(
            (one) => one.collectionId === collectionId,
          )) {
            // The first evaluation makes a version, also without members.
            const members = byVersion.get(membershipVersion) ?? new Set()
            assert.deepEqual([...members].toSorted(), memberIds.toSorted())
            assert.deepEqual((await tenant.membersAsOf(collectionId, atMs)).toSorted(), memberIds.toSorted())
          }
        }
      },
    )
    await fc.assert(run, {
      numRuns: Number(HISTORY_RUNS),
      ...(HISTORY_SEED === undefined ? {} : { seed: Number(HISTORY_SEED) }),
    })
  })
})
