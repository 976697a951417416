import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DeadlinesRun } from './deadlines-run.ts'
import { openings, policies, series } from './deadlines-steps.ts'
import { faults } from './joinable-fixture.ts'
import { openMortalTenant } from './mortal-tenant.ts'

/** A tenant slows down as it gets more collections and people. */
const RUNS_PER_FIXTURE_COUNT = 10

/**
 * Compares requests of random policies, people, deputies and times with the model, also when processes are killed.
 * @throws Error with the seed.
 */
export async function checkDeadlines({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let from = 0; from < runs; from += RUNS_PER_FIXTURE_COUNT) {
    const tenant = await openMortalTenant()
    try {
      const property = fc.asyncProperty(policies, openings, series, async (policy, opening, steps) => {
        const run = await DeadlinesRun.open(tenant, policy)
        for (const step of [...opening, ...steps]) {
          count(await run.take(step))
          count(run.status)
        }
      })
      await fc.assert(property, { numRuns: Math.min(RUNS_PER_FIXTURE_COUNT, runs - from), seed: seed + from })
    } finally {
      await tenant.fixture.cosmos.close()
    }
  }
  for (const what of [
    'Joined',
    'PendingApproval',
    'Left',
    'Cancelled',
    'Rejected',
    'merge',
    'deletedHours',
    'action',
    'manager',
    'board',
  ]) {
    assert.ok((seen.get(what) ?? 0) * 50 > runs, `${what} only ${seen.get(what)} times`)
  }
  assert.deepEqual(faults, [])
}
