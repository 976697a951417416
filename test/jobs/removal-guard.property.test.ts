import { it } from 'node:test'
import { checkGuard } from '../support/jobs/guard-property.ts'

const RUNS_COUNT = 200

it('The removal guard keeps to its limit under any interleaving, and approved removals are carried out', async (test) => {
  const seed = Date.now() % 2 ** 31
  test.diagnostic(`seed ${seed}`)
  await checkGuard({ runs: RUNS_COUNT, seed })
})
