import { it } from 'node:test'
import { checkMerges } from './merge-property.ts'

const RUNS_COUNT = 300

it('People that merge and part end as in a fresh tenant, and keep memberships and groups, whatever dies', async (test) => {
  const seed = Date.now() % 2 ** 31
  test.diagnostic(`seed ${seed}`)
  await checkMerges({ runs: RUNS_COUNT, seed })
})
