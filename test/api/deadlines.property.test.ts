import { it } from 'node:test'
import { checkDeadlines } from '../support/api/deadlines-property.ts'

/** `DEADLINES_RUNS=5000 npm test -- test/api/deadlines.property.test.ts` runs more. */
const RUNS_COUNT = Number(process.env.DEADLINES_RUNS ?? 300)

it('requests with ends, deadlines, fallbacks and deputies are as the rules say, and nobody decides for oneself', async (test) => {
  const seed = Number(process.env.DEADLINES_SEED ?? Date.now() % 2 ** 31)
  test.diagnostic(`seed ${seed}`)
  await checkDeadlines({ runs: RUNS_COUNT, seed })
})
